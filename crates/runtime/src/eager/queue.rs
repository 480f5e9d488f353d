//! What takes the ops of eager tensors.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use rectiflow_hlo::{Graph, Tensor};
use rectiflow_pjrt::{Client, Device};
use smallvec::SmallVec;

use super::EagerOptions;
use super::constants::Constants;
use super::executor::{Executor, Manner};
use super::failures::Failures;
use super::flush::{FlushLog, FlushReason, Ticket};
use super::live::Live;
use super::mode::SharedMode;
use super::pending::{PendingOp, cut};
use super::recording::{Due, Recording};
use super::slot::Slot;
use super::worker::{Work, Worker};
use crate::error::Error;

/// The inside of a [`Queue`](super::Queue), which its tensors share.
pub(crate) struct Inner {
    pub(super) client: Client,
    pub(super) device: Device,
    pub(super) mode: SharedMode,
    pub(super) executor: Arc<Executor>,
    pub(super) log: Arc<FlushLog>,
    pub(super) constants: Constants,
    pub(super) live: Live,
    pub(super) options: EagerOptions,
    /// Ops recorded so far.
    pub(super) n_ops: AtomicU64,
    recording: Mutex<Recording>,
    worker: OnceLock<Option<Worker>>,
    pub(super) failures: Failures,
}

/// What goes into an op.
pub(super) type Inputs = SmallVec<[Arc<Slot>; 4]>;

impl Inner {
    pub(super) fn new(
        client: Client,
        device: Device,
        executor: Executor,
        options: EagerOptions,
    ) -> Inner {
        Inner {
            client,
            device,
            mode: SharedMode::new(options.mode),
            executor: Arc::new(executor),
            log: Arc::new(FlushLog::new()),
            constants: Constants::new(),
            live: Live::default(),
            options,
            n_ops: AtomicU64::new(0),
            recording: Mutex::new(Recording::new()),
            worker: OnceLock::new(),
            failures: Failures::default(),
        }
    }

    /// The queue that a tensor belongs to.
    pub(crate) fn of(tensor: &Tensor) -> Option<&Inner> {
        let dispatch: &dyn std::any::Any = &**tensor.graph().dispatch()?;
        dispatch.downcast_ref()
    }

    pub(super) fn n_ops(&self) -> u64 {
        self.n_ops.load(Relaxed)
    }

    pub(super) fn recording(&self) -> MutexGuard<'_, Recording> {
        // Nothing in here panics between two changes that belong together.
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over all pending ops to be compiled and launched.
    pub(super) fn flush(&self, graph: &Graph, reason: FlushReason) {
        let mut recording = self.recording();
        self.settle(graph, &mut recording);
        let n = recording.pending.len();
        self.hand_over(graph, &mut recording, n, reason);
    }

    /// Launches what computes `slot`, unless that is done or under way.
    pub(crate) fn realize(&self, graph: &Graph, slot: &Arc<Slot>) {
        if slot.value.get().is_some() {
            return;
        }
        if let Some(view) = slot.view() {
            self.executor.run(view.job(slot), graph, Manner::default());
            return;
        }
        let mut recording = self.recording();
        self.settle(graph, &mut recording);
        let number = slot.awaited().map(|origin| origin.op);
        let at = recording.pending.iter().position(|op| Some(op.number) == number);
        let Some(at) = at else { return };
        // What comes later is not asked for, and may be dead before anyone does.
        let ticket = Ticket { reason: FlushReason::HostRead, at: Instant::now() };
        let job = cut(recording.take(at + 1, ticket.reason));
        drop(recording);
        // The caller waits anyhow, so there is no need of another thread.
        Work { ticket, job, declared: graph.clone() }.run(&self.executor, &self.log);
    }

    /// Hands over pending ops, if a compiled program wants a result of theirs.
    pub(crate) fn flush_for_call(&self, graph: &Graph, slot: &Arc<Slot>) {
        if slot.view().is_some() {
            return self.realize(graph, slot);
        }
        let mut recording = self.recording();
        self.settle(graph, &mut recording);
        let number = slot.awaited().map(|origin| origin.op);
        if recording.pending.iter().any(|op| Some(op.number) == number) {
            let n = recording.pending.len();
            self.hand_over(graph, &mut recording, n, FlushReason::CompiledCall);
        }
    }

    /// Blocks until all programs handed over so far are launched and recorded.
    pub(super) fn wait_for_worker(&self) {
        if let Some(Some(worker)) = self.worker.get() {
            worker.wait();
        }
    }

    /// The error of this thread that no result tells.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.failures.take_own()
    }

    /// Hands over what is due.
    pub(super) fn settle(&self, graph: &Graph, recording: &mut Recording) {
        if let Some(Due { reason, lengths }) = recording.take_due() {
            lengths.into_iter().for_each(|n| self.hand_over(graph, recording, n, reason));
        }
    }

    /// Hands over the first `n` pending ops as one program.
    ///
    /// Under the lock, so that programs are launched in the order of their ops: one that waits for
    /// the results of another must come after it.
    fn hand_over(&self, graph: &Graph, recording: &mut Recording, n: usize, reason: FlushReason) {
        if n == 0 {
            return;
        }
        let ticket = Ticket { reason, at: Instant::now() };
        let job = cut(recording.take(n, reason));
        // Not the graph itself, which would keep this queue alive.
        let work = Box::new(Work { ticket, job, declared: graph.sibling() });
        let refused = match self.worker() {
            Some(worker) => worker.send(work).err(),
            None => Some(work),
        };
        if let Some(work) = refused {
            work.run(&self.executor, &self.log);
        }
    }

    fn worker(&self) -> Option<&Worker> {
        let start = || {
            let started = Worker::start(Arc::clone(&self.executor), Arc::clone(&self.log));
            let warn = |error: &std::io::Error| {
                tracing::warn!(%error, "no thread can be started: ops are compiled on the threads \
                    that record them");
            };
            started.inspect_err(warn).ok()
        };
        self.worker.get_or_init(start).as_ref()
    }
}

/// What is pending is dead now, but for ops that do more than compute.
impl Drop for Inner {
    fn drop(&mut self) {
        let Recording { pending, declared, .. } =
            std::mem::replace(&mut *self.recording(), Recording::new());
        if pending.iter().any(PendingOp::has_side_effect) {
            let ticket = Ticket { reason: FlushReason::ScopeEnd, at: Instant::now() };
            let work = Work { ticket, job: cut(pending), declared: declared.unwrap_or_default() };
            work.run(&self.executor, &self.log);
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = self.mode.get();
        f.debug_struct("Queue")
            .field("mode", &mode)
            .field("n_ops", &self.n_ops())
            .finish_non_exhaustive()
    }
}
