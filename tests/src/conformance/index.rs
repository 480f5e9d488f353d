//! Reads and writes at positions known only when running.

mod gather;
mod scatter;

use rectiflow_hlo::{DType, DTypes, Tensor};

use super::array::{any, arrange, indices, offset, scalar};
use crate::{Case, Value};

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = dynamic_slices();
    cases.extend(dynamic_update_slices());
    cases.extend(gather::cases());
    cases.extend(gather::takes());
    cases.extend(scatter::cases());
    cases
}

/// Dims, slice or update sizes, and positions: inside, beyond the end, before the start; ranks 0
/// to 6; dims of zero.
#[rustfmt::skip]
const WINDOWS: &[(&[i64], &[i64], &[i64])] = &[
    (&[], &[], &[]),
    (&[5], &[2], &[2]),
    (&[5], &[2], &[9]),
    (&[5], &[2], &[-3]),
    (&[5], &[5], &[1]),
    (&[5], &[0], &[5]),
    (&[0], &[0], &[0]),
    (&[3, 4], &[2, 3], &[1, 0]),
    (&[3, 4], &[2, 3], &[7, -7]),
    (&[3, 0], &[2, 0], &[1, 1]),
    (&[2, 3, 4], &[1, 2, 2], &[1, 1, 1]),
    (&[2, 3, 2, 2], &[2, 1, 1, 2], &[0, 2, -1, 5]),
    (&[2, 1, 3, 1, 2], &[1, 1, 2, 1, 1], &[1, 0, 1, 0, 1]),
    (&[2, 2, 1, 3, 2, 2], &[1, 2, 1, 2, 1, 2], &[1, 1, 1, 1, 1, 1]),
];

/// Where a window of `sizes` at `at` lies after it was moved inside.
fn clamped(dims: &[i64], sizes: &[i64], at: &[i64]) -> Vec<i64> {
    let inside = |i: usize| at[i].clamp(0, dims[i] - sizes[i]);
    (0..dims.len()).map(inside).collect()
}

fn sum(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn slice_case(dtype: DType, at_dtype: DType, window: (&[i64], &[i64], &[i64])) -> Case {
    let (dims, sizes, at) = window;
    let value = any(dtype, dims, 1);
    let start = clamped(dims, sizes, at);
    let expected = arrange(&value, sizes, |index| sum(index, &start));
    let positions = at.iter().map(|&i| scalar(at_dtype, i as f64));
    let sizes = sizes.to_vec();
    Case::new(
        "stablehlo.dynamic_slice",
        format!("{sizes:?} at {at:?} ({at_dtype}) of {}", value.shape),
        [value].into_iter().chain(positions).collect(),
        move |_, x| vec![x[0].dynamic_slice(&x[1..].iter().collect::<Vec<_>>(), &sizes[..])],
        vec![expected],
    )
}

fn dynamic_slices() -> Vec<Case> {
    let shapes = WINDOWS.iter().map(|&window| slice_case(DType::F32, DType::I32, window));
    let dtypes =
        DTypes::ANY.iter().map(|dtype| slice_case(dtype, DType::I32, (&[3, 4], &[2, 3], &[2, 1])));
    let positions = DTypes::INTEGER
        .iter()
        .filter(|dtype| dtype.bits() >= 8)
        .map(|dtype| slice_case(DType::I32, dtype, (&[3, 4], &[2, 2], &[100, 1])));
    shapes.chain(dtypes).chain(positions).collect()
}

fn update_case(dtype: DType, at_dtype: DType, window: (&[i64], &[i64], &[i64])) -> Case {
    let (dims, sizes, at) = window;
    let (value, update) = (any(dtype, dims, 2), any(dtype, sizes, 3));
    let start = clamped(dims, sizes, at);
    let mut elements: Vec<&[u8]> = value.elements().collect();
    for (index, element) in indices(sizes).iter().zip(update.elements()) {
        elements[offset(dims, &sum(index, &start))] = element;
    }
    let expected = Value::from_bytes(value.shape.clone(), elements.concat());
    let positions = at.iter().map(|&i| scalar(at_dtype, i as f64));
    Case::new(
        "stablehlo.dynamic_update_slice",
        format!("{} at {at:?} ({at_dtype}) of {}", update.shape, value.shape),
        [value.clone(), update.clone()].into_iter().chain(positions).collect(),
        |_, x| {
            let at: Vec<&Tensor> = x[2..].iter().collect();
            vec![x[0].dynamic_update_slice(&x[1], &at)]
        },
        vec![expected],
    )
}

fn dynamic_update_slices() -> Vec<Case> {
    let shapes = WINDOWS.iter().map(|&window| update_case(DType::F32, DType::I32, window));
    let dtypes =
        DTypes::ANY.iter().map(|dtype| update_case(dtype, DType::I32, (&[3, 4], &[2, 3], &[2, 1])));
    let positions = DTypes::INTEGER
        .iter()
        .filter(|dtype| dtype.bits() >= 8)
        .map(|dtype| update_case(DType::I32, dtype, (&[3, 4], &[2, 2], &[100, 1])));
    shapes.chain(dtypes).chain(positions).collect()
}
