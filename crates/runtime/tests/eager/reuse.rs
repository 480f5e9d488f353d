//! Arrays are values: no update shows elsewhere, whatever memory a program takes over.

use rectiflow_runtime::{Array, EagerMode, FlushReason, Queue, Read};

use crate::{MODES, counting, queue};

#[test]
fn an_update_leaves_the_original() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let original = counting(&queue, &[4]) + 1.0;
        let slice = original.slice_dim(0, 1, 3);
        let at = queue.graph().index(1);
        let updated = original.dynamic_update_slice(&(&slice * 10.0), &[&at]);
        let later = updated.slice_dim(0, 0, 2);
        let again = updated.dynamic_update_slice(&slice, &[&queue.graph().index(0)]);
        let read = |array: &Array| array.to_vec::<f32>().unwrap();
        assert_eq!(read(&again), [2.0, 3.0, 30.0, 4.0], "{mode:?}");
        assert_eq!(read(&updated), [1.0, 20.0, 30.0, 4.0], "{mode:?}");
        assert_eq!(read(&original), [1.0, 2.0, 3.0, 4.0], "{mode:?}");
        assert_eq!(read(&slice), [2.0, 3.0], "{mode:?}");
        assert_eq!(read(&later), [1.0, 20.0], "{mode:?}");
    }
}

/// Two ops, too few to be taken for a loop.
fn step(x: &Array) -> Array {
    (x * x).tanh()
}

fn expected(x: f32) -> f32 {
    (x * x).tanh()
}

/// A step of an array that nobody holds.
fn step_alone(queue: &Queue) {
    let y = step(&counting(queue, &[4]));
    is_step_of(&y, &[0.0, 1.0, 2.0, 3.0]);
}

fn is_step_of(array: &Array, from: &[f32]) {
    for (found, x) in array.to_vec::<f32>().unwrap().into_iter().zip(from) {
        assert!((found - expected(*x)).abs() < 1e-5, "{found} for {x}");
    }
}

fn donated(queue: &Queue) -> u64 {
    queue.synchronize().unwrap();
    FlushReason::ALL.iter().map(|reason| queue.flushes(*reason).donated).sum()
}

#[test]
fn an_input_that_nobody_holds_is_taken_over() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    step_alone(&queue);
    assert_eq!(donated(&queue), 1);
    assert_eq!(runtime.stats().compiles, 1);
}

/// A program compiled to take its input over does so only where it may.
#[test]
fn an_input_that_somebody_holds_is_kept() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    step_alone(&queue);
    assert_eq!(donated(&queue), 1);
    let held = counting(&queue, &[4]);
    is_step_of(&step(&held), &[0.0, 1.0, 2.0, 3.0]);
    assert_eq!(donated(&queue), 1, "only the first");
    assert_eq!(held.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    let buffer = held.buffer().unwrap();
    assert_eq!(buffer.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    drop(buffer);
    step_alone(&queue);
    assert_eq!(donated(&queue), 2);
    assert_eq!(runtime.stats().compiles, 1, "one program for all");
}

#[test]
fn donation_adds_no_compile() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let held = counting(&queue, &[4]);
    is_step_of(&step(&held), &[0.0, 1.0, 2.0, 3.0]);
    step_alone(&queue);
    assert_eq!(runtime.stats().compiles, 1);
    assert_eq!(held.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0]);
}

/// In a loop, all but the first iterations take the state over; what was read on the way is kept.
#[test]
fn a_loop_works_in_place() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let (mut x, mut host) = (counting(&queue, &[4]), vec![0f32, 1.0, 2.0, 3.0]);
    let mut kept = Vec::new();
    for i in 0..50 {
        x = step(&x) + 0.5;
        host.iter_mut().for_each(|x| *x = expected(*x) + 0.5);
        if i % 10 == 9 {
            kept.push((x.clone(), host.clone()));
        }
    }
    let donated = donated(&queue);
    assert!((35..50).contains(&donated), "{donated}");
    assert!(runtime.stats().compiles <= 3);
    for (array, host) in kept {
        for (found, host) in array.to_vec::<f32>().unwrap().into_iter().zip(host) {
            assert!((found - host).abs() < 1e-3, "{found} {host}");
        }
    }
}
