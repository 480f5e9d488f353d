//! Why pending ops run: each reason when it is stated, and at no other time.

use rectiflow_hlo::{DType, ReplicaGroups, Shape};
use rectiflow_runtime::{
    Array, CacheOutcome, CompileOptions, EagerMode, EagerOptions, FlushReason, Queue, Read,
    Runtime, Traced,
};

use crate::{MODES, counting, flushes, queue, with_options};

/// Ops that are no loop: of different shapes.
fn different(queue: &Queue, n: i64) -> Vec<Array> {
    let x = counting(queue, &[1]);
    (1..=n).map(|dim| x.broadcast_to([dim])).collect()
}

fn double(runtime: &Runtime) -> rectiflow_runtime::Compiled {
    let shapes = [Shape::new(DType::F32, [2])];
    let traced = Traced::new("double", &shapes, |x| vec![&x[0] + &x[0]]).unwrap();
    traced.lower().compile(runtime, &CompileOptions::default()).unwrap()
}

/// What is done with a pending array of two elements, and why it is then flushed.
type Case = (&'static str, fn(&Runtime, &Queue, &Array), Option<FlushReason>);

const CASES: &[Case] = &[
    ("nothing", |_, _, _| (), None),
    ("its shape", |_, _, x| drop(format!("{x:?} {:?}", x.shape())), None),
    ("whether it is realized", |_, _, x| drop(x.is_realized().to_string()), None),
    ("debug of the queue", |_, q, _| drop(format!("{q:?} {}", q.trace())), None),
    ("another array", |_, q, _| drop(counting(q, &[2]).to_vec::<f32>().unwrap()), None),
    ("to_vec", |_, _, x| drop(x.to_vec::<f32>().unwrap()), Some(FlushReason::HostRead)),
    ("to_bytes", |_, _, x| drop(x.to_bytes().unwrap()), Some(FlushReason::HostRead)),
    ("to_ndarray", |_, _, x| drop(x.to_ndarray::<f32>().unwrap()), Some(FlushReason::HostRead)),
    ("item", |_, _, x| drop(x.item::<f32>()), Some(FlushReason::HostRead)),
    ("read", |_, _, x| drop(x.read().unwrap().wait()), Some(FlushReason::HostRead)),
    ("wait", |_, _, x| x.wait().unwrap(), Some(FlushReason::HostRead)),
    ("realize", |_, _, x| x.realize().unwrap(), Some(FlushReason::HostRead)),
    ("buffer", |_, _, x| drop(x.buffer().unwrap()), Some(FlushReason::HostRead)),
    ("synchronize", |_, q, _| q.synchronize().unwrap(), Some(FlushReason::Synchronize)),
    ("flush_all", |_, q, _| q.flush_all(), Some(FlushReason::Synchronize)),
    ("compiled", |r, q, x| drop(double(r).call(q, &[x]).unwrap()), Some(FlushReason::CompiledCall)),
    (
        "compiled, of another array",
        |r, q, _| drop(double(r).call(q, &[&counting(q, &[2])]).unwrap()),
        None,
    ),
    ("scope", |_, q, _| drop(q.scope(EagerMode::DeferAndFuse)), Some(FlushReason::ScopeEnd)),
];

#[test]
fn reasons() {
    for (name, act, reason) in CASES {
        let (runtime, queue) = queue(EagerMode::DeferAndFuse);
        let x = counting(&queue, &[2]) + 1.0;
        act(&runtime, &queue, &x);
        queue.synchronize().unwrap();
        let expected = [(reason.unwrap_or(FlushReason::Synchronize), 1)];
        assert_eq!(flushes(&queue), expected, "{name}");
        assert_eq!(queue.trace().flushes().len(), 1, "{name}");
        // Nothing is left to flush for the second time.
        act(&runtime, &queue, &x);
        queue.synchronize().unwrap();
        assert_eq!(flushes(&queue), expected, "{name}");
        assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0], "{name}");
    }
}

#[test]
fn nothing_deferred_nothing_flushed() {
    for mode in &MODES[..2] {
        let (runtime, queue) = queue(*mode);
        for (_, act, _) in CASES.iter().filter(|(name, ..)| *name != "scope") {
            act(&runtime, &queue, &(counting(&queue, &[2]) + 1.0));
        }
        assert_eq!(flushes(&queue), [], "{mode:?}");
        assert!(queue.trace().flushes().is_empty());
    }
}

