//! Sums of products: dots, matrix products, convolutions.

mod convolution;
mod matmul;

use rectiflow_hlo::{DType, DTypes, DotAlgorithm, DotDims, DotOptions, Precision, Shape};

use super::array::{Wide, any, indices, offset, small, with_wide};
use crate::{Bound, Case, Value};

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = dot_dims();
    cases.extend(dot_dtypes());
    cases.extend(dot_options());
    cases.extend(matmul::cases());
    cases.extend(convolution::cases());
    cases
}

/// Types that the CPU plugin does not multiply.
const REFUSED: [DType; 3] = [DType::I2, DType::U2, DType::F4E2M1FN];

/// A dot by plain loops; the result has `dtype`.
fn dot<T: Wide>(lhs: &Value, rhs: &Value, dims: &DotDims, dtype: DType) -> Value {
    let (left, right) = (&lhs.shape.dims, &rhs.shape.dims);
    let free = |rank: usize, used: [&[i64]; 2]| -> Vec<usize> {
        (0..rank).filter(|dim| used.iter().all(|dims| !dims.contains(&(*dim as i64)))).collect()
    };
    let lhs_free = free(left.len(), [&dims.lhs_batch, &dims.lhs_contracting]);
    let rhs_free = free(right.len(), [&dims.rhs_batch, &dims.rhs_contracting]);
    let sizes = |dims: &[i64]| -> Vec<i64> { dims.iter().map(|&dim| left[dim as usize]).collect() };
    let mut result = sizes(&dims.lhs_batch);
    result.extend(lhs_free.iter().map(|&dim| left[dim]));
    result.extend(rhs_free.iter().map(|&dim| right[dim]));
    let (batch, split) = (dims.lhs_batch.len(), dims.lhs_batch.len() + lhs_free.len());
    let (numbers, factors) = (T::read(lhs), T::read(rhs));
    let summed = indices(&sizes(&dims.lhs_contracting));
    let sum = |index: &Vec<i64>| {
        let mut at = (vec![0; left.len()], vec![0; right.len()]);
        for (i, (&left, &right)) in dims.lhs_batch.iter().zip(&dims.rhs_batch).enumerate() {
            (at.0[left as usize], at.1[right as usize]) = (index[i], index[i]);
        }
        lhs_free.iter().zip(&index[batch..]).for_each(|(&dim, &i)| at.0[dim] = i);
        rhs_free.iter().zip(&index[split..]).for_each(|(&dim, &i)| at.1[dim] = i);
        summed.iter().fold(T::ZERO, |sum, terms| {
            for (i, &term) in terms.iter().enumerate() {
                at.0[dims.lhs_contracting[i] as usize] = term;
                at.1[dims.rhs_contracting[i] as usize] = term;
            }
            let product = numbers[offset(left, &at.0)].times(factors[offset(right, &at.1)]);
            sum.plus(product)
        })
    };
    let sums: Vec<T> = indices(&result).iter().map(sum).collect();
    T::write(Shape::new(dtype, result), &sums)
}

fn dot_case(name: &str, lhs: Value, rhs: Value, dims: DotDims, options: DotOptions) -> Case {
    let dtype = options.dtype.unwrap_or(lhs.shape.dtype);
    let expected = with_wide!(dtype, dot(&lhs, &rhs, &dims, dtype));
    Case::new(
        "stablehlo.dot_general",
        format!("{name}, {} with {} to {dtype}", lhs.shape, rhs.shape),
        vec![lhs, rhs],
        move |_, x| vec![x[0].dot_general(&x[1], dims.clone(), &options)],
        vec![expected],
    )
    // A sum of zeros may start from either zero.
    .within(Bound::Ulps(0.0))
}

fn numbers(batch: [&[i64]; 2], contracting: [&[i64]; 2]) -> DotDims {
    DotDims {
        lhs_batch: batch[0].to_vec(),
        rhs_batch: batch[1].to_vec(),
        lhs_contracting: contracting[0].to_vec(),
        rhs_contracting: contracting[1].to_vec(),
    }
}

