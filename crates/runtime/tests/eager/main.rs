//! Eager queues, on the real CPU plugin.

mod constants;
mod control;
mod dead;
mod errors;
mod failures;
mod flushing;
mod keys;
mod loops;
mod memory;
mod modes;
mod reuse;
mod runtimes;
mod scalars;
mod stages;
mod threads;
mod tracing;
mod transfers;
mod values;

use rectiflow_runtime::{
    Array, EagerMode, EagerOptions, FlushReason, Queue, Runtime, RuntimeOptions,
};

const MODES: [EagerMode; 3] =
    [EagerMode::DeferNever, EagerMode::DeferNeverAndLaunchBlocking, EagerMode::DeferAndFuse];

/// A queue of a runtime of its own, which keeps executables in memory only.
fn queue(mode: EagerMode) -> (Runtime, Queue) {
    with_options(EagerOptions { mode, ..EagerOptions::default() })
}

fn with_options(eager: EagerOptions) -> (Runtime, Queue) {
    let runtime = Runtime::new(&RuntimeOptions { eager, ..RuntimeOptions::default() }).unwrap();
    let queue = runtime.queue().unwrap().clone();
    (runtime, queue)
}

/// 0, 1, 2, .. of these dims.
fn counting(queue: &Queue, dims: &[i64]) -> Array {
    let elements: Vec<f32> = (0..dims.iter().product()).map(|i: i64| i as f32).collect();
    queue.from_slice(&elements, dims).unwrap()
}

/// How often the queue flushed so far, for each reason that it did for.
fn flushes(queue: &Queue) -> Vec<(FlushReason, u64)> {
    let all = FlushReason::ALL.iter().map(|reason| (*reason, queue.flushes(*reason).flushes));
    all.filter(|(_, flushes)| *flushes > 0).collect()
}

/// Where an op on this line is said to be.
macro_rules! here {
    () => {
        format!("{}:{}:", file!(), line!())
    };
}
use here;
