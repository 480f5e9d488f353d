//! Control flow, calls, barriers, tuples and shardings.

mod call;
mod scan;
mod sharding;

use rectiflow_hlo::{DType, Graph, Shape, Tensor};

use super::array::{scalar, small};
use crate::{Case, Value};

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = whiles();
    cases.extend(branches());
    cases.extend(nested());
    cases.extend(scan::cases());
    cases.extend(call::cases());
    cases.extend(sharding::cases());
    cases
}

/// `x` repeatedly doubled and moved by a captured `step`, `n` times.
fn whiles() -> Vec<Case> {
    let of = |n: i32| {
        let (x, step) = (small(DType::F32, &[2, 3], 80), small(DType::F32, &[3], 81));
        let mut numbers = x.reals();
        for _ in 0..n.max(0) {
            let moved = |(i, x): (usize, &f64)| 2.0 * x + step.reals()[i % 3];
            numbers = numbers.iter().enumerate().map(moved).collect();
        }
        let expected = vec![
            Value::from_reals(Shape::scalar(DType::I32), &[f64::from(n.max(0))]),
            Value::from_reals(x.shape.clone(), &numbers),
        ];
        Case::new(
            "stablehlo.while",
            format!("{n} times, with captures"),
            vec![x, step, scalar(DType::I32, n.into())],
            |graph, x| {
                let zero = graph.index(0);
                graph.while_loop(
                    &[&zero, &x[0]],
                    |state| state[0].lt(&x[2]),
                    |state| {
                        let next = state[0].add(&state[0].scalar_like(1));
                        vec![next, &state[1] * 2.0 + &x[1]]
                    },
                )
            },
            expected,
        )
    };
    [-1, 0, 1, 5].map(of).into()
}

/// Both branches of `if`, and every index of `case` and beyond, with captures.
fn branches() -> Vec<Case> {
    let (x, y) = (small(DType::F32, &[3], 82), small(DType::F32, &[3], 83));
    let pairs = |f: fn(f64, f64) -> f64| {
        let numbers: Vec<f64> = x.reals().iter().zip(y.reals()).map(|(&x, y)| f(x, y)).collect();
        Value::from_reals(x.shape.clone(), &numbers)
    };
    let (sum, difference, product) =
        (pairs(|x, y| x + y), pairs(|x, y| x - y), pairs(|x, y| x * y));
    let mut cases = Vec::new();
    for (pred, expected) in [(true, [&sum, &product]), (false, [&difference, &x])] {
        cases.push(Case::new(
            "stablehlo.if",
            format!("of {pred}, with captures"),
            vec![Value::of([], &[pred]), x.clone(), y.clone()],
            |graph, x| {
                graph.if_else(
                    &x[0],
                    &[&x[1], &x[2]],
                    |x| vec![x[0].add(&x[1]), x[0].multiply(&x[1])],
                    |x| vec![x[0].subtract(&x[1]), x[0].clone()],
                )
            },
            expected.map(Value::clone).into(),
        ));
    }
    for index in [0, 1, 2, 3, -1, i32::MIN, i32::MAX] {
        let expected = match index {
            0 => &sum,
            1 => &difference,
            _ => &product,
        };
        cases.push(Case::new(
            "stablehlo.case",
            format!("of {index}"),
            vec![Value::of([], &[index]), x.clone(), y.clone()],
            |graph, x| {
                graph.case(
                    &x[0],
                    &[&x[1]],
                    &mut [
                        &mut |y| vec![y[0].add(&x[2])],
                        &mut |y| vec![y[0].subtract(&x[2])],
                        &mut |y| vec![y[0].multiply(&x[2])],
                    ],
                )
            },
            vec![expected.clone()],
        ));
    }
    cases.push(one_branch(&x));
    cases
}

fn one_branch(x: &Value) -> Case {
    Case::new(
        "stablehlo.case",
        "of one branch",
        vec![Value::of([], &[9i32]), x.clone()],
        |graph, x| graph.case(&x[0], &[&x[1]], &mut [&mut |x| x.to_vec()]),
        vec![x.clone()],
    )
}

/// Length of the Collatz sequence of each number: an `if` in a `while` in a `while`, with captures
/// across each.
fn nested() -> Vec<Case> {
    let steps = |mut n: i64| {
        let mut count = 0;
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            count += 1;
        }
        count
    };
    let total: i64 = (1..10).map(steps).sum();
    let one_number = |graph: &Graph, number: &Tensor, one: &Tensor| {
        let zero = number.scalar_like(0);
        let last = graph.while_loop(
            &[number, &zero],
            // Bounded, so that a wrong branch ends all the same.
            |state| state[0].ne(one).and(&state[1].lt(&one.scalar_like(100))),
            |state| {
                let n = &state[0];
                let is_even = n.remainder(&n.scalar_like(2)).eq(&zero);
                let next = graph.if_else(
                    &is_even,
                    &[n],
                    |n| vec![n[0].divide(&n[0].scalar_like(2))],
                    |n| vec![n[0].multiply(&n[0].scalar_like(3)).add(one)],
                );
                vec![next[0].clone(), state[1].add(one)]
            },
        );
        last[1].clone()
    };
    let record = move |graph: &Graph, x: &[Tensor]| {
        let (one, limit) = (&x[0], &x[1]);
        let zero = one.scalar_like(0);
        let last = graph.while_loop(
            &[one, &zero],
            |state| state[0].lt(limit),
            |state| {
                let sum = state[1].add(&one_number(graph, &state[0], one));
                vec![state[0].add(one), sum]
            },
        );
        vec![last[1].clone()]
    };
    let inputs = vec![Value::of([], &[1i64]), Value::of([], &[10i64])];
    vec![Case::new("stablehlo.while", "nested", inputs, record, vec![Value::of([], &[total])])]
}
