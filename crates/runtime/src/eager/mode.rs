//! When recorded ops run.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::{FlushReason, Queue};

/// When the ops of a [`Queue`] run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EagerMode {
    /// Each op is launched as it is recorded, before the method returns; the device may finish it
    /// later.
    #[default]
    DeferNever,
    /// As [`EagerMode::DeferNever`], and the method returns when the device has finished.
    DeferNeverAndLaunchBlocking,
    /// Ops are collected and run as one program when something asks for a value, or when there are
    /// enough of them; see [`FlushReason`].
    DeferAndFuse,
}

impl EagerMode {
    const ALL: [EagerMode; 3] =
        [EagerMode::DeferNever, EagerMode::DeferNeverAndLaunchBlocking, EagerMode::DeferAndFuse];
}

/// A mode that threads may change and read.
#[derive(Debug)]
pub(super) struct SharedMode(AtomicU8);

impl SharedMode {
    pub(super) fn new(mode: EagerMode) -> SharedMode {
        SharedMode(AtomicU8::new(mode as u8))
    }

    pub(super) fn get(&self) -> EagerMode {
        EagerMode::ALL[usize::from(self.0.load(Relaxed))]
    }

    fn replace(&self, mode: EagerMode) -> EagerMode {
        EagerMode::ALL[usize::from(self.0.swap(mode as u8, Relaxed))]
    }
}

/// Ends a mode when dropped; see [`Queue::scope`].
#[must_use = "the mode ends when this is dropped"]
#[derive(Debug)]
pub struct ModeScope {
    queue: Queue,
    before: EagerMode,
}

impl Queue {
    /// Runs this queue's ops, of all threads, in another mode until the returned guard is dropped.
    /// What is pending then is handed over to run ([`FlushReason::ScopeEnd`]), and the mode before
    /// comes back.
    pub fn scope(&self, mode: EagerMode) -> ModeScope {
        let before = self.inner.mode.replace(mode);
        if mode != EagerMode::DeferAndFuse {
            self.flush(FlushReason::ScopeEnd);
        }
        ModeScope { queue: self.clone(), before }
    }

    /// The mode that ops are recorded in now.
    pub fn mode(&self) -> EagerMode {
        self.inner.mode.get()
    }
}

impl Drop for ModeScope {
    fn drop(&mut self) {
        self.queue.flush(FlushReason::ScopeEnd);
        self.queue.inner.mode.replace(self.before);
    }
}