#[test]
fn a_collective_is_a_program_of_its_own() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]) + 1.0;
    let reduced = x.all_reduce(ReplicaGroups::from(vec![vec![0]]), None, |a, b| a + b);
    let y = &reduced * 2.0;
    assert!(!y.is_realized());
    queue.synchronize().unwrap();
    let trace = queue.trace();
    let made: Vec<_> = trace.flushes().iter().map(|flush| (flush.reason, flush.n_ops)).collect();
    let expected =
        [(FlushReason::Collective, 2), (FlushReason::Collective, 1), (FlushReason::Synchronize, 2)];
    assert_eq!(made, expected, "the sum and the broadcast of 1, the collective, and the rest");
    assert_eq!(y.to_vec::<f32>().unwrap(), [2.0, 4.0]);
}

/// A read takes what was recorded up to its op; later ops stay pending, and are right afterwards.
#[test]
fn a_read_leaves_later_ops() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let ones = counting(&queue, &[2]) + 1.0;
    let (before, read) = (&ones * &ones, &ones + &ones);
    let (after, unrelated) = (&read * &read, &ones - &read);
    assert_eq!(read.to_vec::<f32>().unwrap(), [2.0, 4.0]);
    let realized = [&ones, &before, &read, &after, &unrelated].map(Read::is_realized);
    assert_eq!(realized, [true, true, true, false, false]);
    let flush = queue.trace().flushes()[0].clone();
    assert_eq!((flush.n_ops, flush.n_outputs, flush.n_dropped), (4, 3, 0), "{flush:?}");
    assert_eq!(after.to_vec::<f32>().unwrap(), [4.0, 16.0]);
    assert_eq!(unrelated.to_vec::<f32>().unwrap(), [-1.0, -2.0]);
    assert_eq!(flushes(&queue), [(FlushReason::HostRead, 3)]);
}

#[test]
fn a_cap_on_ops() {
    let eager =
        EagerOptions { mode: EagerMode::DeferAndFuse, max_ops: 5, ..EagerOptions::default() };
    let (_, queue) = with_options(eager);
    let arrays = different(&queue, 14);
    queue.synchronize().unwrap();
    // The first broadcast changes nothing and is no op.
    assert_eq!(flushes(&queue), [(FlushReason::Synchronize, 1), (FlushReason::OpCap, 2)]);
    let sizes: Vec<usize> = queue.trace().flushes().iter().map(|flush| flush.n_ops).collect();
    assert_eq!(sizes, [5, 5, 3]);
    assert!(arrays.iter().all(|array| array.to_vec::<f32>().unwrap().iter().all(|x| *x == 0.0)));
}

/// Bytes count as if all results were kept; what a read took no longer counts.
#[test]
fn a_cap_on_bytes() {
    let eager =
        EagerOptions { mode: EagerMode::DeferAndFuse, max_bytes: 4 * 9, ..EagerOptions::default() };
    let (_, queue) = with_options(eager);
    let x = counting(&queue, &[1]);
    let [two, three] = [2, 3].map(|dim| x.broadcast_to([dim]));
    two.wait().unwrap();
    let four = x.broadcast_to([4]);
    assert_eq!(flushes(&queue), [(FlushReason::HostRead, 1)], "3 and 4 are 7");
    let again = x.broadcast_to([2]);
    queue.synchronize().unwrap();
    assert_eq!(flushes(&queue), [(FlushReason::HostRead, 1), (FlushReason::ByteCap, 1)]);
    let flush = queue.trace().flushes()[1].clone();
    assert_eq!((flush.n_ops, flush.output_bytes), (3, 36));
    drop((two, three, four, again));
}

/// What a flush is recorded with.
#[test]
fn records() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    // The second time it is a loop.
    let made = [
        (FlushReason::HostRead, Some(CacheOutcome::Compiled)),
        (FlushReason::RepeatedOps, Some(CacheOutcome::Memory)),
    ];
    for (i, (reason, cache)) in made.into_iter().enumerate() {
        let x = counting(&queue, &[2]);
        let first = line!() + 1;
        let sum = &x + &x;
        drop(&x * &x);
        let kept = sum.sum([0]);
        let last = line!() - 1;
        kept.wait().unwrap();
        queue.synchronize().unwrap();
        let flush = queue.trace().flushes()[i].clone();
        assert_eq!((flush.reason, flush.cache), (reason, cache));
        assert_eq!((flush.n_ops, flush.n_dropped, flush.n_outputs), (2, 1, 2));
        assert_eq!(flush.output_bytes, 12);
        assert_eq!(flush.lines.unwrap().map(|line| line.line()), [first, last]);
        assert_eq!(flush.lines.unwrap().map(|line| line.file()), [file!(); 2]);
    }
    for (reason, compiles) in [(FlushReason::HostRead, 1), (FlushReason::RepeatedOps, 0)] {
        let totals = queue.flushes(reason);
        let sums = (totals.flushes, totals.ops, totals.dropped, totals.compiles);
        assert_eq!(sums, (1, 2, 1, compiles), "{reason:?}");
    }
}
