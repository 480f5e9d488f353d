//! Operands that the CPU plugin is known to get wrong, by name. The conformance cases leave them
//! out; a test runs each and fails when the plugin gets them right, so that the entry can go.

use num_complex::Complex64;
use rectiflow_hlo::{Class, DType, Row};

use crate::Value;

use super::reference::is_subnormal;

/// Operands that the plugin gets wrong.
pub struct Quirk {
    /// What the plugin does.
    pub what: &'static str,
    /// Mnemonics of the ops.
    pub ops: &'static [&'static str],
    /// Dtypes on which it does.
    pub of: fn(DType) -> bool,
    /// Whether these operands, one element each, are affected.
    pub hits: fn(DType, &[Complex64]) -> bool,
}

/// Every one known.
pub const QUIRKS: &[Quirk] = &[
    Quirk {
        what: "subnormals compare as zeros, but are returned as they are",
        ops: &["stablehlo.maximum", "stablehlo.minimum"],
        of: |dtype| matches!(dtype, DType::BF16),
        hits: |dtype, x| x.iter().any(|x| is_subnormal(dtype, x.re)),
    },
    Quirk {
        what: "counts bits of a negative number as if it had eight",
        ops: &["stablehlo.popcnt"],
        of: |dtype| dtype == DType::I4,
        hits: |_, x| x[0].re < 0.0,
    },
    Quirk {
        what: "reads six bits of the exponent, and takes a large unsigned one for negative",
        ops: &["stablehlo.power"],
        of: |dtype| dtype.is_integer() && dtype.bits() >= 8,
        hits: |_, x| x[1].re >= 64.0,
    },
    Quirk {
        what: "a subnormal gives -5.6e-16",
        ops: &["stablehlo.cbrt"],
        of: |dtype| matches!(dtype, DType::F32 | DType::BF16),
        hits: |dtype, x| is_subnormal(dtype, x[0].re),
    },
    Quirk {
        what: "subnormals give NaN or the wrong half-plane",
        ops: &["stablehlo.atan2"],
        of: |dtype| matches!(dtype, DType::F32 | DType::F64 | DType::BF16),
        hits: |dtype, x| x.iter().any(|x| is_subnormal(dtype, x.re)),
    },
    Quirk {
        what: "a subnormal base has the exponent of a zero",
        ops: &["stablehlo.power"],
        of: |dtype| matches!(dtype, DType::F32 | DType::F64 | DType::BF16),
        hits: |dtype, x| is_subnormal(dtype, x[0].re),
    },
    Quirk {
        what: "e^-x overflows f16 on the way, so the result is zero",
        ops: &["stablehlo.logistic"],
        of: |dtype| dtype == DType::F16,
        hits: |_, x| x[0].re < -11.0,
    },
    Quirk {
        what: "below the negative axis (imaginary part -0) is taken for above it",
        ops: &["stablehlo.sqrt"],
        of: |dtype| dtype.class() == Class::Complex,
        hits: |_, x| x[0].re < 0.0 && x[0].im == 0.0 && x[0].im.is_sign_negative(),
    },
    Quirk {
        what: "which parts are NaN and which infinite depends on the formula",
        ops: &["stablehlo.rsqrt"],
        of: |dtype| dtype.class() == Class::Complex,
        hits: |_, x| x[0].norm() == 0.0,
    },
    Quirk {
        what: "division by zero is infinite in the parts of the dividend that are not zero",
        ops: &["stablehlo.divide"],
        of: |dtype| dtype.class() == Class::Complex,
        hits: |_, x| x[1].norm() == 0.0,
    },
    Quirk {
        what: "powers of zero are NaN unless the exponent is real",
        ops: &["stablehlo.power"],
        of: |dtype| dtype.class() == Class::Complex,
        hits: |_, x| x[0].norm() == 0.0,
    },
];

/// Quirks of an op on a dtype.
pub fn of(row: &Row, dtype: DType) -> impl Iterator<Item = &'static Quirk> {
    QUIRKS.iter().filter(move |quirk| quirk.ops.contains(&row.mnemonic) && (quirk.of)(dtype))
}

/// The positions at which the operands, all of rank 1, are as asked.
pub fn keep(operands: &[Value], wanted: impl Fn(&[Complex64]) -> bool) -> Vec<Value> {
    let columns: Vec<Vec<Complex64>> = operands.iter().map(Value::complex).collect();
    let row = |at: usize| columns.iter().map(|column| column[at]).collect::<Vec<_>>();
    let kept: Vec<usize> = (0..columns[0].len()).filter(|&at| wanted(&row(at))).collect();
    let select = |value: &Value| {
        let elements: Vec<&[u8]> = value.elements().collect();
        let bytes = kept.iter().flat_map(|&at| elements[at].iter().copied()).collect();
        Value::from_bytes(value.shape.with_dims([kept.len() as i64]), bytes)
    };
    operands.iter().map(select).collect()
}
