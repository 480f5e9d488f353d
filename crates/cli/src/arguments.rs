//! The command line, as clap reads it.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rectiflow_runtime::{CompileOptions, DeviceName, FlagValue, Profile};
use xla_build::manifest::Purpose;
use xla_build::{Finder, Platform, Settings};

use crate::cache::CacheCommand;
use crate::plugins::{PluginsArguments, ProbeArguments};
use crate::run::RunArguments;

/// Compiles and runs programs for diffusion graphs on XLA, through PJRT
#[derive(Parser)]
#[command(name = "rectiflow", version = VERSION.as_str())]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args)]
pub(crate) struct Verbosity {
    /// Print nothing but errors and what was asked for by name
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Log more; twice for everything. RUST_LOG, if set, decides instead
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a program on one device
    Run(RunArguments),
    /// List, clean and explain the cache of executables
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Say which plugins there are, whether they work, and what they can do
    Plugins(PluginsArguments),
    #[command(hide = true)]
    ProbePlugin(ProbeArguments),
}

/// How a program is compiled: the same for all commands, so that `cache why` speaks of what `run`
/// does.
#[derive(Args)]
pub(crate) struct CompileArguments {
    /// cpu, tpu, cuda, or the path of a PJRT plugin
    #[arg(long, default_value = "cpu")]
    pub(crate) device: DeviceName,
    /// Whether the compiler or the executable is to be quick
    #[arg(long, value_enum, default_value_t = ProfileName::Serve)]
    profile: ProfileName,
    /// A flag of XLA for this program; repeatable. Quote text that looks like a number: name='"1"'
    #[arg(long = "xla-flag", value_name = "NAME=VALUE", value_parser = flag)]
    xla_flags: Vec<(String, FlagValue)>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProfileName {
    /// For programs that run a few times
    FastCompile,
    /// For programs that run often
    Serve,
}

impl CompileArguments {
    pub(crate) fn options(&self) -> CompileOptions {
        let profile = match self.profile {
            ProfileName::FastCompile => Profile::FastCompile,
            ProfileName::Serve => Profile::Serve,
        };
        let flags = self.xla_flags.iter().cloned();
        flags.fold(CompileOptions::profile(profile), |options, (name, value)| {
            options.flag(name, value)
        })
    }
}

/// XLA is told the type of each value, so it is guessed from how the value is written.
fn flag(text: &str) -> Result<(String, FlagValue), String> {
    let (name, value) = text.split_once('=').unwrap_or_default();
    let name = name.trim_start_matches('-');
    if name.is_empty() {
        return Err(format!("expected name=value, such as xla_cpu_enable_fast_math=true: {text}"));
    }
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let value = match (quoted, value.parse::<bool>(), value.parse::<i64>(), value.parse::<f64>()) {
        (Some(text), ..) => FlagValue::from(text),
        (_, Ok(value), ..) => value.into(),
        (_, _, Ok(value), _) => value.into(),
        (_, _, _, Ok(value)) => value.into(),
        _ => value.into(),
    };
    Ok((name.to_owned(), value))
}

/// A file that a report is written to.
#[derive(Args)]
pub(crate) struct ReportArguments {
    /// Write what was done, how long it took and what the cache did, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let (major, minor) = rectiflow_pjrt::API_VERSION;
    let finder = Finder::new(Settings::isolated(""));
    let plugin = match finder.row(Purpose::Plugin(Platform::Cpu)) {
        Ok(row) => format!("{} {} (PJRT API {})", row.package, row.version, row.pjrt_api),
        Err(_) => "none pinned for this machine".to_owned(),
    };
    format!(
        "{}\nPJRT API of the bindings: {major}.{minor}\nCPU plugin: {plugin}",
        env!("CARGO_PKG_VERSION")
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    #[test]
    fn types_of_flags_are_told_from_their_values() {
        let value = |text: &str| flag(text).unwrap().1;
        assert_eq!(value("a=true"), FlagValue::Bool(true));
        assert_eq!(value("a=-3"), FlagValue::Int(-3));
        assert_eq!(value("a=3.0"), FlagValue::Float(3.0));
        assert_eq!(value("a=EFFORT_O1"), FlagValue::Text("EFFORT_O1".into()));
        assert_eq!(value("a=\"1\""), FlagValue::Text("1".into()));
        assert_eq!(value("a=b=c"), FlagValue::Text("b=c".into()));
        assert_eq!(flag("--xla_a=1").unwrap().0, "xla_a");
        assert!(flag("xla_a").is_err() && flag("=1").is_err());
    }
}
