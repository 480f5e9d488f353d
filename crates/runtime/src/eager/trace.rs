//! What a queue did, for people and for trace viewers.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::flush::{Flush, FlushReason, Totals};
use crate::cache::CacheOutcome;

/// The flushes of a [`Queue`](super::Queue): sums over all, and the last few thousand one by one.
///
/// `Display` is a summary that fits a screen.
#[derive(Debug, Clone)]
pub struct Trace {
    totals: Vec<(FlushReason, Totals)>,
    flushes: Vec<Flush>,
}

impl Trace {
    pub(super) fn new(
        flushes: Vec<Flush>,
        totals: impl Iterator<Item = (FlushReason, Totals)>,
    ) -> Trace {
        Trace { totals: totals.filter(|(_, totals)| totals.flushes > 0).collect(), flushes }
    }

    /// The last flushes, oldest first.
    pub fn flushes(&self) -> &[Flush] {
        &self.flushes
    }

    /// The flushes in the JSON that Chrome's tracing page and Perfetto read (Trace Event Format):
    /// one slice for each wait, compile and launch, in microseconds since the queue was made.
    pub fn to_chrome_json(&self) -> String {
        let events: Vec<Event<'_>> = self.flushes.iter().flat_map(slices).collect();
        let file = File { trace_events: events, display_time_unit: "ms" };
        serde_json::to_string(&file).expect("maps have string keys and numbers are finite")
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    trace_events: Vec<Event<'a>>,
    display_time_unit: &'a str,
}

/// A complete event.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    ts: f64,
    dur: f64,
    pid: u32,
    tid: &'a str,
    args: Args<'a>,
}

#[derive(Serialize)]
struct Args<'a> {
    reason: &'a str,
    ops: usize,
    dropped: usize,
    outputs: usize,
    output_bytes: u64,
    donated: usize,
    cache: &'a str,
    from: Option<String>,
    to: Option<String>,
}

/// The parts of a flush that took time, one after the other.
fn slices(flush: &Flush) -> Vec<Event<'_>> {
    let mut at = flush.at;
    let compile = match flush.cache {
        Some(CacheOutcome::Compiled) => "compile",
        Some(CacheOutcome::Disk) => "load",
        _ => "look up",
    };
    let parts =
        [("wait", flush.wait_time), (compile, flush.compile_time), ("launch", flush.launch_time)];
    let mut slices = Vec::new();
    for (name, time) in parts {
        slices.push(Event {
            name,
            cat: flush.reason.label(),
            ph: "X",
            ts: micros(at),
            dur: micros(time),
            pid: std::process::id(),
            tid: "queue",
            args: args(flush),
        });
        at += time;
    }
    slices
}

fn args(flush: &Flush) -> Args<'_> {
    let line = |at: usize| flush.lines.map(|lines| lines[at].to_string());
    Args {
        reason: flush.reason.label(),
        ops: flush.n_ops,
        dropped: flush.n_dropped,
        outputs: flush.n_outputs,
        output_bytes: flush.output_bytes,
        donated: flush.n_donated,
        cache: flush.cache.map_or("none", label),
        from: line(0),
        to: line(1),
    }
}

fn label(outcome: CacheOutcome) -> &'static str {
    match outcome {
        CacheOutcome::Memory => "memory",
        CacheOutcome::Joined => "joined",
        CacheOutcome::Disk => "disk",
        CacheOutcome::Compiled => "compiled",
    }
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<14} {:>9} {:>10} {:>9} {:>9} {:>9}",
            "flushed on", "flushes", "ops", "dropped", "compiles", "donated"
        )?;
        for (reason, totals) in &self.totals {
            let Totals { flushes, ops, dropped, compiles, donated } = totals;
            let label = reason.label();
            writeln!(
                f,
                "{label:<14} {flushes:>9} {ops:>10} {dropped:>9} {compiles:>9} {donated:>9}"
            )?;
        }
        let mut slowest: Vec<&Flush> = self.flushes.iter().collect();
        slowest.sort_by_key(|flush| std::cmp::Reverse(flush.compile_time + flush.launch_time));
        if !slowest.is_empty() {
            writeln!(f, "slowest of the last {}:", self.flushes.len())?;
        }
        for flush in slowest.into_iter().take(5) {
            let time = (flush.compile_time + flush.launch_time).as_secs_f64() * 1e3;
            let cache = flush.cache.map_or("none", label);
            write!(f, "{time:>9.3} ms  {} ops, {cache}", flush.n_ops)?;
            match flush.lines {
                Some([from, to]) => writeln!(f, ", {from} to {to}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
