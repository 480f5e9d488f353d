//! Ops that run as they are recorded, or soon after.
//!
//! A [`Queue`] is a graph whose ops are handed over: each is a program of its own in
//! [`EagerMode::DeferNever`], many are one in [`EagerMode::DeferAndFuse`]. Either way they go the
//! way of every program, from a graph through its key and the cache to an executable.

mod constants;
mod dispatch;
mod executor;
mod failures;
mod flush;
mod launch;
mod live;
mod mode;
mod pending;
mod queue;
mod read;
mod recording;
mod repeats;
mod resolve;
mod slot;
mod structure;
mod trace;
mod upload;
mod view;
mod worker;

use std::sync::Arc;

use rectiflow_hlo::{Graph, Tensor};
use rectiflow_pjrt::{Client, LoadedExecutable};

pub use flush::{Flush, FlushReason, Totals};
pub use mode::{EagerMode, ModeScope};
pub use read::{Read, Reading};
pub use trace::Trace;

use crate::cache::Cache;
use crate::compile_options::CompileOptions;
use crate::error::{Code, Error, Result};
use executor::Executor;
pub(crate) use queue::Inner;
pub(crate) use slot::Slot;

/// A value of a [`Queue`], recorded or computed.
///
/// It is a tensor of an eager graph, so it has all ops as methods, and functions written against
/// `rectiflow-hlo` take it as they are. [`Read`] brings it to the host. `Send + Sync`, and cheap to
/// clone.
pub type Array = Tensor;

/// How a [`Queue`] runs ops.
#[derive(Debug, Clone, PartialEq)]
pub struct EagerOptions {
    /// When ops run, until [`Queue::scope`] says otherwise.
    pub mode: EagerMode,
    /// Number of the device among those this process can use.
    pub device: usize,
    /// Ops that may be pending in [`EagerMode::DeferAndFuse`].
    pub max_ops: usize,
    /// Bytes that the results of pending ops may take, if all were kept.
    pub max_bytes: u64,
    /// How the queue's programs are compiled. Its device assignment is the queue's to choose.
    pub compile: CompileOptions,
}

impl Default for EagerOptions {
    fn default() -> Self {
        EagerOptions {
            mode: EagerMode::default(),
            device: 0,
            max_ops: 4096,
            max_bytes: 8 << 30,
            compile: CompileOptions::default(),
        }
    }
}

/// Where eager ops go: to one device, in the order recorded. Cheap to clone; several live side by
/// side.
///
/// Threads may record into one queue. Ops of different queues do not mix; [`Queue::adopt`] takes
/// an array over from another.
#[derive(Clone)]
pub struct Queue {
    graph: Graph,
    inner: Arc<Inner>,
}

impl Queue {
    pub(crate) fn new(
        client: &Client,
        cache: &Arc<Cache>,
        options: &EagerOptions,
    ) -> Result<Queue> {
        let failed =
            |error| Error::pjrt(Code::Plugin, "the plugin does not describe its devices", error);
        let devices = client.addressable_devices().map_err(failed)?;
        let Some(device) = devices.get(options.device) else {
            let message = format!(
                "no device number {}: this process can use {}, numbered from 0",
                options.device,
                devices.len()
            );
            return Err(Error::new(Code::Options, message));
        };
        let mut compile = options.compile.clone();
        if devices.len() > 1 {
            let id = device.id().map_err(failed)?;
            compile.device_assignment = Some(vec![vec![i64::from(id)]]);
        }
        let executor = Executor::new(Arc::clone(cache), compile);
        let inner = Inner::new(client.clone(), device.clone(), executor, options.clone());
        let inner = Arc::new(inner);
        Ok(Queue { graph: Graph::eager(Arc::clone(&inner) as Arc<_>), inner })
    }

    /// The graph that this queue's arrays are values of, where ops without operands are recorded.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Hands all pending ops over to be compiled and launched. Does not wait for either.
    pub fn flush_all(&self) {
        self.flush(FlushReason::Synchronize);
    }

    /// Runs all pending ops, and waits until the device has computed every array that is still
    /// held.
    ///
    /// # Errors
    /// The first error among them. Reading the array it belongs to gives it again.
    pub fn synchronize(&self) -> Result<()> {
        self.flush(FlushReason::Synchronize);
        self.inner.wait_for_worker();
        let mut first = self.inner.take_failure();
        for slot in self.inner.live.all() {
            if !slot.is_under_way() {
                continue;
            }
            let outcome = slot.wait().and_then(|buffer| {
                let done = buffer.ready().and_then(|event| event.wait());
                done.map_err(|error| slot.explain(error))
            });
            first = first.or(outcome.err());
        }
        first.map_or(Ok(()), Err)
    }

    /// Sums over all flushes for one reason. Those of [`Queue::flush_all`] and of caps count when
    /// their program is launched; [`Queue::synchronize`] waits for it.
    pub fn flushes(&self, reason: FlushReason) -> Totals {
        self.inner.log.totals(reason)
    }

    /// Ops recorded so far, constants and the like not counted.
    pub fn n_ops(&self) -> u64 {
        self.inner.n_ops()
    }

    /// What this queue did so far.
    pub fn trace(&self) -> Trace {
        let totals = FlushReason::ALL.iter().map(|reason| (*reason, self.flushes(*reason)));
        Trace::new(self.n_ops(), self.inner.log.kept(), totals)
    }

    /// Whether an executable runs on this queue's device, and on it alone.
    pub(crate) fn runs(&self, executable: &LoadedExecutable) -> bool {
        let devices = executable.devices();
        devices.len() == 1 && devices[0] == self.inner.device
    }

    fn flush(&self, reason: FlushReason) {
        self.inner.flush(&self.graph, reason);
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}
