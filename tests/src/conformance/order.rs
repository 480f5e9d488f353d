//! Sorting, positions of sorted elements, and the greatest few.

use std::cmp::Ordering;

use rectiflow_hlo::{DType, DTypes, Shape};

use super::array::{any, indices, offset, small};
use crate::{Case, Value};

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DTypes::ORDERED.iter().filter(|dtype| is_sortable(*dtype)) {
        let value = any(dtype, &[3, 9], 25);
        cases.push(sort_case(&value, 1));
        cases.push(argsort_case(&value, 1));
        if DTypes::REAL.contains(dtype) {
            cases.push(top_k_case(&value, 4));
        }
    }
    cases.extend(shapes());
    cases.extend(specials());
    cases.extend(comparators());
    cases
}

/// Whether the CPU plugin can sort the type. It sorts types that it packs two or four to a byte as
/// if each element had a byte of its own, beyond the end of the buffer, and so they cannot be
/// asked for in a process that is to live.
fn is_sortable(dtype: DType) -> bool {
    dtype == DType::Pred || dtype.bits() >= 8
}

/// A rising order of elements: that of integers, or of floats by IEEE's total order.
fn rising(value: &Value) -> impl Fn(usize, usize) -> Ordering {
    let (reals, integers) = match value.shape.dtype.is_float() {
        true => (value.reals(), Vec::new()),
        false => (Vec::new(), value.integers()),
    };
    move |a, b| match reals.is_empty() {
        true => integers[a].cmp(&integers[b]),
        false => reals[a].total_cmp(&reals[b]),
    }
}

/// For each place of the sorted value, the place its element comes from; equal ones keep theirs.
fn sorted_from(
    dims: &[i64],
    dimension: usize,
    order: impl Fn(usize, usize) -> Ordering,
) -> Vec<usize> {
    let mut from: Vec<usize> = (0..indices(dims).len()).collect();
    let along = dims[dimension];
    let firsts = indices(dims).into_iter().filter(|index| index[dimension] == 0);
    for first in firsts {
        let place = |i: i64| {
            let mut index = first.clone();
            index[dimension] = i;
            offset(dims, &index)
        };
        let places: Vec<usize> = (0..along).map(place).collect();
        let mut slice = places.clone();
        slice.sort_by(|&a, &b| order(a, b));
        places.iter().zip(slice).for_each(|(&to, source)| from[to] = source);
    }
    from
}

fn permuted(value: &Value, from: &[usize]) -> Value {
    let elements: Vec<&[u8]> = value.elements().collect();
    let bytes = from.iter().flat_map(|&i| elements[i].to_vec()).collect();
    Value::from_bytes(value.shape.clone(), bytes)
}

/// Positions along a dim of the places in `from`.
fn along(dims: &[i64], dimension: usize, from: &[usize]) -> Value {
    let indices = indices(dims);
    let positions: Vec<i32> = from.iter().map(|&i| indices[i][dimension] as i32).collect();
    Value::of(dims, &positions)
}

fn sort_case(value: &Value, dimension: usize) -> Case {
    let from = sorted_from(&value.shape.dims, dimension, rising(value));
    Case::new(
        "stablehlo.sort",
        format!("{} along {dimension}", value.shape),
        vec![value.clone()],
        move |_, x| vec![x[0].sort_rising(dimension as i64)],
        vec![permuted(value, &from)],
    )
}

fn argsort_case(value: &Value, dimension: usize) -> Case {
    let from = sorted_from(&value.shape.dims, dimension, rising(value));
    Case::new(
        "stablehlo.sort",
        format!("argsort of {} along {dimension}", value.shape),
        vec![value.clone()],
        move |_, x| vec![x[0].argsort(dimension as i64)],
        vec![along(&value.shape.dims, dimension, &from)],
    )
}

