//! Options of a compile.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;

use crate::error::{Error, Result};
use crate::program::Program;
use crate::proto;

/// How to compile a [`Program`](crate::Program): for one device unless told
/// otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct CompileOptions {
    replicas: usize,
    partitions: usize,
    assignment: Option<Vec<Vec<i64>>>,
    shardy: bool,
    portable: bool,
    alias_passthrough: bool,
    propagate_to_parameters: Vec<bool>,
    propagate_to_outputs: Vec<bool>,
    flags: BTreeMap<String, FlagValue>,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            replicas: 1,
            partitions: 1,
            assignment: None,
            shardy: true,
            portable: false,
            alias_passthrough: false,
            propagate_to_parameters: Vec::new(),
            propagate_to_outputs: Vec::new(),
            flags: BTreeMap::new(),
        }
    }
}

impl CompileOptions {
    /// One replica, one partition, Shardy shardings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies of the program that run on different data.
    pub fn replicas(mut self, n: usize) -> Self {
        self.replicas = n;
        self
    }

    /// Devices that share one copy of the program; above 1 turns on SPMD
    /// partitioning.
    pub fn partitions(mut self, n: usize) -> Self {
        self.partitions = n;
        self
    }

    /// Device ids, one row of partitions per replica and each at most once; the
    /// platform's default order if not given.
    pub fn device_assignment(mut self, rows: Vec<Vec<i64>>) -> Self {
        self.assignment = Some(rows);
        self
    }

    /// Whether shardings are Shardy's (`sdy.sharding`, the default) or GSPMD's.
    pub fn shardy(mut self, shardy: bool) -> Self {
        self.shardy = shardy;
        self
    }

    /// Whether the executable must run on any one device of the platform.
    pub fn portable(mut self, portable: bool) -> Self {
        self.portable = portable;
        self
    }

    /// Whether a parameter that is returned unchanged is donated to that output.
    /// Donation of a parameter that is overwritten is asked for in the program,
    /// by the argument attribute `tf.aliasing_output` or `jax.buffer_donor`.
    pub fn alias_passthrough(mut self, alias: bool) -> Self {
        self.alias_passthrough = alias;
        self
    }

    /// Lets the partitioner choose shardings of parameters and of outputs that
    /// have none: one flag each, or a single flag for all. An empty list is no.
    ///
    /// Compilers end the process over any other number of flags. A compile counts
    /// the parameters and outputs of StableHLO text and of an HLO proto, and
    /// refuses it; for bytecode of MLIR the right number is the caller's to give.
    pub fn propagate_shardings(mut self, parameters: Vec<bool>, outputs: Vec<bool>) -> Self {
        self.propagate_to_parameters = parameters;
        self.propagate_to_outputs = outputs;
        self
    }

    /// Sets an XLA flag for this executable alone. A later value replaces an
    /// earlier one. A flag the plugin does not know fails the compile with a
    /// suggestion.
    pub fn flag(mut self, name: impl Into<String>, value: impl Into<FlagValue>) -> Self {
        self.flags.insert(name.into(), value.into());
        self
    }

    pub(crate) fn flag_names(&self) -> impl Iterator<Item = &str> {
        self.flags.keys().map(String::as_str)
    }

    /// The options as `CompileOptionsProto`: equal options give equal bytes.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if a count is 0, or the assignment does not have one
    /// row of `partitions` ids per replica, or has an id that is negative or occurs
    /// twice.
    pub fn to_proto(&self) -> Result<Vec<u8>> {
        let (replicas, partitions) = (self.replicas, self.partitions);
        let limit = i32::MAX as usize;
        if replicas == 0 || partitions == 0 || replicas > limit || partitions > limit {
            return Err(Error::invalid(format!(
                "{replicas} replicas of {partitions} partitions cannot be compiled for"
            )));
        }
        let build = proto::BuildOptions {
            // -1 is "not bound to a device"; proto3's default of 0 would be device 0.
            device_ordinal: -1,
            num_replicas: replicas as i64,
            num_partitions: partitions as i64,
            use_spmd_partitioning: partitions > 1,
            device_assignment: self.assignment_proto()?,
            alias_passthrough_params: self.alias_passthrough,
            propagate_to_output: self.propagate_to_outputs.clone(),
            propagate_to_parameters: self.propagate_to_parameters.clone(),
            use_shardy_partitioner: self.shardy,
        };
        let overrides = self
            .flags
            .iter()
            .map(|(name, value)| (name.clone(), proto::Override { value: Some(value.0.clone()) }));
        let options = proto::CompileOptions {
            build: Some(build),
            portable: self.portable,
            overrides: overrides.collect(),
        };
        Ok(options.encode_to_vec())
    }

