//! Matrix products by NumPy's rules.

use rectiflow_hlo::DType;

use super::super::array::{indices, offset, small};
use crate::{Bound, Case, Value};

/// The rule in full: promote vectors, broadcast leading dims, multiply, drop what was promoted.
fn product(lhs: &Value, rhs: &Value) -> Value {
    let (mut left, mut right) = (lhs.shape.dims.clone(), rhs.shape.dims.clone());
    let (lhs_is_vector, rhs_is_vector) = (left.len() == 1, right.len() == 1);
    if lhs_is_vector {
        left.insert(0, 1);
    }
    if rhs_is_vector {
        right.push(1);
    }
    let rank = left.len().max(right.len());
    let padded = |dims: &[i64]| [&vec![1; rank - dims.len()][..], dims].concat();
    let (left, right) = (padded(&left), padded(&right));
    let batch: Vec<i64> =
        left.iter().zip(&right).take(rank - 2).map(|(&a, &b)| if a == 1 { b } else { a }).collect();
    let (rows, terms, columns) = (left[rank - 2], left[rank - 1], right[rank - 1]);
    let (numbers, factors) = (lhs.reals(), rhs.reals());
    let at = |dims: &[i64], batch: &[i64], row: i64, column: i64| {
        let lead = batch.iter().zip(dims).map(|(&i, &dim)| if dim == 1 { 0 } else { i });
        offset(dims, &lead.chain([row, column]).collect::<Vec<_>>())
    };
    let mut sums = Vec::new();
    for index in indices(&[&batch[..], &[rows, columns]].concat()) {
        let (batch, place) = index.split_at(rank - 2);
        let term =
            |i| numbers[at(&left, batch, place[0], i)] * factors[at(&right, batch, i, place[1])];
        sums.push((0..terms).map(term).sum());
    }
    let mut dims = batch;
    dims.extend((!lhs_is_vector).then_some(rows));
    dims.extend((!rhs_is_vector).then_some(columns));
    Value::from_reals(lhs.shape.with_dims(dims), &sums)
}

pub(super) fn cases() -> Vec<Case> {
    let pairs: &[(&[i64], &[i64])] = &[
        (&[3], &[3]),
        (&[3], &[3, 2]),
        (&[2, 3], &[3]),
        (&[2, 3], &[3, 4]),
        (&[5, 2, 3], &[3, 4]),
        (&[2, 3], &[5, 3, 4]),
        (&[5, 2, 3], &[5, 3, 4]),
        (&[5, 2, 3], &[1, 3, 4]),
        (&[1, 2, 3], &[5, 3, 4]),
        (&[2, 1, 2, 3], &[3, 3, 4]),
        (&[3], &[5, 3, 4]),
        (&[5, 2, 3], &[3]),
        (&[2, 1, 3, 1, 2, 3], &[4, 1, 5, 3, 2]),
        (&[2, 0], &[0, 3]),
        (&[0, 2, 3], &[3, 4]),
    ];
    let case = |(lhs, rhs): &(&[i64], &[i64])| {
        let (lhs, rhs) = (small(DType::F32, lhs, 46), small(DType::F32, rhs, 47));
        let expected = product(&lhs, &rhs);
        Case::new(
            "stablehlo.dot_general",
            format!("matmul of {} and {}", lhs.shape, rhs.shape),
            vec![lhs, rhs],
            |_, x| vec![x[0].matmul(&x[1])],
            vec![expected],
        )
        .within(Bound::Ulps(0.0))
    };
    pairs.iter().map(case).collect()
}
