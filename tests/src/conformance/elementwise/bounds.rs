//! How close a result must be.

use rectiflow_hlo::{Class, DType};

use crate::{Bound, float_format};

/// Ops that IEEE 754 defines to the last bit, or that only choose or move bits, on floats.
const EXACT: &[&str] = &[
    "stablehlo.abs",
    "stablehlo.add",
    "stablehlo.ceil",
    "stablehlo.complex",
    "stablehlo.divide",
    "stablehlo.floor",
    "stablehlo.imag",
    "stablehlo.is_finite",
    "stablehlo.maximum",
    "stablehlo.minimum",
    "stablehlo.multiply",
    "stablehlo.negate",
    "stablehlo.real",
    "stablehlo.remainder",
    "stablehlo.round_nearest_afz",
    "stablehlo.round_nearest_even",
    "stablehlo.sign",
    "stablehlo.sqrt",
    "stablehlo.subtract",
];

/// Those of them that are exact on complex numbers too.
const EXACT_ON_COMPLEX: &[&str] = &[
    "stablehlo.add",
    "stablehlo.imag",
    "stablehlo.negate",
    "stablehlo.real",
    "stablehlo.subtract",
];

/// Ops that need more than [`usual`]: op, dtypes, units in the last place, why.
const WIDER: &[(&str, &[DType], f64, &str)] = &[
    ("stablehlo.sqrt", &[DType::F8E3M4], 1.0, "goes by way of f16, so it rounds twice"),
    ("chlo.erf", &[DType::F32], 3.0, "a rational approximation, 1.8 seen"),
    ("stablehlo.cbrt", &[DType::F64], 3.0, "a power and one Newton step, 2.1 seen"),
    ("stablehlo.exponential_minus_one", &[DType::F32, DType::F64], 3.0, "tanh(x/2), 2.2 seen"),
    ("stablehlo.exponential_minus_one", &[DType::F16], 2.0, "computed in f16, 1.4 seen"),
    ("stablehlo.logistic", &[DType::F16], 4.0, "three ops, each rounded to f16"),
    ("stablehlo.tanh", &[DType::F32, DType::F64], 3.0, "a rational approximation, 2.1 seen"),
    (
        "stablehlo.power",
        &[DType::C64, DType::C128],
        64.0,
        "error grows with the logarithm, 31 seen",
    ),
    ("stablehlo.tan", &[DType::C128], 16.0, "the reference cancels near poles, 8 seen"),
    ("stablehlo.tanh", &[DType::C128], 128.0, "the reference cancels near poles, 73 seen"),
];

/// Functions of complex numbers that take `sinh` as a difference of exponentials, so that their
/// error is that of a number near 1 however small the result.
const ABSOLUTE: &[&str] = &["stablehlo.cosine", "stablehlo.sine"];

/// Units in the last place that an op which is not exact may be off.
fn usual(dtype: DType) -> f64 {
    match dtype {
        // Computed in a wider type, then rounded: at most the neighbour.
        _ if dtype.bits() <= 16 => 1.0,
        DType::F32 | DType::F64 => 2.0,
        _ => 6.0,
    }
}

/// The bound of an op on operands of `dtype`.
pub fn of(op: &str, dtype: DType) -> Bound {
    let wider = WIDER.iter().find(|(name, dtypes, ..)| *name == op && dtypes.contains(&dtype));
    let complex = dtype.class() == Class::Complex;
    let exact = if complex { EXACT_ON_COMPLEX } else { EXACT };
    match wider {
        _ if !complex && !dtype.is_float() => Bound::Exact,
        _ if complex && ABSOLUTE.contains(&op) => {
            let epsilon = 2f64.powi(-(float_format::mantissa_bits(dtype.real()) as i32));
            Bound::Close(4.0 * epsilon)
        }
        // Formulas of complex functions differ in the zeros they give.
        Some((_, _, ulps, _)) if complex => Bound::Ulps(*ulps),
        Some((_, _, ulps, _)) => Bound::SignedUlps(*ulps),
        None if exact.contains(&op) => Bound::Exact,
        None if complex => Bound::Ulps(usual(dtype)),
        None => Bound::SignedUlps(usual(dtype)),
    }
}
