//! What takes the ops of eager tensors.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use rectiflow_hlo::{self as hlo, Dispatch, Graph, Handle, Instruction, Shape, Tensor};
use rectiflow_pjrt::{Client, Device};
use smallvec::{SmallVec, smallvec};

use super::EagerOptions;
use super::constants::Constants;
use super::executor::{Executor, Manner};
use super::failures::Failures;
use super::flush::{FlushLog, FlushReason, Ticket};
use super::live::Live;
use super::mode::{EagerMode, SharedMode};
use super::pending::{PendingOp, cut};
use super::repeats::Repeats;
use super::resolve::Resolved;
use super::slot::{Slot, Source, result_of};
use super::worker::{Work, Worker};
use crate::error::{Code, Error};

/// The inside of a [`Queue`](super::Queue), which its tensors share.
pub(crate) struct Inner {
    pub(super) client: Client,
    pub(super) device: Device,
    pub(super) mode: SharedMode,
    pub(super) executor: Arc<Executor>,
    pub(super) log: Arc<FlushLog>,
    pub(super) constants: Constants,
    pub(super) live: Live,
    options: EagerOptions,
    /// Ops recorded so far.
    n_ops: AtomicU64,
    recording: Mutex<Recording>,
    worker: OnceLock<Option<Worker>>,
    failures: Failures,
}

/// What goes into an op.
pub(super) type Inputs = SmallVec<[Arc<Slot>; 4]>;
/// What comes out.
type Results = SmallVec<[Arc<Slot>; 1]>;

