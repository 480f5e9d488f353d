//! What a cache did.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counts since the cache was made. Each request ends in one of five ways, so that
/// `requests == memory_hits + joined + disk_hits + compiles + errors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheStats {
    /// Executables asked for.
    pub requests: u64,
    /// Found in memory.
    pub memory_hits: u64,
    /// Obtained by waiting for another thread that was just getting the same one.
    pub joined: u64,
    /// Loaded from disk.
    pub disk_hits: u64,
    /// Compiled.
    pub compiles: u64,
    /// Neither found nor compiled.
    pub errors: u64,
    /// Files that were there and could not be used.
    pub load_failures: u64,
    /// Executables that could not be kept on disk.
    pub store_failures: u64,
    /// Time in the compiler, failed compiles included.
    pub compile_time: Duration,
    /// Time spent reading and loading from disk.
    pub load_time: Duration,
}

/// The same, being counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(super) requests: AtomicU64,
    pub(super) memory_hits: AtomicU64,
    pub(super) joined: AtomicU64,
    pub(super) disk_hits: AtomicU64,
    pub(super) compiles: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) load_failures: AtomicU64,
    pub(super) store_failures: AtomicU64,
    pub(super) compile_nanos: AtomicU64,
    pub(super) load_nanos: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// Runs `work`, and adds the time it took.
pub(super) fn timed<T>(nanos: &AtomicU64, work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = work();
    let time = start.elapsed();
    nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    (done, time)
}

impl Counters {
    pub(crate) fn snapshot(&self) -> CacheStats {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        CacheStats {
            requests: get(&self.requests),
            memory_hits: get(&self.memory_hits),
            joined: get(&self.joined),
            disk_hits: get(&self.disk_hits),
            compiles: get(&self.compiles),
            errors: get(&self.errors),
            load_failures: get(&self.load_failures),
            store_failures: get(&self.store_failures),
            compile_time: Duration::from_nanos(get(&self.compile_nanos)),
            load_time: Duration::from_nanos(get(&self.load_nanos)),
        }
    }
}
