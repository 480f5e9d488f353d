//! Errors that no value carries yet.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::error::Error;

/// Errors of ops that are still to have a result, which then carries it.
#[derive(Default)]
pub(super) struct Failures {
    /// Spares every op the lock.
    is_any: AtomicBool,
    by_thread: Mutex<HashMap<ThreadId, Error>>,
}

impl Failures {
    /// Keeps a thread's first error.
    pub(super) fn push(&self, error: Error) {
        let mut all = self.lock();
        all.entry(thread::current().id()).or_insert(error);
        self.is_any.store(true, Relaxed);
    }

    /// The error of this thread.
    pub(super) fn take_own(&self) -> Option<Error> {
        if !self.is_any.load(Relaxed) {
            return None;
        }
        let mut all = self.lock();
        let own = all.remove(&thread::current().id());
        self.is_any.store(!all.is_empty(), Relaxed);
        own
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadId, Error>> {
        self.by_thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
