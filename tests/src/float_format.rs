//! Small float types bit by bit: the decoder and encoder that expected values are made with.
//!
//! Formats: OCP 8-bit and microscaling specifications, and the FNUZ types of arXiv:2206.02915.

use rectiflow_hlo::DType;

/// Where infinities, NaN and negative zero are.
#[derive(Clone, Copy, PartialEq)]
enum Specials {
    /// As IEEE 754: the top exponent holds infinities and NaN.
    Ieee,
    /// Only the top pattern is NaN; no infinities.
    TopIsNan,
    /// The pattern of negative zero is NaN; no infinities.
    NegativeZeroIsNan,
    /// Every pattern is finite.
    Finite,
    /// An unsigned power of two; the top pattern is NaN.
    Scale,
}

/// Exponent bits, mantissa bits, exponent bias, specials.
fn format(dtype: DType) -> (u32, u32, i32, Specials) {
    match dtype {
        DType::F4E2M1FN => (2, 1, 1, Specials::Finite),
        DType::F8E3M4 => (3, 4, 3, Specials::Ieee),
        DType::F8E4M3 => (4, 3, 7, Specials::Ieee),
        DType::F8E4M3FN => (4, 3, 7, Specials::TopIsNan),
        DType::F8E4M3B11FNUZ => (4, 3, 11, Specials::NegativeZeroIsNan),
        DType::F8E4M3FNUZ => (4, 3, 8, Specials::NegativeZeroIsNan),
        DType::F8E5M2 => (5, 2, 15, Specials::Ieee),
        DType::F8E5M2FNUZ => (5, 2, 16, Specials::NegativeZeroIsNan),
        DType::F8E8M0FNU => (8, 0, 127, Specials::Scale),
        other => panic!("{other} is not a small float"),
    }
}

/// The number that a bit pattern stands for.
pub fn decode(dtype: DType, bits: u8) -> f64 {
    let (exponent_bits, mantissa_bits, bias, specials) = format(dtype);
    if specials == Specials::Scale {
        return if bits == 0xFF { f64::NAN } else { 2f64.powi(i32::from(bits) - bias) };
    }
    let sign = if bits >> (exponent_bits + mantissa_bits) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    let mantissa = i32::from(bits) & ((1 << mantissa_bits) - 1);
    let (top_exponent, top_mantissa) = ((1 << exponent_bits) - 1, (1 << mantissa_bits) - 1);
    match specials {
        Specials::Ieee if exponent == top_exponent && mantissa == 0 => return sign * f64::INFINITY,
        Specials::Ieee if exponent == top_exponent => return f64::NAN,
        Specials::TopIsNan if exponent == top_exponent && mantissa == top_mantissa => {
            return f64::NAN;
        }
        Specials::NegativeZeroIsNan if sign < 0.0 && exponent == 0 && mantissa == 0 => {
            return f64::NAN;
        }
        _ => {}
    }
    let fraction = f64::from(mantissa) / f64::from(1 << mantissa_bits);
    let (whole, power) = if exponent == 0 { (0.0, 1 - bias) } else { (1.0, exponent - bias) };
    sign * (whole + fraction) * 2f64.powi(power)
}

/// The pattern nearest to `value`, ties to the even one; `None` when `value` is beyond the greatest
/// finite number of the type, where types differ in what they do.
pub fn encode(dtype: DType, value: f64) -> Option<u8> {
    let patterns = 0..=if dtype.bits() == 4 { 0x0F } else { 0xFFu8 };
    if value.is_nan() {
        return patterns.clone().find(|&bits| decode(dtype, bits).is_nan());
    }
    let same = |bits: &u8| {
        let number = decode(dtype, *bits);
        number == value && number.is_sign_negative() == value.is_sign_negative()
    };
    if let Some(exact) = patterns.clone().find(same) {
        return Some(exact);
    }
    let finite = patterns.filter(|&bits| decode(dtype, bits).is_finite());
    let greatest = finite.clone().map(|bits| decode(dtype, bits)).fold(0.0, f64::max);
    if value.abs() > greatest {
        return None;
    }
    let distance = |bits: u8| (decode(dtype, bits) - value).abs();
    // Rounding to zero keeps the sign where the type has a negative zero.
    let rank = |bits: &u8| {
        let number = decode(dtype, *bits);
        let other_sign = number == 0.0 && number.is_sign_negative() != value.is_sign_negative();
        (bits & 1, u8::from(other_sign))
    };
    finite.min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then_with(|| rank(a).cmp(&rank(b))))
}
