//! Calls of functions and of registered code, barriers and tuples.

use std::sync::OnceLock;

use rectiflow_hlo::{CustomCall, DType, Dictionary, Shape, Value as Config};
use rectiflow_pjrt::ffi::{self, CallFrame};

use super::super::array::small;
use crate::{Case, Value, plugin};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = functions();
    cases.extend(passed_through());
    cases.extend(custom_calls());
    cases
}

/// A function called twice, from another function too.
fn functions() -> Vec<Case> {
    let (x, y) = (small(DType::I32, &[3], 92), small(DType::I32, &[3], 93));
    let (a, b) = (x.integers(), y.integers());
    let square_sum = |i: usize| (a[i] * a[i] + b[i] * b[i]) as i32;
    let expected: Vec<i32> = (0..3).map(square_sum).collect();
    vec![Case::new(
        "func.call",
        "of a function that calls another twice",
        vec![x, y],
        |graph, x| {
            let vector = Shape::new(DType::I32, [3]);
            let square =
                graph.function(std::slice::from_ref(&vector), |x| vec![x[0].multiply(&x[0])]);
            let both = graph.function(&[vector.clone(), vector], |x| {
                let inner = x[0].graph();
                let squares = [&x[0], &x[1]].map(|x| inner.call(&square, &[x]).swap_remove(0));
                vec![squares[0].add(&squares[1])]
            });
            graph.call(&both, &[&x[0], &x[1]])
        },
        vec![Value::of([3], &expected)],
    )]
}

/// Ops that change nothing.
fn passed_through() -> Vec<Case> {
    let values = vec![small(DType::F32, &[2, 3], 94), small(DType::Pred, &[], 95)];
    let mut turned = values.clone();
    turned.reverse();
    vec![
        Case::new(
            "stablehlo.optimization_barrier",
            "of two values",
            values.clone(),
            |graph, x| graph.optimization_barrier(&[&x[0], &x[1]]),
            values.clone(),
        ),
        Case::new(
            "stablehlo.tuple",
            "taken apart again",
            values.clone(),
            |graph, x| {
                let tuple = graph.tuple(&[&x[0], &x[1]]);
                vec![tuple.get_tuple_element(1), tuple.get_tuple_element(0)]
            },
            turned.clone(),
        ),
        Case::new(
            "stablehlo.get_tuple_element",
            "of a tuple in a tuple",
            values,
            |graph, x| {
                let inner = graph.tuple(&[&x[0]]);
                let outer = graph.tuple(&[&inner, &x[1]]);
                let inner = outer.get_tuple_element(0);
                vec![outer.get_tuple_element(1), inner.get_tuple_element(0)]
            },
            turned,
        ),
    ]
}

/// `factor * x + term` of a scalar attribute and two arguments, and the number of elements.
fn affine(call: &mut CallFrame<'_>) -> ffi::Result<()> {
    let factor = call.attributes.scalar::<f32>("factor")?;
    let x = call.argument(0)?.elements::<f32>()?;
    let term = call.argument(1)?.elements::<f32>()?;
    let count = x.len() as i64;
    for ((y, x), term) in call.result(0)?.elements_mut::<f32>()?.iter_mut().zip(x).zip(term) {
        *y = factor * x + term;
    }
    call.result(1)?.elements_mut::<i64>()?.fill(count);
    Ok(())
}

/// The same, with the terms where the result goes.
fn affine_in_place(call: &mut CallFrame<'_>) -> ffi::Result<()> {
    let factor = call.attributes.scalar::<f32>("factor")?;
    let x = call.argument(0)?.elements::<f32>()?;
    let count = x.len() as i64;
    for (y, x) in call.result(0)?.elements_mut::<f32>()?.iter_mut().zip(x) {
        *y += factor * x;
    }
    call.result(1)?.elements_mut::<i64>()?.fill(count);
    Ok(())
}

/// Makes the code callable, once in a process.
fn register() {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    REGISTERED.get_or_init(|| {
        let client = plugin::cpu_client(1).expect("a client");
        let plugin = client.plugin();
        plugin.register_ffi("affine", "Host", affine).expect("registered");
        plugin.register_ffi("affine_in_place", "Host", affine_in_place).expect("registered");
    });
}

fn custom_calls() -> Vec<Case> {
    let (x, term) = (small(DType::F32, &[2, 3], 96), small(DType::F32, &[2, 3], 97));
    let numbers: Vec<f64> =
        x.reals().iter().zip(term.reals()).map(|(x, term)| 2.5 * x + term).collect();
    let expected = vec![Value::from_reals(x.shape.clone(), &numbers), Value::of([], &[6i64])];
    let of = |name: &str, target, has_side_effect, aliases: Vec<(i64, i64)>| {
        Case::new(
            "stablehlo.custom_call",
            name,
            vec![x.clone(), term.clone()],
            move |graph, x| {
                register();
                let factor = ("factor".to_string(), Config::F32(2.5f32.to_bits()));
                let call = CustomCall {
                    config: Dictionary([factor].into()),
                    has_side_effect,
                    aliases: aliases.clone(),
                    ..CustomCall::new(target)
                };
                let results = [x[0].shape().clone(), Shape::scalar(DType::I64)];
                // Transposed operands reach the code in row-major order all the same.
                let turned = |i: usize| x[i].transpose([1, 0]).transpose([1, 0]);
                graph.custom_call(&call, &[&turned(0), &turned(1)], &results)
            },
            expected.clone(),
        )
    };
    vec![
        of("with attributes", "affine", false, Vec::new()),
        of("with a side effect", "affine", true, Vec::new()),
        of("that writes into an operand", "affine_in_place", false, vec![(0, 1)]),
    ]
}
