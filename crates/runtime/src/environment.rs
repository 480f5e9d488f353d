//! The one place where this crate reads the environment.

use std::env;
use std::fs;

use crate::device::DeviceName;
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
    /// A machine without any such folder, a container for one, keeps executables in memory, with a
    /// warning.
    ///
    /// # Errors
    /// [`Code::Options`] when `RECTIFLOW_AUTOLOAD` is something else.
    pub fn from_env(device: DeviceName) -> Result<Self> {
        let autoload = match env::var("RECTIFLOW_AUTOLOAD").as_deref() {
            Err(_) | Ok("" | "1") => true,
            Ok("0") => false,
            Ok(other) => {
                let message = format!("RECTIFLOW_AUTOLOAD is `{other}`; expected 0 or 1");
                return Err(Error::new(Code::Options, message));
            }
        };
        let cache = match xla_build::cache_root() {
            Ok(root) => CacheOptions::in_folder(root.join("executables")),
            Err(error) => {
                tracing::warn!(%error, "executables are kept in memory only");
                CacheOptions::default()
            }
        };
        Ok(RuntimeOptions { device, autoload, cache, ..RuntimeOptions::default() })
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
