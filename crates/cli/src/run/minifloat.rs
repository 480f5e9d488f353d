//! Floats of 8 bits and fewer, for printing.

use rectiflow_pjrt::ElementType;

/// How a narrow float's largest codes are used.
#[derive(Clone, Copy, PartialEq)]
enum Specials {
    /// The highest exponent is for infinities and NaNs.
    Ieee,
    /// All ones is NaN, and there are no infinities.
    Fn,
    /// Minus zero is NaN, and there are no infinities.
    Fnuz,
    /// All codes are numbers.
    None,
}

/// Bits of exponent and mantissa, and the exponent's bias.
struct Format(u32, u32, i32, Specials);

fn format(element_type: ElementType) -> Option<Format> {
    Some(match element_type {
        ElementType::F8E5M2 => Format(5, 2, 15, Specials::Ieee),
        ElementType::F8E4M3 => Format(4, 3, 7, Specials::Ieee),
        ElementType::F8E3M4 => Format(3, 4, 3, Specials::Ieee),
        ElementType::F8E4M3FN => Format(4, 3, 7, Specials::Fn),
        ElementType::F8E4M3B11FNUZ => Format(4, 3, 11, Specials::Fnuz),
        ElementType::F8E5M2FNUZ => Format(5, 2, 16, Specials::Fnuz),
        ElementType::F8E4M3FNUZ => Format(4, 3, 8, Specials::Fnuz),
        ElementType::F4E2M1FN => Format(2, 1, 1, Specials::None),
        ElementType::F6E2M3FN => Format(2, 3, 1, Specials::None),
        ElementType::F6E3M2FN => Format(3, 2, 3, Specials::None),
        _ => return None,
    })
}

/// The number that a byte stands for; `None` for types that are no narrow floats.
pub(super) fn value(byte: u8, element_type: ElementType) -> Option<f32> {
    if element_type == ElementType::F8E8M0FNU {
        return Some(if byte == 0xff { f32::NAN } else { 2f32.powi(i32::from(byte) - 127) });
    }
    let Format(exponent_bits, mantissa_bits, bias, specials) = format(element_type)?;
    let code = u32::from(byte);
    let mantissa = code & ((1 << mantissa_bits) - 1);
    let largest = (1 << exponent_bits) - 1;
    let exponent = (code >> mantissa_bits) & largest;
    let is_negative = code >> (mantissa_bits + exponent_bits) & 1 == 1;
    let sign = if is_negative { -1.0 } else { 1.0 };
    let all_ones = mantissa == (1 << mantissa_bits) - 1 && exponent == largest;
    Some(match specials {
        Specials::Ieee if exponent == largest && mantissa == 0 => sign * f32::INFINITY,
        Specials::Ieee if exponent == largest => f32::NAN,
        Specials::Fn if all_ones => f32::NAN,
        Specials::Fnuz if is_negative && exponent == 0 && mantissa == 0 => f32::NAN,
        _ => {
            let fraction = mantissa as f32 / (1 << mantissa_bits) as f32;
            let (whole, power) = if exponent == 0 { (0.0, 1) } else { (1.0, exponent as i32) };
            sign * (whole + fraction) * 2f32.powi(power - bias)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest, smallest and special codes, from the definitions of the formats.
    #[test]
    fn codes_stand_for_their_numbers() {
        let is = |element_type, byte, expected: f32| {
            let found = value(byte, element_type).unwrap();
            let same = found == expected || found.is_nan() && expected.is_nan();
            assert!(same, "{element_type} {byte:#x}: {found}, not {expected}");
        };
        is(ElementType::F8E4M3FN, 0x7e, 448.0);
        is(ElementType::F8E4M3FN, 0x7f, f32::NAN);
        is(ElementType::F8E4M3FN, 0x01, 2f32.powi(-9));
        is(ElementType::F8E4M3FN, 0xb8, -1.0);
        is(ElementType::F8E5M2, 0x7b, 57344.0);
        is(ElementType::F8E5M2, 0xfc, f32::NEG_INFINITY);
        is(ElementType::F8E4M3, 0x77, 240.0);
        is(ElementType::F8E3M4, 0x6f, 15.5);
        is(ElementType::F8E4M3FNUZ, 0x7f, 240.0);
        is(ElementType::F8E4M3FNUZ, 0x80, f32::NAN);
        is(ElementType::F8E5M2FNUZ, 0x7f, 57344.0);
        is(ElementType::F8E4M3B11FNUZ, 0x7f, 30.0);
        is(ElementType::F8E8M0FNU, 127, 1.0);
        is(ElementType::F4E2M1FN, 0x7, 6.0);
        is(ElementType::F4E2M1FN, 0x9, -0.5);
        is(ElementType::F6E2M3FN, 0x1f, 7.5);
        is(ElementType::F6E3M2FN, 0x1f, 28.0);
        assert_eq!(value(1, ElementType::F32), None);
    }
}
