//! Ops that break a rule: who hears of it, and who does not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use rectiflow_hlo::{DType, Mesh};
use rectiflow_runtime::{Array, Code, EagerMode, Queue, Read};

use crate::{MODES, counting, here, queue};

fn says(array: &Array, here: &str) {
    let error = array.to_bytes().unwrap_err();
    assert_eq!(error.code(), Code::Shape, "{error}");
    assert!(error.to_string().starts_with(here), "{here} {error}");
}

fn is_fine(queue: &Queue) {
    assert_eq!((counting(queue, &[2]) + 1.0).to_vec::<f32>().unwrap(), [1.0, 2.0]);
}

/// An op that breaks a rule, and where it is.
type Wrong = (&'static str, fn(&Queue) -> (Array, String));

const WRONG: &[Wrong] = &[
    ("operands", |q| (&counting(q, &[2]) + &counting(q, &[3]), here!())),
    ("matmul", |q| (counting(q, &[2, 3]).matmul(&counting(q, &[2, 3])), here!())),
    ("matmul of a scalar", |q| (counting(q, &[]).matmul(&counting(q, &[2])), here!())),
    ("dim of a sum", |q| (counting(q, &[2]).sum([1]), here!())),
    ("dim of take", |q| (counting(q, &[2]).take(&q.graph().index(0), 1), here!())),
    ("dim of a slice", |q| (counting(q, &[2]).slice_dim(1, 0, 1), here!())),
    ("place of a new dim", |q| (counting(q, &[2]).expand(3), here!())),
    ("broadcast", |q| (counting(q, &[2]).broadcast_to([3]), here!())),
    ("number", |q| (counting(q, &[2]).convert(DType::U8).full_like(300), here!())),
    ("helper", |q| (counting(q, &[2]).max([0]).any([]), here!())),
    ("region", |q| (counting(q, &[2]).reduce(&counting(q, &[]), [0], |a, b| a.matmul(b)), here!())),
    ("result of a region", |q| {
        (counting(q, &[2]).reduce(&counting(q, &[]), [0], |_, _| counting(q, &[])), here!())
    }),
    ("stacked", |q| {
        let x = counting(q, &[]);
        let (wrong, here) = (q.graph().scan(&[&x], &[], |x, _| (x.to_vec(), vec![])), here!());
        (wrong.0[0].clone(), here)
    }),
    ("parameter", |q| (q.graph().parameter("x", counting(q, &[2]).shape().clone()), here!())),
];

#[test]
fn at_the_read_with_the_line() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        for (name, op) in WRONG {
            let before = counting(&queue, &[2]) + 1.0;
            let (wrong, here) = op(&queue);
            is_fine(&queue);
            let dependents = [&wrong + 1.0, wrong.sum([]), queue.graph().tuple(&[&wrong])];
            says(&wrong, &here);
            dependents[..2].iter().for_each(|array| says(array, &here));
            assert_eq!(before.to_vec::<f32>().unwrap(), [1.0, 2.0], "{name}");
            is_fine(&queue);
            queue.synchronize().unwrap();
        }
    }
}

#[test]
fn every_result_has_the_error() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (x, zero) = (counting(&queue, &[2]), counting(&queue, &[]));
        let graph = queue.graph();
        let both = |a: &[Array], b: &[Array]| vec![&a[0] + &b[0], &a[1] + &b[1]];
        let (wrong, here) = (graph.reduce(&[&x, &x], &[&zero, &zero], [1], both), here!());
        wrong.iter().for_each(|array| says(array, &here));
    }
}

#[test]
fn in_regions_of_regions() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (x, flag) = (counting(&queue, &[2]), queue.scalar(true).unwrap());
        let graph = queue.graph();
        let mut line = String::new();
        let looped = graph.while_loop(
            &[&x, &flag],
            |state| state[1].clone(),
            |state| {
                let inner = state[0].graph().clone();
                let branch = inner.if_else(
                    &state[1],
                    &[&state[0]],
                    |x| {
                        line = here!().replace(&line!().to_string(), &(line!() + 1).to_string());
                        vec![x[0].sum([5])]
                    },
                    |x| vec![x[0].clone()],
                );
                vec![branch[0].clone(), state[1].clone()]
            },
        );
        looped.iter().for_each(|array| says(array, &line));
        is_fine(&queue);
    }
}

