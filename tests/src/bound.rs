//! When a result is close enough to what is expected.

use rectiflow_hlo::{Class, DType};

use crate::{Value, float_format};

/// How far a result may be from the expected value.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// Equal elements; any NaN equals any NaN, and zeros must agree in sign.
    Exact,
    /// Within so many units in the last place of the result's dtype at the expected value (of a
    /// complex number, at its magnitude), or of the dtype's least normal number.
    Ulps(f64),
    /// As [`Bound::Ulps`], and zeros must agree in sign.
    SignedUlps(f64),
    /// Within so much of the expected value, times its magnitude or 1 if that is greater.
    Close(f64),
}

/// Where results differ from what is expected by more than the bound, if anywhere.
pub fn difference(results: &[Value], expected: &[Value], bound: Bound) -> Option<String> {
    match differences(results, &[expected], bound) {
        Ok(None) => None,
        Err(text) => Some(text),
        Ok(Some((number, wrong))) => {
            let at = wrong[0];
            let (got, want) = (results[number].complex()[at], expected[number].complex()[at]);
            Some(format!("result {number}, element {at}: {got}, not {want}, beyond {bound:?}"))
        }
    }
}

/// The first result with elements that none of the expected results allows, and which elements; a
/// text where not even the shapes are right.
pub(crate) fn differences(
    results: &[Value],
    expected: &[&[Value]],
    bound: Bound,
) -> Result<Option<(usize, Vec<usize>)>, String> {
    for &expected in expected {
        if results.len() != expected.len() {
            return Err(format!("{} results instead of {}", results.len(), expected.len()));
        }
        for (number, (result, expected)) in results.iter().zip(expected).enumerate() {
            if result.shape != expected.shape {
                return Err(format!("result {number} is {}, not {}", result.shape, expected.shape));
            }
        }
    }
    for (number, result) in results.iter().enumerate() {
        let mut wrong: Vec<usize> = (0..result.elements().count()).collect();
        for expected in expected {
            let right = equal_elements(result, &expected[number], bound);
            wrong.retain(|&at| !right[at]);
        }
        if !wrong.is_empty() {
            return Ok(Some((number, wrong)));
        }
    }
    Ok(None)
}

/// For each element whether it is close enough.
fn equal_elements(result: &Value, expected: &Value, bound: Bound) -> Vec<bool> {
    let dtype = result.shape.dtype;
    let inexact = dtype.is_float() || dtype.class() == Class::Complex;
    let bits = result.elements().zip(expected.elements()).map(|(got, want)| got == want);
    let numbers = result.complex().into_iter().zip(expected.complex());
    bits.zip(numbers)
        .map(|(equal, (got, want))| {
            let magnitude = if want.im == 0.0 { want.re.abs() } else { want.norm() };
            let close = |got: f64, want: f64| is_close(got, want, magnitude, dtype, bound);
            equal || (inexact && close(got.re, want.re) && close(got.im, want.im))
        })
        .collect()
}

fn is_close(got: f64, want: f64, magnitude: f64, dtype: DType, bound: Bound) -> bool {
    if got.is_nan() || want.is_nan() {
        return got.is_nan() && want.is_nan();
    }
    if got == want {
        let signed = matches!(bound, Bound::Exact | Bound::SignedUlps(_));
        return !signed || got.is_sign_negative() == want.is_sign_negative();
    }
    if got.is_infinite() || want.is_infinite() {
        return false;
    }
    let distance = (got - want).abs();
    match bound {
        Bound::Exact => false,
        Bound::Ulps(ulps) | Bound::SignedUlps(ulps) => {
            let (epsilon, least) = precision(dtype.real());
            distance <= ulps * epsilon * magnitude.max(least)
        }
        Bound::Close(by) => distance <= by * want.abs().max(1.0),
    }
}

/// Distance from 1 to the next number, and the least normal number.
fn precision(dtype: DType) -> (f64, f64) {
    let epsilon = 2f64.powi(-(float_format::mantissa_bits(dtype) as i32));
    (epsilon, float_format::least_normal(dtype))
}
