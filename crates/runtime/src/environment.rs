//! The one place where this crate reads the environment.

use std::env;
use std::fs;

use crate::device::DeviceName;
use crate::eager::{EagerMode, EagerOptions};
use crate::error::{Code, Error, Result};
use crate::options::{CacheOptions, RuntimeOptions};

impl RuntimeOptions {
    /// Options for a device, with what the environment says of the rest.
    ///
    /// | variable | what it sets |
    /// |---|---|
    /// | `RECTIFLOW_CACHE` | executables are kept in its folder `executables`, or else in the user's cache folder |
    /// | `RECTIFLOW_AUTOLOAD` | `0` turns [`RuntimeOptions::autoload`] off, `1` is the default |
    ///
    /// | `RECTIFLOW_DEFER_AND_FUSE` | `1` makes [`EagerMode::DeferAndFuse`] the mode of eager ops |
    /// | `RECTIFLOW_LAUNCH_BLOCKING` | `1` makes it [`EagerMode::DeferNeverAndLaunchBlocking`], and counts more |
    ///
    /// A machine without any such folder, a container for one, keeps executables in memory, with a
    /// warning.
    ///
    /// # Errors
    /// [`Code::Options`] when a variable of 0 and 1 is something else.
    pub fn from_env(device: DeviceName) -> Result<Self> {
        let autoload = switch("RECTIFLOW_AUTOLOAD")?.unwrap_or(true);
        let fuses = switch("RECTIFLOW_DEFER_AND_FUSE")?.unwrap_or(false);
        let blocks = switch("RECTIFLOW_LAUNCH_BLOCKING")?.unwrap_or(false);
        let mode = match (blocks, fuses) {
            (true, _) => EagerMode::DeferNeverAndLaunchBlocking,
            (false, true) => EagerMode::DeferAndFuse,
            (false, false) => EagerMode::DeferNever,
        };
        let eager = EagerOptions { mode, ..EagerOptions::default() };
        let cache = match xla_build::cache_root() {
            Ok(root) => CacheOptions::in_folder(root.join("executables")),
            Err(error) => {
                tracing::warn!(%error, "executables are kept in memory only");
                CacheOptions::default()
            }
        };
        Ok(RuntimeOptions { device, autoload, cache, eager, ..RuntimeOptions::default() })
    }
}

/// A variable that is 0 or 1; `None` if it is not set.
fn switch(name: &str) -> Result<Option<bool>> {
    match env::var(name).as_deref() {
        Err(env::VarError::NotPresent) | Ok("") => Ok(None),
        Ok("0") => Ok(Some(false)),
        Ok("1") => Ok(Some(true)),
        other => {
            let found = other.unwrap_or("not Unicode");
            let message = format!("{name} is `{found}`; expected 0 or 1");
            Err(Error::new(Code::Options, message))
        }
    }
}

/// What a platform's plugin reads from the environment behind our back, and compiles by: for the
/// cache's key.
///
/// A plugin reads them once, when it is first used; so must they be set before, and stay.
pub(crate) fn compiler_variables(platform: &str) -> Vec<(&'static str, String)> {
    let text = |name| env::var(name).unwrap_or_default();
    let mut variables = vec![("XLA_FLAGS", normal(&file_or_flags(text("XLA_FLAGS"))))];
    if platform == "tpu" {
        variables.push(("LIBTPU_INIT_ARGS", normal(&text("LIBTPU_INIT_ARGS"))));
    }
    variables
}

/// XLA takes a value that does not begin with a dash as the name of a file with flags.
fn file_or_flags(value: String) -> String {
    let value = value.trim().to_owned();
    if value.is_empty() || value.starts_with('-') {
        return value;
    }
    fs::read_to_string(&value).unwrap_or(value)
}

/// Flags in the order of their names, since that order means nothing. Of one flag given twice the
/// last counts, so those keep their order. Quoted text is left as it is.
fn normal(flags: &str) -> String {
    if flags.contains(['"', '\'', '\\']) {
        return flags.trim().to_owned();
    }
    let mut flags: Vec<&str> = flags.split_whitespace().collect();
    flags.sort_by_key(|flag| flag.split('=').next().unwrap_or_default());
    flags.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_flags_counts_only_where_one_is_given_twice() {
        assert_eq!(normal(" --xla_b=2   --xla_a=1 "), normal("--xla_a=1 --xla_b=2"));
        assert_ne!(normal("--xla_a=1 --xla_a=2"), normal("--xla_a=2 --xla_a=1"));
        assert_ne!(normal("--xla_a='1 2'"), normal("--xla_a='2 1'"));
    }

    #[test]
    fn a_file_of_flags_counts_by_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flags");
        fs::write(&path, "--xla_a=1\n").unwrap();
        assert_eq!(file_or_flags(path.display().to_string()), "--xla_a=1\n");
        assert_eq!(file_or_flags("--xla_a=1".into()), "--xla_a=1");
    }
}