/// Every arrangement of batch, contracting and free dims, in order and out of it, from rank 0.
fn dot_dims() -> Vec<Case> {
    let none: [&[i64]; 2] = [&[], &[]];
    let arrangements: Vec<(&str, &[i64], &[i64], DotDims)> = vec![
        ("scalars", &[], &[], numbers(none, none)),
        ("scalar by vector", &[], &[3], numbers(none, none)),
        ("inner product", &[4], &[4], numbers(none, [&[0], &[0]])),
        ("outer product", &[3], &[2], numbers(none, none)),
        ("matrix", &[3, 4], &[4, 2], numbers(none, [&[1], &[0]])),
        ("transposed", &[4, 3], &[2, 4], numbers(none, [&[0], &[1]])),
        ("matrix by vector", &[3, 4], &[4], numbers(none, [&[1], &[0]])),
        ("one batch dim", &[2, 3, 4], &[2, 4, 5], numbers([&[0], &[0]], [&[2], &[1]])),
        ("batch dim last", &[3, 4, 2], &[4, 2, 5], numbers([&[2], &[1]], [&[1], &[0]])),
        (
            "two batch dims crossed",
            &[2, 3, 4, 5],
            &[3, 2, 5, 2],
            numbers([&[0, 1], &[1, 0]], [&[3], &[2]]),
        ),
        ("two contracting dims crossed", &[3, 2, 4], &[4, 2, 5], numbers(none, [&[1, 2], &[1, 0]])),
        ("all contracted", &[2, 3], &[3, 2], numbers(none, [&[0, 1], &[1, 0]])),
        ("all batch", &[2, 3], &[2, 3], numbers([&[0, 1], &[0, 1]], none)),
        ("several free dims", &[2, 3, 2], &[2, 3, 2], numbers(none, [&[2], &[0]])),
        ("nothing to sum", &[3, 0], &[0, 2], numbers(none, [&[1], &[0]])),
        ("no rows", &[0, 3], &[3, 2], numbers(none, [&[1], &[0]])),
        ("no batch", &[0, 2, 3], &[0, 3, 2], numbers([&[0], &[0]], [&[2], &[1]])),
        (
            "rank 6",
            &[2, 1, 3, 2, 2, 1],
            &[1, 2, 2, 3],
            numbers([&[3, 1], &[1, 0]], [&[2, 4], &[3, 2]]),
        ),
        ("large", &[33, 70], &[70, 17], numbers(none, [&[1], &[0]])),
    ];
    let case = |(name, lhs, rhs, dims)| {
        let (lhs, rhs) = (small(DType::F32, lhs, 32), small(DType::F32, rhs, 33));
        dot_case(name, lhs, rhs, dims, DotOptions::default())
    };
    arrangements.into_iter().map(case).collect()
}

fn matrices() -> DotDims {
    numbers([&[], &[]], [&[1], &[0]])
}

fn to(dtype: DType) -> DotOptions {
    DotOptions { dtype: Some(dtype), ..DotOptions::default() }
}

fn dot_dtypes() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DTypes::ANY.iter().filter(|dtype| !REFUSED.contains(dtype)) {
        let (lhs, rhs) = (small(dtype, &[2, 3], 34), small(dtype, &[3, 2], 35));
        match dtype {
            dtype if dtype.is_float() && dtype.bits() <= 8 => {
                cases.push(dot_case("widened", lhs, rhs, matrices(), to(DType::F32)));
            }
            _ => cases.push(dot_case("same", lhs, rhs, matrices(), to(dtype))),
        }
        if dtype.is_integer() {
            let (lhs, rhs) = (any(dtype, &[2, 3], 36), any(dtype, &[3, 2], 37));
            cases.push(dot_case("wrapping", lhs, rhs, matrices(), to(dtype)));
        }
    }
    for (from, result) in [
        (DType::BF16, DType::F32),
        (DType::F16, DType::F32),
        (DType::F32, DType::F64),
        (DType::I8, DType::I32),
        (DType::U8, DType::U32),
    ] {
        let (lhs, rhs) = (small(from, &[5, 40], 38), small(from, &[40, 3], 39));
        cases.push(dot_case("widened", lhs, rhs, matrices(), to(result)));
    }
    cases
}

/// Precisions, algorithms, and products that are infinite or NaN.
fn dot_options() -> Vec<Case> {
    let mut cases = Vec::new();
    for precision in [Precision::Default, Precision::High, Precision::Highest] {
        let (lhs, rhs) = (any(DType::F32, &[4, 30], 40), any(DType::F32, &[30, 4], 41));
        let options = DotOptions { precision: Some([precision; 2]), ..DotOptions::default() };
        let case = dot_case(&format!("{precision:?}"), lhs, rhs, matrices(), options);
        cases.push(case.within(Bound::Close(1e-4)));
    }
    for (operand, sums) in [
        (DType::F32, DType::F32),
        (DType::BF16, DType::F32),
        (DType::F16, DType::F32),
        (DType::F16, DType::F16),
        (DType::BF16, DType::BF16),
        (DType::F64, DType::F64),
    ] {
        let (lhs, rhs) = (small(operand, &[4, 9], 42), small(operand, &[9, 4], 43));
        let options = DotOptions { algorithm: Some(DotAlgorithm::new(operand, sums)), ..to(sums) };
        cases.push(dot_case("algorithm", lhs, rhs, matrices(), options));
    }
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let lhs = Value::of([3, 2], &[1.0, inf, nan, 0.0, 0.0, inf]);
    let rhs = Value::of([2, 2], &[2.0, 1.0, 1.0, 0.0f32]);
    cases.push(dot_case("specials", lhs, rhs, matrices(), DotOptions::default()));
    let complex = |seed| any(DType::C64, &[3, 3], seed);
    let case = dot_case("complex", complex(44), complex(45), matrices(), DotOptions::default());
    cases.push(case.within(Bound::Close(1e-5)));
    cases
}
