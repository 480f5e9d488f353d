//! What nobody wants does not run; what does more than compute does.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use rectiflow_hlo::CustomCall;
use rectiflow_pjrt::ffi::{CallFrame, Result};
use rectiflow_runtime::{Array, EagerMode, FlushReason, Read, Runtime};

use crate::{counting, queue};

#[test]
fn a_dead_graph_runs_nothing() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]);
    let y = (&x + 1.0) * 2.0;
    drop(y.sum([0]));
    drop(y);
    queue.synchronize().unwrap();
    let totals = queue.flushes(FlushReason::Synchronize);
    assert_eq!((totals.flushes, totals.ops, totals.dropped), (1, 0, 5), "two are broadcasts");
    assert_eq!(queue.n_ops(), 5);
    assert_eq!(runtime.stats().requests, 0);
    let flush = queue.trace().flushes()[0].clone();
    assert!(flush.cache.is_none() && flush.lines.is_none() && flush.n_outputs == 0, "{flush:?}");
}

/// Ops that a wanted one needs run, though nobody holds their results; the others do not.
#[test]
fn what_is_needed_runs() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]);
    let y = { &(&x + &x) * &x };
    drop(&y - &x);
    assert_eq!(y.to_vec::<f32>().unwrap(), [0.0, 2.0]);
    queue.synchronize().unwrap();
    let trace = queue.trace();
    let made: Vec<_> =
        trace.flushes().iter().map(|f| (f.n_ops, f.n_outputs, f.n_dropped)).collect();
    assert_eq!(made, [(2, 1, 0), (0, 0, 1)]);
}

/// One result of several.
#[test]
fn only_held_results_are_outputs() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let (values, positions) = counting(&queue, &[4]).top_k(2);
    drop(values);
    assert_eq!(positions.to_vec::<i32>().unwrap(), [3, 2]);
    let flush = queue.trace().flushes()[0].clone();
    assert_eq!((flush.n_ops, flush.n_outputs, flush.output_bytes), (1, 1, 8));
}

static CALLS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Adds its argument to the counter that an attribute names.
fn add(call: &mut CallFrame<'_>) -> Result<()> {
    let x = call.argument(0)?.elements::<f32>()?[0];
    let counter = call.attributes.scalar::<i64>("counter")?;
    CALLS[counter as usize].fetch_add(x as usize, SeqCst);
    call.result(0)?.elements_mut::<f32>()?[0] = x;
    Ok(())
}

/// The counter, once the device has done what it was given; a wrong one after a while.
fn becomes(counter: usize, expected: usize) -> usize {
    for _ in 0..5000 {
        if CALLS[counter].load(SeqCst) == expected {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    CALLS[counter].load(SeqCst)
}

fn effect(runtime: &Runtime, x: &Array, counter: i64, has_side_effect: bool) -> Array {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        runtime.client().unwrap().plugin().register_ffi("eager.add", "Host", add).unwrap();
    });
    let value = rectiflow_hlo::Value::I64(counter);
    let config = rectiflow_hlo::Dictionary([("counter".to_owned(), value)].into());
    let call = CustomCall { config, has_side_effect, ..CustomCall::new("eager.add") };
    x.graph().custom_call(&call, &[x], &[x.shape().clone()]).swap_remove(0)
}

#[test]
fn effects_happen_though_nobody_looks() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let x = queue.scalar(2f32).unwrap() + 1.0;
    drop(effect(&runtime, &x, 0, true));
    drop(effect(&runtime, &x, 0, false));
    drop(x);
    queue.synchronize().unwrap();
    let totals = queue.flushes(FlushReason::Synchronize);
    assert_eq!((totals.ops, totals.dropped), (2, 1), "the pure call is dead");
    assert_eq!(becomes(0, 3), 3);
}

/// The last ones happen as the queue goes, with the functions that they need; dead ops never do.
#[test]
fn effects_happen_when_the_queue_is_dropped() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let x = queue.scalar(3f32).unwrap();
    let function = queue.graph().function(&[x.shape().clone()], |x| vec![&x[0] * 2.0]);
    let doubled = queue.graph().call(&function, &[&x]).swap_remove(0);
    drop(effect(&runtime, &doubled, 1, true));
    drop(effect(&runtime, &doubled, 1, false));
    drop((x, doubled));
    drop(queue);
    assert_eq!(CALLS[1].load(SeqCst), 0, "the runtime holds it too");
    drop(runtime);
    assert_eq!(becomes(1, 6), 6);
}

/// An effect in a region counts as well.
#[test]
fn effects_in_loops() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let one = queue.scalar(1f32).unwrap();
    drop(queue.graph().while_loop(
        &[&one],
        |state| state[0].lt(&state[0].scalar_like(4)),
        |state| vec![effect(&runtime, &state[0], 2, true) + 1.0],
    ));
    queue.synchronize().unwrap();
    assert_eq!(becomes(2, 6), 6, "1, 2 and 3");
}
