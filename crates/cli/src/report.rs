//! What a command did, for programs to read.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use rectiflow_runtime::CacheStats;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::whole_file::WholeFile;

/// The report of every command: what the cache did, how long each phase took, and the most memory
/// that the process held, and what the command adds.
#[derive(Serialize)]
pub(crate) struct Report {
    cache: CacheReport,
    phases: Vec<Phase>,
    /// `null` where the system does not tell.
    peak_host_bytes: Option<u64>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// [`CacheStats`] under names that stay as they are.
#[derive(Serialize)]
struct CacheReport {
    requests: u64,
    memory_hits: u64,
    joined: u64,
    disk_hits: u64,
    compiles: u64,
    errors: u64,
    load_failures: u64,
    store_failures: u64,
    compile_seconds: f64,
    load_seconds: f64,
}

#[derive(Serialize)]
struct Phase {
    name: &'static str,
    seconds: f64,
}

/// Measures the phases of a command as they happen.
#[derive(Default)]
pub(crate) struct Phases(Vec<Phase>);

impl Phases {
    /// Does one phase.
    pub(crate) fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        self.0.push(Phase { name, seconds: start.elapsed().as_secs_f64() });
        done
    }
}

impl Report {
    pub(crate) fn new(stats: CacheStats, phases: Phases) -> Report {
        let cache = CacheReport {
            requests: stats.requests,
            memory_hits: stats.memory_hits,
            joined: stats.joined,
            disk_hits: stats.disk_hits,
            compiles: stats.compiles,
            errors: stats.errors,
            load_failures: stats.load_failures,
            store_failures: stats.store_failures,
            compile_seconds: stats.compile_time.as_secs_f64(),
            load_seconds: stats.load_time.as_secs_f64(),
        };
        let peak_host_bytes = peak_host_bytes();
        Report { cache, phases: phases.0, peak_host_bytes, more: Map::new() }
    }

    /// Adds what only this command has to say.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Report {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn write(&self, to: &WholeFile) -> Result<()> {
        to.write(|path| {
            let mut file = fs::File::create(path)?;
            serde_json::to_writer_pretty(&mut file, self)?;
            Ok(file.write_all(b"\n")?)
        })
    }
}

/// The most memory that this process had resident, as Linux counts it.
fn peak_host_bytes() -> Option<u64> {
    let status = fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