fn top_k_case(value: &Value, k: i64) -> Case {
    let dims = &value.shape.dims;
    let rises = rising(value);
    let from = sorted_from(dims, dims.len() - 1, |a, b| rises(b, a));
    let columns = dims[dims.len() - 1] as usize;
    let cut: Vec<usize> = match columns {
        0 => Vec::new(),
        _ => from.chunks(columns).flat_map(|row| &row[..k as usize]).copied().collect(),
    };
    let mut result = dims.clone();
    result[dims.len() - 1] = k;
    let elements: Vec<&[u8]> = value.elements().collect();
    let bytes = cut.iter().flat_map(|&i| elements[i].to_vec()).collect();
    let positions: Vec<i32> = cut.iter().map(|&i| (i % columns) as i32).collect();
    Case::new(
        "chlo.top_k",
        format!("{k} of {}", value.shape),
        vec![value.clone()],
        move |_, x| {
            let (values, positions) = x[0].top_k(k);
            vec![values, positions]
        },
        vec![
            Value::from_bytes(Shape::new(value.shape.dtype, &result[..]), bytes),
            Value::of(result, &positions),
        ],
    )
}

fn shapes() -> Vec<Case> {
    let sorts: &[(&[i64], usize)] = &[
        (&[0], 0),
        (&[1], 0),
        (&[3, 0], 0),
        (&[0, 3], 1),
        (&[5, 4], 0),
        (&[3, 4, 2], 1),
        (&[2, 3, 1, 4, 2], 3),
        (&[2, 3, 1, 2, 2, 2], 0),
        (&[2, 1000], 1),
    ];
    // Small numbers tie often.
    let values = sorts.iter().map(|(dims, dimension)| (small(DType::F32, dims, 26), *dimension));
    let mut cases: Vec<Case> = values
        .flat_map(|(value, dimension)| {
            [sort_case(&value, dimension), argsort_case(&value, dimension)]
        })
        .collect();
    for (dims, k) in
        [(&[5][..], 0), (&[5], 1), (&[5], 5), (&[3, 0], 0), (&[2, 3, 4], 2), (&[2, 500], 20)]
    {
        cases.push(top_k_case(&small(DType::F32, dims, 27), k));
        cases.push(top_k_case(&small(DType::I32, dims, 28), k));
    }
    cases
}

/// NaN of both signs, infinities, zeros of both signs.
fn specials() -> Vec<Case> {
    let (inf, nan) = (f32::INFINITY, f32::from_bits(0x7FC0_0000));
    let value = Value::of([9], &[nan, 0.0, -nan, -0.0, inf, 1.0, -inf, -nan, nan]);
    vec![sort_case(&value, 0), argsort_case(&value, 0), top_k_case(&value, 9)]
}

/// Several operands, and orders of the caller's.
fn comparators() -> Vec<Case> {
    let (keys, values) = (small(DType::I32, &[2, 50], 29), any(DType::F64, &[2, 50], 30));
    let key = keys.integers();
    let falling = |a: usize, b: usize| key[b].cmp(&key[a]);
    let stable = sorted_from(&[2, 50], 1, falling);
    let number = values.reals();
    let by_both = |a: usize, b: usize| falling(a, b).then(number[a].total_cmp(&number[b]));
    let both = sorted_from(&[2, 50], 1, by_both);
    let complex = any(DType::C64, &[20], 31);
    let part = complex.complex();
    let by_imag = sorted_from(&[20], 0, |a, b| part[a].im.total_cmp(&part[b].im));
    vec![
        Case::new(
            "stablehlo.sort",
            "of two operands, falling by the first, stable",
            vec![keys.clone(), values.clone()],
            |graph, x| graph.sort(&[&x[0], &x[1]], 1, true, |a, b| a[0].gt(&b[0])),
            vec![permuted(&keys, &stable), permuted(&values, &stable)],
        ),
        Case::new(
            "stablehlo.sort",
            "of two operands, falling by the first, then rising by the second",
            vec![keys.clone(), values.clone()],
            |graph, x| {
                graph.sort(&[&x[0], &x[1]], 1, false, |a, b| {
                    a[0].gt(&b[0]).or(&a[0].eq(&b[0]).and(&a[1].lt(&b[1])))
                })
            },
            vec![permuted(&keys, &both), permuted(&values, &both)],
        ),
        Case::new(
            "stablehlo.sort",
            "of complex numbers by imaginary part",
            vec![complex.clone()],
            |graph, x| graph.sort(&[&x[0]], 0, true, |a, b| a[0].imag().lt(&b[0].imag())),
            vec![permuted(&complex, &by_imag)],
        ),
    ]
}