/// A function with an error breaks those who call it.
#[test]
fn in_functions() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (graph, x) = (queue.graph(), counting(&queue, &[2]));
        let shapes = [x.shape().clone()];
        let (function, here) = (graph.function(&shapes, |x| vec![x[0].sum([5])]), here!());
        is_fine(&queue);
        says(&graph.call(&function, &[&x])[0], &here);
        let outer = graph.function(&shapes, |x| x[0].graph().call(&function, &[&x[0]]));
        says(&graph.call(&outer, &[&x])[0], &here);
        is_fine(&queue);
    }
}

#[test]
fn a_panic_in_a_region_leaves_nothing_behind() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let x = counting(&queue, &[2]);
        let panics = |body: &dyn Fn(&Array)| {
            let body = AssertUnwindSafe(|| {
                queue.graph().while_loop(
                    &[&x],
                    |state| {
                        body(&state[0]);
                        panic!("in a region")
                    },
                    |state| state.to_vec(),
                )
            });
            assert!(catch_unwind(body).is_err());
        };
        panics(&|_| {});
        panics(&|x| drop(x.sum([5])));
        is_fine(&queue);
        queue.synchronize().unwrap();
    }
}

type OnArray = fn(&Array) -> (Array, String);

/// Errors stay with their thread's values, also while others wait for all.
#[test]
fn threads_fail_on_their_own() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            let (queue, barrier) = (&queue, &barrier);
            let lines: [OnArray; 2] =
                [|x| (x.sum([7]), here!()), |x| (x.matmul(&x.sum([0])), here!())];
            for wrong in lines {
                scope.spawn(move || {
                    let x = counting(queue, &[2]);
                    barrier.wait();
                    for _ in 0..300 {
                        let (wrong, here) = wrong(&x);
                        says(&wrong, &here);
                    }
                    is_fine(queue);
                });
            }
            scope.spawn(move || {
                barrier.wait();
                for _ in 0..300 {
                    queue.synchronize().unwrap();
                    is_fine(queue);
                }
            });
        });
    }
}

/// An error without a value of its own is that of the thread's next one.
#[test]
fn what_has_no_value_breaks_the_next_of_its_thread() {
    let (_, queue) = queue(EagerMode::DeferNever);
    queue.graph().mesh(&Mesh::new("m", [("x", 2)]));
    let (_, here) = (queue.graph().mesh(&Mesh::new("m", [("x", 3)])), here!());
    thread::scope(|scope| {
        scope.spawn(|| is_fine(&queue));
    });
    says(&(counting(&queue, &[2]) + 1.0), &here);
    is_fine(&queue);
}

/// Nothing is compiled, launched or counted for what depends on an error.
#[test]
fn dependents_do_not_run() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let x = counting(&queue, &[2]);
        let wrong = x.sum([7]);
        let (requests, n_ops) = (runtime.stats().requests, queue.n_ops());
        let mut y = &wrong + &x;
        for _ in 0..10 {
            y = &y * &x;
        }
        assert!(y.to_bytes().is_err());
        assert_eq!((runtime.stats().requests, queue.n_ops()), (requests, n_ops), "{mode:?}");
    }
}

/// A region that captures a tuple would take it from the device.
#[test]
fn tuples_are_no_operands() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (graph, x) = (queue.graph(), counting(&queue, &[2]));
        let (tuple, flag) = (graph.tuple(&[&x]), queue.scalar(true).unwrap());
        let pair = |x: &[Array]| vec![x[0].graph().tuple(&[&x[0], &tuple]).get_tuple_element(0)];
        let (result, here) = (graph.if_else(&flag, &[&x], pair, |x| x.to_vec()), here!());
        let error = result[0].to_bytes().unwrap_err();
        assert_eq!(error.code(), Code::Array);
        assert!(error.to_string().starts_with(&here), "{here} {error}");
        assert!(error.to_string().contains("pass its members"), "{error}");
    }
}
