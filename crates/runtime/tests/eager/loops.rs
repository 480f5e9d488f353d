//! Loops of eager code are found, so that each iteration is one program, compiled once.

use rectiflow_runtime::{Array, EagerMode, FlushReason, Queue, Read, Runtime};

use crate::{counting, flushes, queue};

/// After a loop of a thousand steps.
fn after(step: impl Fn(usize, &Array) -> Array) -> (Runtime, Queue, Array) {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let mut x = counting(&queue, &[4]);
    for i in 0..1000 {
        x = step(i, &x);
    }
    queue.synchronize().unwrap();
    (runtime, queue, x)
}

#[test]
fn a_loop_compiles_its_body_once() {
    let (runtime, queue, x) = after(|_, x| (x * 0.5 - &(x * x)).tanh() + x);
    let expected =
        (0..1000).fold([0f32, 1.0, 2.0, 3.0], |x, _| x.map(|x| (x * 0.5 - x * x).tanh() + x));
    for (found, expected) in x.to_vec::<f32>().unwrap().into_iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{found} {expected}");
    }
    // Once the second repeats the first, each is a program of its own.
    assert_eq!(flushes(&queue), [(FlushReason::RepeatedOps, 1000)]);
    assert_eq!(runtime.stats().compiles, 1, "the same for each iteration");
    assert_eq!(queue.flushes(FlushReason::RepeatedOps).ops, queue.n_ops());
    assert_eq!(queue.n_ops(), 6 * 1000);
}

/// Numbers that change with the step are arguments.
#[test]
fn a_schedule_compiles_nothing_anew() {
    let (runtime, queue, x) = after(|i, x| x + (x * x) * (1e-6 * i as f64) - x * 0.001);
    assert!(x.to_vec::<f32>().unwrap().iter().all(|x| x.is_finite()));
    assert_eq!(flushes(&queue), [(FlushReason::RepeatedOps, 1000)]);
    assert_eq!(runtime.stats().compiles, 1);
}

/// Blocks in steps: cuts are found for both, and the number of programs does not grow with steps.
#[test]
fn nested_loops() {
    let run = |steps: usize| {
        let (runtime, queue) = queue(EagerMode::DeferAndFuse);
        let mut x = counting(&queue, &[4]);
        for _ in 0..steps {
            let y = (&x * &x).tanh();
            for _ in 0..4 {
                x = (&x + &y).sine() - &y;
            }
            x = (&x * &x).cosine();
        }
        let value = x.to_vec::<f32>().unwrap();
        queue.synchronize().unwrap();
        let pending = queue.flushes(FlushReason::RepeatedOps);
        assert_eq!(pending.flushes as usize, 4 * steps, "{pending:?}");
        (runtime.stats().compiles, value)
    };
    let (few, _) = run(30);
    let (many, value) = run(200);
    assert!(value.iter().all(|x| x.is_finite()));
    assert_eq!(few, many, "programs of a loop do not depend on its length");
    assert_eq!(many, 4);
}

/// A body of more ops than are looked back at is told by how it begins.
#[test]
fn a_long_body_is_told_by_its_beginning() {
    for length in [1024, 1025, 1300] {
        let (_, queue) = queue(EagerMode::DeferAndFuse);
        let x = counting(&queue, &[1]);
        for _ in 0..4 {
            // Dead ops of different shapes: nothing is compiled.
            (2..2 + length).for_each(|dim| drop(x.broadcast_to([dim])));
        }
        queue.flush_all();
        queue.synchronize().unwrap();
        let repeats = queue.flushes(FlushReason::RepeatedOps);
        let all = queue.trace().flushes().iter().map(|flush| flush.n_dropped).collect::<Vec<_>>();
        assert_eq!(all, vec![length as usize; 4], "{repeats:?}");
    }
}

/// A body that is too long, and does not begin where the queue does, is cut at the same places in
/// each iteration, once the cuts have settled.
#[test]
fn a_body_beyond_the_cap_is_cut_at_the_same_places() {
    let eager = rectiflow_runtime::EagerOptions {
        mode: EagerMode::DeferAndFuse,
        max_ops: 400,
        ..Default::default()
    };
    let (_, queue) = crate::with_options(eager);
    let x = counting(&queue, &[1]);
    (0..20).for_each(|_| drop(x.sine()));
    for _ in 0..12 {
        (2..1502).for_each(|dim| drop(x.broadcast_to([dim])));
    }
    queue.synchronize().unwrap();
    let lengths: Vec<usize> = queue.trace().flushes().iter().map(|f| f.n_dropped).collect();
    assert!(queue.flushes(FlushReason::OpCap).flushes > 12, "{lengths:?}");
    // The last iterations, whatever the first ones were cut into.
    let (mut ends, mut end) = (Vec::new(), 0);
    for length in &lengths {
        end += length;
        ends.push((end + 1500 - 20) % 1500);
    }
    let settled = &ends[ends.len() / 2..ends.len() - 1];
    let mut places = settled.to_vec();
    places.sort_unstable();
    places.dedup();
    assert!(places.len() <= 6, "{ends:?}");
}

#[test]
fn ops_without_a_period_are_not_cut() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[1]);
    (2..3000).for_each(|dim| drop(x.broadcast_to([dim])));
    assert_eq!(flushes(&queue), []);
    queue.synchronize().unwrap();
    assert_eq!(queue.flushes(FlushReason::Synchronize).dropped, 2998);
    assert_eq!(runtime.stats().requests, 0);
}

/// Three equal ops twice are the shortest loop; pairs are ordinary code.
#[test]
fn pairs_are_not_cut() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[4]);
    for _ in 0..2 {
        drop((x.sine(), x.cosine()));
    }
    drop(x.sum([0]));
    queue.synchronize().unwrap();
    assert_eq!(flushes(&queue), [(FlushReason::Synchronize, 1)]);
}

/// Ops tell a loop, whatever they read: a weight comes from ever farther back.
#[test]
fn what_ops_read_does_not_count() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let mut values = vec![counting(&queue, &[4]).tanh()];
    for i in 0..12 {
        // Of op 0, 0, 1, 3, 6, ..: ever farther back.
        let from = i * (i + 1) / 2 % (i + 1);
        let far = values[if i % 2 == 0 { 0 } else { from.min(values.len() - 1) }].clone();
        values.push(far.sine());
    }
    queue.synchronize().unwrap();
    assert_eq!(flushes(&queue), [(FlushReason::RepeatedOps, 4)]);
}
