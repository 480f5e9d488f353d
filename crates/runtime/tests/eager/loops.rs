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
    // The first has other operands than the second, which the third repeats: they are one program.
    assert_eq!(flushes(&queue), [(FlushReason::RepeatedOps, 998)]);
    assert_eq!(runtime.stats().compiles, 2, "three iterations, and one");
    assert_eq!(queue.flushes(FlushReason::RepeatedOps).ops, queue.n_ops());
    assert_eq!(queue.n_ops(), 6 * 1000);
}

/// Numbers that change with the step are arguments.
#[test]
fn a_schedule_compiles_nothing_anew() {
    let (runtime, queue, x) = after(|i, x| x + (x * x) * (1e-6 * i as f64) - x * 0.001);
    assert!(x.to_vec::<f32>().unwrap().iter().all(|x| x.is_finite()));
    // Cut before the last op of an iteration, so one is left.
    assert_eq!(flushes(&queue), [(FlushReason::Synchronize, 1), (FlushReason::RepeatedOps, 998)]);
    assert_eq!(runtime.stats().compiles, 3);
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
        assert_eq!(pending.flushes as usize, steps - 2, "{pending:?}");
        (runtime.stats().compiles, value)
    };
    let (few, _) = run(30);
    let (many, value) = run(200);
    assert!(value.iter().all(|x| x.is_finite()));
    assert_eq!(few, many, "programs of a loop do not depend on its length");
    assert_eq!(many, 3);
}

/// A body of more ops than are looked back at is cut by the cap alone.
#[test]
fn a_long_body_falls_to_the_cap() {
    let eager = rectiflow_runtime::EagerOptions {
        mode: EagerMode::DeferAndFuse,
        max_ops: 200,
        ..Default::default()
    };
    for (length, reason) in [(128, FlushReason::RepeatedOps), (129, FlushReason::OpCap)] {
        let (_, queue) = crate::with_options(eager.clone());
        let x = counting(&queue, &[1]);
        for _ in 0..4 {
            // Dead ops of different shapes: nothing is compiled.
            (2..2 + length).for_each(|dim| drop(x.broadcast_to([dim])));
        }
        queue.flush_all();
        queue.synchronize().unwrap();
        assert!(flushes(&queue).iter().any(|(found, _)| *found == reason), "{length}");
        let repeats = queue.flushes(FlushReason::RepeatedOps).flushes;
        assert_eq!(repeats > 0, length <= 128, "{length}");
    }
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

/// A loop whose operands come from different places is none.
#[test]
fn a_loop_reads_what_the_iteration_before_made() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let mut values = vec![counting(&queue, &[4]).tanh()];
    for i in 0..12 {
        // Of op 0, 0, 1, 3, 6, ..: ever farther back.
        let from = i * (i + 1) / 2 % (i + 1);
        let far = values[if i % 2 == 0 { 0 } else { from.min(values.len() - 1) }].clone();
        values.push(far.sine());
    }
    queue.synchronize().unwrap();
    assert_eq!(flushes(&queue), [(FlushReason::Synchronize, 1)]);
}
