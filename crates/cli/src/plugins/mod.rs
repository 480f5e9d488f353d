//! `rectiflow plugins`: which plugins there are, and what they can do.
//!
//! A file that is no plugin, or a damaged one, may end the process that loads it. So each is loaded
//! in a process of its own, which is this program again; see [`mod@probe`].

mod child;
mod known;
mod probe;
mod show;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use xla_build::manifest::Purpose;
use xla_build::{Finder, Found, Glibc, Machine, Platform};

use crate::console::Console;
pub(crate) use probe::{ProbeArguments, probe};

#[derive(clap::Args)]
pub(crate) struct PluginsArguments {
    /// More plugins to look at, by path
    paths: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Seconds after which a plugin that does not answer counts as unusable
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
}

/// What is known of one plugin.
#[derive(Serialize)]
struct Report {
    /// `cpu`, `tpu`, `cuda12`, `cuda13`, or `path` for one that was named.
    device: String,
    path: Option<PathBuf>,
    /// How it was found.
    origin: Option<String>,
    /// The package of it that installs, if there is one for this machine.
    pinned: Option<Pinned>,
    is_usable: bool,
    /// Why not, and what to do.
    reason: Option<String>,
    facts: Option<probe::Facts>,
    /// What is known to be wrong with this version.
    known_problems: Vec<&'static str>,
}

#[derive(Serialize)]
struct Pinned {
    package: &'static str,
    version: &'static str,
    licence: &'static str,
    pjrt_api: &'static str,
}

/// Finds plugins, and downloads none.
pub(crate) fn list(arguments: &PluginsArguments, console: &Console) -> Result<()> {
    let finder = Finder::from_env()?;
    let timeout = Duration::from_secs(arguments.timeout);
    let shown = |name: &str, look: &dyn Fn() -> Report| {
        console.while_shown(&format!("looking at {name}"), look)
    };
    let mut reports = Vec::new();
    for platform in Platform::ALL {
        reports.push(shown(&platform.to_string(), &|| of_platform(&finder, platform, timeout)));
    }
    for path in &arguments.paths {
        reports.push(shown(&path.display().to_string(), &|| of_path(path.clone(), timeout)));
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reports)?)?;
    } else {
        show::show(&reports, &mut out)?;
    }
    Ok(())
}

fn of_platform(finder: &Finder, platform: Platform, timeout: Duration) -> Report {
    let mut report = Report::new(platform.to_string());
    if let Ok(row) = finder.row(Purpose::Plugin(platform)) {
        report.pinned = Some(Pinned {
            package: row.package,
            version: row.version,
            licence: row.licence,
            pjrt_api: row.pjrt_api,
        });
    }
    match finder.find(platform) {
        Ok(Some(Found { path, origin, .. })) => {
            report.origin = Some(origin.to_string());
            report.probed(path, timeout)
        }
        Ok(None) => {
            report.reason = Some(match (platform, &report.pinned) {
                (_, None) => "not found, and none is pinned for this machine".to_owned(),
                (Platform::Cpu, _) => "not found; `rectiflow run` installs it".to_owned(),
                _ => format!("not found; `xla-build install {platform}` installs it"),
            });
            report
        }
        Err(error) => {
            report.reason = Some(error.to_string());
            report
        }
    }
}

fn of_path(path: PathBuf, timeout: Duration) -> Report {
    let mut report = Report::new("path".to_owned());
    report.origin = Some("path".to_owned());
    // What can be told by reading a file needs no process.
    match xla_build::check_plugin(&path, Machine::host(), Glibc::running()) {
        Ok(()) => report.probed(path, timeout),
        Err(error) => {
            report.path = Some(path);
            report.reason = Some(error.to_string());
            report
        }
    }
}

impl Report {
    fn new(device: String) -> Report {
        Report {
            device,
            path: None,
            origin: None,
            pinned: None,
            is_usable: false,
            reason: None,
            facts: None,
            known_problems: Vec::new(),
        }
    }

    fn probed(mut self, path: PathBuf, timeout: Duration) -> Report {
        match child::ask(&path, timeout) {
            Ok(facts) => {
                self.known_problems = known::problems(&facts);
                self.reason = facts.why_unusable();
                self.is_usable = self.reason.is_none();
                self.facts = Some(facts);
            }
            Err(error) => self.reason = Some(format!("{error:#}")),
        }
        self.path = Some(path);
        self
    }
}
