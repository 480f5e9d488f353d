//! Why pending ops run, and a record of each time they did.

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::executor::Outcome;
use crate::cache::CacheOutcome;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $Reason:ident = $label:literal,)*) => {
        /// Why pending ops were run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FlushReason { $($(#[doc = $doc])+ $Reason),* }

        impl FlushReason {
            /// Every reason, in declaration order.
            pub const ALL: &'static [FlushReason] = &[$(FlushReason::$Reason),*];

            /// A short name, such as `host read`.
            pub fn label(self) -> &'static str {
                match self { $(FlushReason::$Reason => $label),* }
            }
        }
    };
}
reasons! {
    /// A value was read by the host or waited for.
    HostRead = "host read",
    /// [`Queue::synchronize`](super::Queue::synchronize) or [`Queue::flush_all`](super::Queue::flush_all).
    Synchronize = "synchronize",
    /// A compiled program was called.
    CompiledCall = "compiled call",
    /// Devices exchange data: such an op is a program of its own.
    Collective = "collective",
    /// A [`ModeScope`](super::ModeScope) ended.
    ScopeEnd = "scope end",
    /// The last ops repeat those before them: a loop.
    RepeatedOps = "repeated ops",
    /// [`EagerOptions::max_ops`](super::EagerOptions::max_ops) were pending.
    OpCap = "op cap",
    /// The results of pending ops would take
    /// [`EagerOptions::max_bytes`](super::EagerOptions::max_bytes).
    ByteCap = "byte cap",
}

/// One program made of pending ops.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Flush {
    /// Why it ran.
    pub reason: FlushReason,
    /// Ops in the program.
    pub n_ops: usize,
    /// Ops left out, since nobody holds their results.
    pub n_dropped: usize,
    /// Results of the program.
    pub n_outputs: usize,
    /// Bytes of the results.
    pub output_bytes: u64,
    /// Arguments whose memory the program took over.
    pub n_donated: usize,
    /// Where the executable came from; `None` if nothing was left to run, or none could be had.
    pub cache: Option<CacheOutcome>,
    /// Lines of model code of the first and the last op; `None` if nothing was left to run.
    pub lines: Option<[&'static Location<'static>; 2]>,
    /// Name of the thread that compiled and launched it.
    pub thread: Arc<str>,
    /// From the queue's beginning to the flush.
    pub at: Duration,
    /// From the flush to when its program was looked for: the wait for earlier ones.
    pub wait_time: Duration,
    /// Until the executable was found or compiled.
    pub compile_time: Duration,
    /// Until it was launched.
    pub launch_time: Duration,
}

/// What is known of a flush when it is decided on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    pub(super) reason: FlushReason,
    pub(super) at: Instant,
}

/// Flushes kept one by one; older ones are counted only.
const N_KEPT: usize = 4096;

/// All flushes of a queue.
#[derive(Debug)]
pub(super) struct FlushLog {
    pub(super) start: Instant,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    totals: Vec<(FlushReason, Totals)>,
    kept: VecDeque<Flush>,
}

/// Sums over flushes of one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Flushes.
    pub flushes: u64,
    /// Ops run in them.
    pub ops: u64,
    /// Ops never run.
    pub dropped: u64,
    /// Flushes whose program had to be compiled.
    pub compiles: u64,
    /// Arguments whose memory was taken over.
    pub donated: u64,
}

impl FlushLog {
    pub(super) fn new() -> FlushLog {
        FlushLog { start: Instant::now(), log: Mutex::default() }
    }

    pub(super) fn push(&self, flush: Flush) {
        let mut log = self.lock();
        let known = log.totals.iter().position(|(reason, _)| *reason == flush.reason);
        let at = known.unwrap_or_else(|| {
            log.totals.push((flush.reason, Totals::default()));
            log.totals.len() - 1
        });
        let totals = &mut log.totals[at].1;
        totals.flushes += 1;
        totals.ops += flush.n_ops as u64;
        totals.dropped += flush.n_dropped as u64;
        totals.donated += flush.n_donated as u64;
        totals.compiles += u64::from(flush.cache == Some(CacheOutcome::Compiled));
        if log.kept.len() == N_KEPT {
            log.kept.pop_front();
        }
        log.kept.push_back(flush);
    }

    pub(super) fn kept(&self) -> Vec<Flush> {
        self.lock().kept.iter().cloned().collect()
    }

    pub(super) fn totals(&self, reason: FlushReason) -> Totals {
        let log = self.lock();
        let found = log.totals.iter().find(|(known, _)| *known == reason);
        found.map(|(_, totals)| *totals).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        // Counts and records stay usable whatever panicked.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// The record of a flush that went so.
    pub(super) fn flush(self, log: &FlushLog, ran: &Ran, outcome: Outcome) -> Flush {
        let before = outcome.compile_time + outcome.launch_time;
        Flush {
            reason: self.reason,
            n_ops: ran.n_ops,
            n_dropped: ran.n_dropped,
            n_outputs: ran.n_outputs,
            output_bytes: ran.output_bytes,
            n_donated: outcome.n_donated,
            cache: outcome.cache,
            lines: ran.lines,
            thread: thread::current().name().unwrap_or("unnamed").into(),
            at: self.at.saturating_duration_since(log.start),
            wait_time: self.at.elapsed().saturating_sub(before),
            compile_time: outcome.compile_time,
            launch_time: outcome.launch_time,
        }
    }
}

/// What a job was, once it is gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    pub(super) n_ops: usize,
    pub(super) n_dropped: usize,
    pub(super) n_outputs: usize,
    pub(super) output_bytes: u64,
    pub(super) lines: Option<[&'static Location<'static>; 2]>,
}
