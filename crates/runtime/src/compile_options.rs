//! How one program is to be compiled.

use std::collections::BTreeMap;
use std::fmt;

use rectiflow_pjrt as pjrt;

use crate::profile::Profile;

/// Options of one executable; all of them are in the cache's key.
///
/// The default compiles for one device, to run fast.
#[derive(Debug, Clone, PartialEq)]
pub struct CompileOptions {
    /// What to spend the compiler's time on.
    pub profile: Profile,
    /// XLA flags for this executable alone. They come after those of the profile, and replace them.
    pub flags: BTreeMap<String, FlagValue>,
    /// Copies of the program that run on different data.
    pub replicas: usize,
    /// Devices that share one copy of the program.
    pub partitions: usize,
    /// Device ids, one row of partitions per replica; the platform's default order if `None`.
    pub device_assignment: Option<Vec<Vec<i64>>>,
    /// Whether shardings are Shardy's or GSPMD's.
    pub shardy: bool,
    /// Whether the executable must run on any one device of the platform.
    pub portable: bool,
    /// Whether a parameter that is returned unchanged is donated to that output.
    pub alias_passthrough: bool,
    /// Which parameters the partitioner may choose shardings of; one flag for each, or one for all.
    pub propagate_to_parameters: Vec<bool>,
    /// As [`CompileOptions::propagate_to_parameters`], for outputs.
    pub propagate_to_outputs: Vec<bool>,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            profile: Profile::default(),
            flags: BTreeMap::new(),
            replicas: 1,
            partitions: 1,
            device_assignment: None,
            shardy: true,
            portable: false,
            alias_passthrough: false,
            propagate_to_parameters: Vec::new(),
            propagate_to_outputs: Vec::new(),
        }
    }
}

impl CompileOptions {
    /// The defaults with another profile.
    pub fn profile(profile: Profile) -> Self {
        CompileOptions { profile, ..CompileOptions::default() }
    }

    /// Sets a flag, such as `xla_cpu_enable_fast_math`, without the dashes of `XLA_FLAGS`.
    #[must_use]
    pub fn flag(mut self, name: impl Into<String>, value: impl Into<FlagValue>) -> Self {
        self.flags.insert(name.into(), value.into());
        self
    }

    /// The flags that a platform's compiler gets: the profile's, and then these.
    pub fn flags_for(&self, platform: &str) -> BTreeMap<String, FlagValue> {
        let mut flags: BTreeMap<String, FlagValue> = self
            .profile
            .flags(platform)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        flags.extend(self.flags.clone());
        flags
    }

    /// The same for `rectiflow_pjrt`, with the flags of a platform: for compiling past the cache, as
    /// for a topology without devices.
    pub fn to_pjrt(&self, platform: &str) -> pjrt::CompileOptions {
        let mut options = pjrt::CompileOptions::new()
            .replicas(self.replicas)
            .partitions(self.partitions)
            .shardy(self.shardy)
            .portable(self.portable)
            .alias_passthrough(self.alias_passthrough)
            .propagate_shardings(
                self.propagate_to_parameters.clone(),
                self.propagate_to_outputs.clone(),
            );
        if let Some(rows) = &self.device_assignment {
            options = options.device_assignment(rows.clone());
        }
        let flags = self.flags_for(platform);
        flags.into_iter().fold(options, |options, (name, value)| options.flag(name, value))
    }

    /// Everything that the compiler is told, by name: the cache's key lists it.
    pub(crate) fn parts(&self, platform: &str) -> Vec<(String, String)> {
        // Taken apart in full, so that a new field cannot be left out.
        let CompileOptions {
            profile: _,
            flags: _,
            replicas,
            partitions,
            device_assignment,
            shardy,
            portable,
            alias_passthrough,
            propagate_to_parameters,
            propagate_to_outputs,
        } = self;
        let assignment = device_assignment.as_ref();
        let mut parts: Vec<(String, String)> = [
            ("replicas", replicas.to_string()),
            ("partitions", partitions.to_string()),
            ("device assignment", assignment.map_or("default".into(), |rows| format!("{rows:?}"))),
            ("Shardy", shardy.to_string()),
            ("portable", portable.to_string()),
            ("alias passthrough", alias_passthrough.to_string()),
            ("sharding of parameters is free", format!("{propagate_to_parameters:?}")),
            ("sharding of outputs is free", format!("{propagate_to_outputs:?}")),
        ]
        .map(|(label, value)| (label.to_owned(), value))
        .into();
        // The profile counts by its flags, which are all that the compiler sees of it.
        let flags = self.flags_for(platform);
        parts.extend(flags.iter().map(|(name, value)| (format!("flag {name}"), value.to_string())));
        parts
    }
}

/// The value of an XLA flag; made from a boolean, an integer, a float or text.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum FlagValue {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// As in a program's source: text has quotation marks, and a float a point.
impl fmt::Display for FlagValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlagValue::Bool(value) => value.fmt(f),
            FlagValue::Int(value) => value.fmt(f),
            FlagValue::Float(value) => write!(f, "{value:?}"),
            FlagValue::Text(value) => write!(f, "{value:?}"),
        }
    }
}

impl From<bool> for FlagValue {
    fn from(value: bool) -> Self {
        FlagValue::Bool(value)
    }
}
impl From<i64> for FlagValue {
    fn from(value: i64) -> Self {
        FlagValue::Int(value)
    }
}
impl From<f64> for FlagValue {
    fn from(value: f64) -> Self {
        FlagValue::Float(value)
    }
}
impl From<&str> for FlagValue {
    fn from(value: &str) -> Self {
        FlagValue::Text(value.to_owned())
    }
}
impl From<FlagValue> for pjrt::FlagValue {
    fn from(value: FlagValue) -> Self {
        match value {
            FlagValue::Bool(value) => value.into(),
            FlagValue::Int(value) => value.into(),
            FlagValue::Float(value) => value.into(),
            FlagValue::Text(value) => value.into(),
        }
    }
}
