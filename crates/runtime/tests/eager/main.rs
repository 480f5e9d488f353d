//! Eager queues, on the real CPU plugin.

mod values;

use rectiflow_runtime::{EagerMode, EagerOptions, Queue, Runtime, RuntimeOptions};

/// A queue of a runtime of its own, which keeps executables in memory only.
fn queue(mode: EagerMode) -> (Runtime, Queue) {
    with_options(EagerOptions { mode, ..EagerOptions::default() })
}

fn with_options(eager: EagerOptions) -> (Runtime, Queue) {
    let runtime = Runtime::new(&RuntimeOptions { eager, ..RuntimeOptions::default() }).unwrap();
    let queue = runtime.queue().unwrap().clone();
    (runtime, queue)
}

const MODES: [EagerMode; 3] =
    [EagerMode::DeferNever, EagerMode::DeferNeverAndLaunchBlocking, EagerMode::DeferAndFuse];
