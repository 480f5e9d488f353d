//! Loops, branches, functions and tuples over values that are computed as they are recorded.

use rectiflow_hlo::{Graph, Tensor};
use rectiflow_runtime::Read;

use crate::{MODES, counting, queue};

#[test]
fn a_loop_captures() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (step, limit) = (queue.scalar(3f32).unwrap() * 1.0, queue.scalar(10f32).unwrap() + 0.0);
        let start = queue.scalar(1f32).unwrap();
        let last = queue.graph().while_loop(
            &[&start],
            |state| state[0].lt(&limit),
            |state| vec![&state[0] + &step],
        );
        assert_eq!(last[0].item::<f32>().unwrap(), 10.0, "{mode:?}");
    }
}

#[test]
fn a_scan_captures() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let factor = queue.scalar(1f32).unwrap() + 1.0;
        let (zero, rows) = (queue.scalar(0f32).unwrap(), counting(&queue, &[4, 2]));
        let (carries, stacks) = queue.graph().scan(&[&zero], &[&rows], |carry, row| {
            let sum = &carry[0] + row[0].sum([0]) * &factor;
            (vec![sum.clone()], vec![sum])
        });
        assert_eq!(carries[0].item::<f32>().unwrap(), 56.0, "{mode:?}");
        assert_eq!(stacks[0].to_vec::<f32>().unwrap(), [2.0, 12.0, 30.0, 56.0], "{mode:?}");
    }
}

#[test]
fn branches_capture() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (x, other) = (counting(&queue, &[2]) + 1.0, counting(&queue, &[2]) * 10.0);
        for (flag, expected) in [(true, [2.0, 13.0]), (false, [1.0, -8.0])] {
            let flag = queue.scalar(flag).unwrap();
            let result = queue.graph().if_else(
                &flag,
                &[&x],
                |x| vec![&x[0] * 1.0 + &other + 1.0],
                |x| vec![&x[0] * 1.0 - &other],
            );
            assert_eq!(result[0].to_vec::<f32>().unwrap(), expected, "{mode:?}");
        }
        for (number, expected) in [(0, [1.0, 2.0]), (1, [10.0, 30.0]), (7, [100.0, 300.0])] {
            let number = queue.scalar(number).unwrap();
            let result = queue.graph().case(
                &number,
                &[&x],
                &mut [&mut |x| vec![&x[0] * 1.0], &mut |x| vec![&x[0] * 10.0 + &other], &mut |x| {
                    vec![&x[0] * 100.0 + &other * 10.0]
                }],
            );
            assert_eq!(result[0].to_vec::<f32>().unwrap(), expected, "{mode:?}");
        }
    }
}

#[test]
fn regions_nest() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (two, limit) = (queue.scalar(1f32).unwrap() + 1.0, queue.scalar(20f32).unwrap());
        let graph: &Graph = queue.graph();
        let start = queue.scalar(1f32).unwrap();
        let last = graph.while_loop(
            &[&start],
            |state| state[0].lt(&limit),
            |state| {
                let is_small = state[0].lt(&state[0].scalar_like(4));
                let graph = state[0].graph().clone();
                graph.if_else(
                    &is_small,
                    &[&state[0]],
                    |x| vec![&x[0] + &two],
                    |x| vec![&x[0] * &two],
                )
            },
        );
        assert_eq!(last[0].item::<f32>().unwrap(), 20.0, "1, 3, 5, 10, 20 in {mode:?}");
    }
}

/// A function that is declared in a loop is one function, and one program.
#[test]
fn functions_do_not_pile_up() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let mut x = counting(&queue, &[2]);
        let twice_plus_one = |x: &Tensor| {
            let graph = x.graph().clone();
            let function = graph.function(&[x.shape().clone()], |x| vec![&x[0] * 2.0 + 1.0]);
            graph.call(&function, &[x]).swap_remove(0)
        };
        x = twice_plus_one(&x);
        assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 3.0], "{mode:?}");
        let compiles = runtime.stats().compiles;
        for _ in 0..9 {
            x = twice_plus_one(&x);
            x.wait().unwrap();
        }
        assert_eq!(x.to_vec::<f32>().unwrap(), [1023.0, 2047.0], "{mode:?}");
        assert_eq!(runtime.stats().compiles, compiles, "{mode:?}");
        let declared = queue.graph().sibling();
        let text = format!("{:?}", declared.function(&[x.shape().clone()], |x| vec![x[0].clone()]));
        assert!(text.contains("\"f1\""), "one function is declared before it: {text}");
    }
}

#[test]
fn functions_call_functions() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (graph, x) = (queue.graph(), counting(&queue, &[2]));
        let shapes = [x.shape().clone()];
        let inner = graph.function(&shapes, |x| vec![&x[0] + 1.0]);
        let outer = graph.function(&shapes, |x| x[0].graph().call(&inner, &[&(&x[0] * 2.0)]));
        let y = graph.call(&outer, &[&x]).swap_remove(0);
        assert_eq!(y.to_vec::<f32>().unwrap(), [1.0, 3.0], "{mode:?}");
    }
}

#[test]
fn members_of_tuples() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let x = counting(&queue, &[2]);
        let tuple = queue.graph().tuple(&[&(&x + 1.0), &(&x * 3.0)]);
        let sum = tuple.get_tuple_element(0) + tuple.get_tuple_element(1);
        assert_eq!(sum.to_vec::<f32>().unwrap(), [1.0, 5.0], "{mode:?}");
        let error = tuple.to_bytes().unwrap_err();
        assert_eq!(error.to_string(), "a tuple has no elements; read its members");
    }
}
