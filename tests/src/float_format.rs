//! Float types by their bits: the rounding, decoder and encoder that expected values are made with.
//!
//! Formats: IEEE 754, OCP 8-bit and microscaling specifications, and the FNUZ types of
//! arXiv:2206.02915.

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
        DType::BF16 => (8, 7, 127, Specials::Ieee),
        DType::F16 => (5, 10, 15, Specials::Ieee),
        DType::F32 => (8, 23, 127, Specials::Ieee),
        DType::F64 => (11, 52, 1023, Specials::Ieee),
        other => panic!("{other} is no float"),
    }
}

/// Mantissa bits of a float type.
pub fn mantissa_bits(dtype: DType) -> u32 {
    format(dtype).1
}

/// The least positive number of a float type that has all its mantissa bits.
pub fn least_normal(dtype: DType) -> f64 {
    let (_, _, bias, specials) = format(dtype);
    2f64.powi(if specials == Specials::Scale { -bias } else { 1 - bias })
}

/// The greatest finite number of a float type.
pub fn greatest(dtype: DType) -> f64 {
    let (exponent_bits, mantissa_bits, bias, specials) = format(dtype);
    let top = (1 << exponent_bits) - 1 - bias;
    let fraction = |less: i32| 2.0 - f64::from(1 + less) * 2f64.powi(-(mantissa_bits as i32));
    match specials {
        Specials::Ieee => fraction(0) * 2f64.powi(top - 1),
        Specials::TopIsNan => fraction(1) * 2f64.powi(top),
        Specials::NegativeZeroIsNan | Specials::Finite => fraction(0) * 2f64.powi(top),
        Specials::Scale => 2f64.powi(top - 1),
    }
}

/// The nearest multiple of the unit that `mantissa_bits` leave at `value`, ties to the even one;
/// below 2^`least_exponent` the unit stays what it is there. Scaling by powers of two is exact, so
/// this rounds once.
pub fn round_mantissa(value: f64, mantissa_bits: u32, least_exponent: i32) -> f64 {
    if value == 0.0 || !value.is_finite() || mantissa_bits >= 52 {
        return value;
    }
    let exponent = (value.to_bits() >> 52 & 0x7FF) as i32 - 1023;
    let unit = exponent.max(least_exponent) - mantissa_bits as i32;
    // Two steps, since 2^-unit alone may be beyond f64.
    let (half, rest) = (unit / 2, unit - unit / 2);
    let scaled = value * 2f64.powi(-half) * 2f64.powi(-rest);
    scaled.round_ties_even() * 2f64.powi(half) * 2f64.powi(rest)
}

/// The nearest number of a float type, ties to the even one. Beyond the greatest it is infinity
/// where the type has that, else NaN, else the greatest.
pub fn round(dtype: DType, value: f64) -> f64 {
    let (_, mantissa_bits, bias, specials) = format(dtype);
    if specials == Specials::Scale {
        return round_to_power_of_two(value);
    }
    let rounded = round_mantissa(value, mantissa_bits, 1 - bias);
    let (is_beyond, infinity) = (rounded.abs() > greatest(dtype), f64::INFINITY.copysign(value));
    match specials {
        Specials::Ieee if is_beyond => infinity,
        Specials::TopIsNan | Specials::NegativeZeroIsNan if is_beyond => f64::NAN,
        Specials::NegativeZeroIsNan if rounded == 0.0 => 0.0,
        // A float without NaN has nothing to say it with; its negative zero is what it becomes.
        Specials::Finite if value.is_nan() => -0.0,
        Specials::Finite if is_beyond => greatest(dtype).copysign(value),
        _ => rounded,
    }
}

fn round_to_power_of_two(value: f64) -> f64 {
    let rounded = round_mantissa(value, 0, -127);
    let fits = (2f64.powi(-127)..=2f64.powi(127)).contains(&rounded);
    if fits { rounded } else { f64::NAN }
}

/// The number that a bit pattern of a type of at most 8 bits stands for.
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

/// The bits of [`round`] in a type of at most 8 bits.
pub fn encode(dtype: DType, value: f64) -> u8 {
    let rounded = round(dtype, value);
    let (exponent_bits, mantissa_bits, bias, specials) = format(dtype);
    let sign = u32::from(rounded.is_sign_negative()) << (exponent_bits + mantissa_bits);
    let top = ((1u32 << exponent_bits) - 1) << mantissa_bits;
    if rounded.is_infinite() {
        return (sign | top) as u8;
    }
    if rounded.is_nan() {
        return match specials {
            Specials::Ieee => top as u8 | 1 << (mantissa_bits - 1),
            Specials::TopIsNan => top as u8 | ((1 << mantissa_bits) - 1),
            Specials::NegativeZeroIsNan => 0x80,
            Specials::Scale => 0xFF,
            Specials::Finite => unreachable!("{dtype} has no NaN, so nothing is rounded to it"),
        };
    }
    let exponent = (rounded.to_bits() >> 52 & 0x7FF) as i32 - 1023;
    if specials == Specials::Scale {
        return (exponent + bias) as u8;
    }
    // Below the least normal number the exponent stays and the leading one goes.
    let exponent = exponent.max(1 - bias);
    let steps = (rounded.abs() * 2f64.powi(mantissa_bits as i32 - exponent)) as u32;
    (sign | ((((exponent + bias - 1) as u32) << mantissa_bits) + steps)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: fn() -> Vec<DType> = || {
        DType::ALL.iter().copied().filter(|dtype| dtype.is_float() && dtype.bits() <= 8).collect()
    };

    #[test]
    fn every_pattern_is_its_own_rounding() {
        for dtype in SMALL() {
            for bits in 0..=((1u32 << dtype.bits()) - 1) as u8 {
                let number = decode(dtype, bits);
                let again = encode(dtype, number);
                let same = again == bits || (number.is_nan() && decode(dtype, again).is_nan());
                assert!(same, "{dtype} {number}: {again:#x}, not {bits:#x}");
            }
        }
    }

    #[test]
    fn a_number_between_two_goes_to_the_nearer_and_halves_to_even() {
        for dtype in SMALL() {
            let patterns = 0..((1u32 << (dtype.bits() - 1)) - 1) as u8;
            for (low, high) in patterns.map(|bits| (decode(dtype, bits), decode(dtype, bits + 1))) {
                if !low.is_finite() || !high.is_finite() || dtype == DType::F8E8M0FNU {
                    continue;
                }
                let middle = (low + high) / 2.0;
                assert_eq!(round(dtype, middle - (high - low) / 64.0), low, "{dtype}");
                assert_eq!(round(dtype, middle + (high - low) / 64.0), high, "{dtype}");
                let even = if encode(dtype, low) & 1 == 0 { low } else { high };
                assert_eq!(round(dtype, middle), even, "{dtype} {middle}");
            }
        }
    }

    #[test]
    fn single_precision_rounds_as_the_machine_does() {
        for bits in (0..2000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
            let value = f64::from_bits(bits);
            let (ours, machine) = (round(DType::F32, value), f64::from(value as f32));
            assert!(ours == machine || value.is_nan(), "{value}: {ours}, {machine}");
        }
    }
}