/// Ops that did not run yet.
struct Recording {
    pending: Vec<PendingOp>,
    bytes: u64,
    repeats: Repeats,
    /// Functions and meshes that pending ops name which run in any case.
    declared: Option<Graph>,
}

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

    fn recording(&self) -> MutexGuard<'_, Recording> {
        // Nothing in here panics between two changes that belong together.
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over all pending ops to be compiled and launched.
    pub(super) fn flush(&self, graph: &Graph, reason: FlushReason) {
        let mut recording = self.recording();
        self.hand_over(graph, &mut recording, reason);
    }

    /// Launches what computes `slot`, unless that is done or under way.
    pub(crate) fn realize(&self, graph: &Graph, slot: &Slot) {
        if slot.value.get().is_some() {
            return;
        }
        let mut recording = self.recording();
        let number = slot.awaited().map(|origin| origin.op);
        let at = recording.pending.iter().position(|op| Some(op.number) == number);
        let Some(at) = at else { return };
        // What comes later is not asked for, and may be dead before anyone does.
        let ops: Vec<PendingOp> = recording.pending.drain(..=at).collect();
        recording.bytes = recording.pending.iter().map(PendingOp::bytes).sum();
        let ticket = Ticket { reason: FlushReason::HostRead, at: Instant::now() };
        let job = cut(ops);
        drop(recording);
        // The caller waits anyhow, so there is no need of another thread.
        Work { ticket, job, declared: graph.clone() }.run(&self.executor, &self.log);
    }

    /// Hands over pending ops, if a compiled program wants a result of theirs.
    pub(crate) fn flush_for_call(&self, graph: &Graph, slot: &Slot) {
        let mut recording = self.recording();
        let number = slot.awaited().map(|origin| origin.op);
        if recording.pending.iter().any(|op| Some(op.number) == number) {
            self.hand_over(graph, &mut recording, FlushReason::CompiledCall);
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

    /// Runs an op at once.
    fn launch(&self, graph: &Graph, op: PendingOp, mode: EagerMode) -> Results {
        let is_blocking = mode == EagerMode::DeferNeverAndLaunchBlocking;
        // Recorded in another mode, and by another thread if it is still pending.
        op.inputs.iter().for_each(|slot| self.realize(graph, slot));
        let results = op.results.clone();
        self.executor.run(cut(vec![op]), graph, Manner { may_donate: false, is_blocking });
        results
    }

    fn record(
        &self,
        graph: &Graph,
        instruction: Instruction,
        inputs: Inputs,
        shapes: &[Arc<Shape>],
    ) -> Results {
        let op = |number| {
            let result = |(i, shape): (usize, &Arc<Shape>)| {
                let source = result_of(&instruction.op, number, i, instruction.location());
                Arc::new(Slot::new(Arc::clone(shape), source))
            };
            let results = shapes.iter().enumerate().map(result).collect();
            PendingOp { number, instruction, inputs, results }
        };
        let results = match self.mode.get() {
            EagerMode::DeferAndFuse => self.defer(graph, op),
            mode => self.launch(graph, op(self.n_ops.fetch_add(1, Relaxed)), mode),
        };
        self.live.extend(&results);
        results
    }

    /// Keeps an op for later, and hands over what is pending if it is time to.
    fn defer(&self, graph: &Graph, op: impl FnOnce(u64) -> PendingOp) -> Results {
        let mut recording = self.recording();
        let op = op(self.n_ops.fetch_add(1, Relaxed));
        let results = op.results.clone();
        let is_collective = op.instruction.is_collective();
        if is_collective {
            self.hand_over(graph, &mut recording, FlushReason::Collective);
        }
        if op.has_side_effect() {
            recording.declared = Some(graph.sibling());
        }
        recording.bytes = recording.bytes.saturating_add(op.bytes());
        let hash = op.repeat_hash();
        recording.pending.push(op);
        let n_pending = recording.pending.len();
        let is_repeat = recording.repeats.push(hash, n_pending);
        let reason = if is_collective {
            FlushReason::Collective
        } else if is_repeat {
            FlushReason::RepeatedOps
        } else if n_pending >= self.options.max_ops {
            FlushReason::OpCap
        } else if recording.bytes >= self.options.max_bytes {
            FlushReason::ByteCap
        } else {
            return results;
        };
        self.hand_over(graph, &mut recording, reason);
        results
    }

    /// Under the lock, so that programs are launched in the order of their ops: one that waits for
    /// the results of another must come after it.
    fn hand_over(&self, graph: &Graph, recording: &mut Recording, reason: FlushReason) {
        if recording.pending.is_empty() {
            return;
        }
        recording.bytes = 0;
        let ticket = Ticket { reason, at: Instant::now() };
        let job = cut(std::mem::take(&mut recording.pending));
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

impl Dispatch for Inner {
    fn dispatch(
        &self,
        graph: &Graph,
        mut instruction: Instruction,
        inputs: &[&Tensor],
        results: &[Arc<Shape>],
    ) -> Vec<Handle> {
        let resolved = match self.failures.take_own() {
            Some(error) => Err(error),
            None => self.resolve(&mut instruction, inputs),
        };
        let slots = match resolved {
            Ok(Resolved::Op(inputs)) => self.record(graph, instruction, inputs, results),
            Ok(Resolved::Value(slot)) => smallvec![slot],
            Err(error) => results.iter().map(|shape| failed(shape, &error)).collect(),
        };
        slots.into_iter().map(|slot| slot as Handle).collect()
    }

    fn fail(&self, error: hlo::Error) {
        self.failures.push(Error::shape(error));
    }

    fn stand_in(&self) -> Handle {
        let error = self.failures.take_own().unwrap_or_else(|| {
            Error::new(Code::Shape, "this value stands in for one that could not be computed")
        });
        failed(&Arc::new(Shape::scalar(hlo::DType::F32)), &error)
    }
}

fn failed(shape: &Arc<Shape>, error: &Error) -> Arc<Slot> {
    Arc::new(Slot::failed(Arc::clone(shape), Source::Outside, error.clone()))
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

impl Recording {
    fn new() -> Recording {
        Recording { pending: Vec::new(), bytes: 0, repeats: Repeats::new(), declared: None }
    }
}
