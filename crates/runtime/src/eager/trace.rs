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
    n_ops: u64,
    totals: Vec<(FlushReason, Totals)>,
    flushes: Vec<Flush>,
}

impl Trace {
    pub(super) fn new(
        n_ops: u64,
        flushes: Vec<Flush>,
        totals: impl Iterator<Item = (FlushReason, Totals)>,
    ) -> Trace {
        let totals = totals.filter(|(_, totals)| totals.flushes > 0).collect();
        Trace { n_ops, totals, flushes }
    }

    /// The last flushes, oldest first.
    pub fn flushes(&self) -> &[Flush] {
        &self.flushes
    }

    /// The flushes in the JSON that Chrome's tracing page and Perfetto read (Trace Event Format): a
    /// mark for each on the track `recorded`, and slices for looking up or compiling and for
    /// launching it on the track of the thread that did; in microseconds since the queue was made.
    pub fn to_chrome_json(&self) -> String {
        let mut tracks = vec!["recorded"];
        let mut trace_events = Vec::new();
        for flush in &self.flushes {
            let known = tracks.iter().position(|name| *name == &*flush.thread);
            let track = known.unwrap_or_else(|| {
                tracks.push(&flush.thread);
                tracks.len() - 1
            });
            trace_events.extend(events(flush, track));
        }
        trace_events.extend(tracks.iter().enumerate().map(|(track, name)| Event {
            args: Args::Track { name },
            ..Event::new("thread_name", "M", track)
        }));
        let file = File { trace_events, display_time_unit: "ms" };
        serde_json::to_string(&file).expect("maps have string keys and numbers are finite")
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    trace_events: Vec<Event<'a>>,
    display_time_unit: &'a str,
}

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    /// Kind: `X` is a slice, `i` a mark, `M` a name.
    ph: &'a str,
    pid: u32,
    tid: usize,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    args: Args<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Args<'a> {
    Track { name: &'a str },
    Flush(FlushArgs<'a>),
}

#[derive(Serialize)]
struct FlushArgs<'a> {
    reason: &'a str,
    ops: usize,
    dropped: usize,
    outputs: usize,
    output_bytes: u64,
    donated: usize,
    cache: &'a str,
    wait_us: f64,
    from: Option<String>,
    to: Option<String>,
}

impl<'a> Event<'a> {
    fn new(name: &'a str, ph: &'a str, track: usize) -> Event<'a> {
        let args = Args::Track { name };
        Event { name, ph, pid: std::process::id(), tid: track, ts: 0.0, dur: None, cat: None, args }
    }
}

/// The mark of a flush, and what it took.
fn events(flush: &Flush, track: usize) -> [Event<'_>; 3] {
    let find = match flush.cache {
        Some(CacheOutcome::Compiled) => "compile",
        Some(CacheOutcome::Disk) => "load",
        _ => "look up",
    };
    let event = |name, ph, track, at, dur| Event {
        ts: micros(at),
        dur,
        cat: Some(flush.reason.label()),
        args: Args::Flush(args(flush)),
        ..Event::new(name, ph, track)
    };
    let found = flush.at + flush.wait_time;
    [
        event(flush.reason.label(), "i", 0, flush.at, None),
        event(find, "X", track, found, Some(micros(flush.compile_time))),
        event("launch", "X", track, found + flush.compile_time, Some(micros(flush.launch_time))),
    ]
}

fn args(flush: &Flush) -> FlushArgs<'_> {
    let line = |at: usize| flush.lines.map(|lines| lines[at].to_string());
    FlushArgs {
        reason: flush.reason.label(),
        ops: flush.n_ops,
        dropped: flush.n_dropped,
        outputs: flush.n_outputs,
        output_bytes: flush.output_bytes,
        donated: flush.n_donated,
        cache: flush.cache.map_or("none", label),
        wait_us: micros(flush.wait_time),
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
        write!(f, "{} ops recorded", self.n_ops)?;
        if self.totals.is_empty() {
            return writeln!(f, ", none fused");
        }
        writeln!(f)?;
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