    /// Refuses more devices than there are, over which plugins end the process or
    /// search for very long. One device needs no check, and asks for no ids.
    pub(crate) fn check_devices(&self, ids: impl FnOnce() -> Result<Vec<i32>>) -> Result<()> {
        let slots = self.replicas.saturating_mul(self.partitions);
        if slots == 1 && self.assignment.is_none() {
            return Ok(());
        }
        let ids: BTreeSet<i64> = match ids() {
            Ok(ids) => ids.into_iter().map(i64::from).collect(),
            Err(error) if error.is_unimplemented() => return Ok(()),
            Err(error) => return Err(error),
        };
        if slots > ids.len() {
            return Err(Error::invalid(format!(
                "{} replicas of {} partitions need {slots} devices, found {}",
                self.replicas,
                self.partitions,
                ids.len()
            )));
        }
        let assigned = self.assignment.iter().flatten().flatten();
        match assigned.copied().find(|id| !ids.contains(id)) {
            Some(id) => Err(Error::invalid(format!("there is no device {id} among {ids:?}"))),
            None => Ok(()),
        }
    }

    /// Refuses a number of flags that is neither 1 nor that of what they are for.
    pub(crate) fn check_propagation(&self, program: &Program) -> Result<()> {
        let lists = [&self.propagate_to_parameters, &self.propagate_to_outputs];
        if lists.iter().all(|list| list.len() <= 1) {
            return Ok(());
        }
        let Some(counts) = program.counts() else { return Ok(()) };
        let named = lists.into_iter().zip(counts).zip(["parameters", "outputs"]);
        for ((list, n), what) in named {
            if list.len() > 1 && list.len() != n {
                return Err(Error::invalid(format!(
                    "sharding is propagated to {what} by 1 flag or {n}, found {}",
                    list.len()
                )));
            }
        }
        Ok(())
    }

    fn assignment_proto(&self) -> Result<Option<proto::DeviceAssignment>> {
        let Some(rows) = &self.assignment else { return Ok(None) };
        let fits =
            rows.len() == self.replicas && rows.iter().all(|row| row.len() == self.partitions);
        if !fits {
            return Err(Error::invalid(format!(
                "a device assignment needs {} rows of {} ids, found rows of {:?}",
                self.replicas,
                self.partitions,
                rows.iter().map(Vec::len).collect::<Vec<_>>()
            )));
        }
        let mut seen = BTreeSet::new();
        for id in rows.iter().flatten() {
            if i32::try_from(*id).is_err() || *id < 0 {
                return Err(Error::invalid(format!(
                    "a device id is between 0 and {}, found {id}",
                    i32::MAX
                )));
            }
            if !seen.insert(*id) {
                return Err(Error::invalid(format!("the assignment has device {id} twice")));
            }
        }
        // The message stores columns: for each partition its id in every replica.
        let column = |p: usize| proto::ComputationDevice {
            replica_device_ids: rows.iter().map(|row| row[p]).collect(),
        };
        Ok(Some(proto::DeviceAssignment {
            replica_count: self.replicas as i32,
            computation_count: self.partitions as i32,
            computation_devices: (0..self.partitions).map(column).collect(),
        }))
    }
}

/// The value of an XLA flag; made from a boolean, an integer, a float or text.
#[derive(Debug, Clone, PartialEq)]
pub struct FlagValue(proto::OverrideValue);

impl From<bool> for FlagValue {
    fn from(value: bool) -> Self {
        FlagValue(proto::OverrideValue::Bool(value))
    }
}
impl From<i64> for FlagValue {
    fn from(value: i64) -> Self {
        FlagValue(proto::OverrideValue::Int(value))
    }
}
impl From<f64> for FlagValue {
    fn from(value: f64) -> Self {
        FlagValue(proto::OverrideValue::Float(value))
    }
}
impl From<&str> for FlagValue {
    fn from(value: &str) -> Self {
        FlagValue(proto::OverrideValue::String(value.to_owned()))
    }
}
impl From<String> for FlagValue {
    fn from(value: String) -> Self {
        FlagValue(proto::OverrideValue::String(value))
    }
}
