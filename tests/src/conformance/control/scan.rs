//! Loops over the leading dim, which are `while` loops.

use rectiflow_hlo::{DType, DTypes, Graph, Shape, Tensor};

use super::super::array::{any, small};
use crate::{Case, Value};

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [1, 2, 7].map(running_sums).into();
    cases.push(no_steps());
    cases.push(nested());
    cases.push(without_carry());
    cases.extend(DTypes::ANY.iter().flat_map(|dtype| [3, 0].map(|length| stacked(dtype, length))));
    cases
}

/// Carries a sum and a product, stacks both, and adds a captured offset.
fn running_sums(length: i64) -> Case {
    let (xs, ys) = (small(DType::F32, &[length, 2], 84), small(DType::I64, &[length], 85));
    let offset = small(DType::F32, &[2], 86);
    let (mut sum, mut product) = (vec![0.0; 2], 1i64);
    let (mut sums, mut products) = (Vec::new(), Vec::new());
    for (row, y) in xs.reals().chunks(2).zip(ys.integers()) {
        sum = (0..2).map(|i| sum[i] + row[i] + offset.reals()[i]).collect();
        product *= y as i64 + 1;
        sums.extend(&sum);
        products.push(product);
    }
    let expected = vec![
        Value::from_reals(Shape::new(DType::F32, [2]), &sum),
        Value::of([], &[product]),
        Value::from_reals(Shape::new(DType::F32, [length, 2]), &sums),
        Value::of([length], &products),
    ];
    let record = |graph: &Graph, x: &[Tensor]| {
        let (zero, one) = (x[2].full_like(0), x[1].scalar_like(1));
        let (last, stacks) = graph.scan(&[&zero, &one], &[&x[0], &x[1]], |carries, slices| {
            let sum = &carries[0] + &slices[0] + &x[2];
            let product = carries[1].multiply(&slices[1].add(&slices[1].scalar_like(1)));
            (vec![sum.clone(), product.clone()], vec![sum, product])
        });
        [last, stacks].concat()
    };
    let name = format!("scan of {length} steps");
    Case::new("stablehlo.while", name, vec![xs, ys, offset], record, expected)
}

/// A leading dim of zero: the carries come back, the stacks are empty.
fn no_steps() -> Case {
    let carry = small(DType::F32, &[2], 87);
    Case::new(
        "stablehlo.while",
        "scan of no steps",
        vec![carry.clone(), small(DType::F32, &[3], 88)],
        |graph, x| {
            let rows = x[1].slice_dim(0, 0, 0);
            let (last, stacks) = graph.scan(&[&x[0]], &[&rows], |carries, slices| {
                (vec![&carries[0] + &slices[0]], vec![carries[0].clone()])
            });
            [last, stacks].concat()
        },
        vec![carry, Value::of([0, 2], &[0f32; 0])],
    )
}

/// Sums of the rows of each matrix, in a scan in a scan that both use a value from outside.
fn nested() -> Case {
    let (xs, offset) = (small(DType::F32, &[2, 3, 4], 89), small(DType::F32, &[4], 90));
    let mut total = vec![0.0; 4];
    let mut sums = Vec::new();
    for matrix in xs.reals().chunks(12) {
        let mut sum = total.clone();
        for row in matrix.chunks(4) {
            sum = (0..4).map(|i| sum[i] + row[i] * offset.reals()[i]).collect();
            sums.extend(&sum);
        }
        total = (0..4).map(|i| sum[i] - offset.reals()[i]).collect();
    }
    let expected = vec![
        Value::from_reals(Shape::new(DType::F32, [4]), &total),
        Value::from_reals(Shape::new(DType::F32, [2, 3, 4]), &sums),
    ];
    let record = |graph: &Graph, x: &[Tensor]| {
        let zero = x[1].full_like(0);
        let (last, stacks) = graph.scan(&[&zero], &[&x[0]], |carries, matrices| {
            let (sum, rows) = graph.scan(&[&carries[0]], &[&matrices[0]], |carries, rows| {
                let sum = &carries[0] + &rows[0] * &x[1];
                (vec![sum.clone()], vec![sum])
            });
            (vec![&sum[0] - &x[1]], rows)
        });
        [last, stacks].concat()
    };
    Case::new("stablehlo.while", "scan in a scan", vec![xs, offset], record, expected)
}

/// Stacks the slices as they are, in a stack that has to begin as something of its type.
fn stacked(dtype: DType, length: i64) -> Case {
    let xs = any(dtype, &[length, 2], 92);
    let record = |graph: &Graph, x: &[Tensor]| {
        graph.scan(&[], &[&x[0]], |_, slices| (Vec::new(), slices.to_vec())).1
    };
    let name = format!("scan of {}", xs.shape);
    Case::new("stablehlo.while", name, vec![xs.clone()], record, vec![xs])
}

/// Only stacks: each slice squared, as scalars.
fn without_carry() -> Case {
    let xs = small(DType::I32, &[6], 91);
    let squares: Vec<i32> = xs.integers().iter().map(|&x| (x * x) as i32).collect();
    let record = |graph: &Graph, x: &[Tensor]| {
        let square = |slices: &[Tensor]| vec![slices[0].multiply(&slices[0])];
        graph.scan(&[], &[&x[0]], |_, slices| (Vec::new(), square(slices))).1
    };
    let expected = vec![Value::of([6], &squares)];
    Case::new("stablehlo.while", "scan without carry", vec![xs], record, expected)
}
