//! MLIR text of elements.

use std::fmt::Write as _;

use half::{bf16, f16};

use super::Number;
use crate::{Class, DType};

pub(super) fn push_nested(
    text: &mut String,
    dims: &[i64],
    bytes: &[u8],
    element: &dyn Fn(&mut String, &[u8]),
) {
    let Some((&dim, inner)) = dims.split_first() else { return element(text, bytes) };
    text.push('[');
    for (i, part) in bytes.chunks(bytes.len() / dim as usize).enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        push_nested(text, inner, part, element);
    }
    text.push(']');
}

pub(super) fn push_element(text: &mut String, dtype: DType, bytes: &[u8]) {
    let mut wide = [0u8; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u128::from_le_bytes(wide);
    let number = match dtype {
        DType::F64 => Number::Float(bits as u64),
        DType::F32 => Number::from(f32::from_bits(bits as u32)),
        DType::F16 => Number::from(f16::from_bits(bits as u16)),
        DType::BF16 => Number::from(bf16::from_bits(bits as u16)),
        DType::C64 => Number::complex(
            f32::from_bits(bits as u32).into(),
            f32::from_bits((bits >> 32) as u32).into(),
        ),
        DType::C128 => Number::Complex(bits as u64, (bits >> 64) as u64),
        _ if dtype.is_float() => {
            let _ = write!(text, "0x{:02X}", bits & ((1 << dtype.bits()) - 1));
            return;
        }
        _ if dtype.class() == Class::Signed => {
            let unused = 128 - dtype.bits();
            Number::Int(((bits << unused) as i128) >> unused)
        }
        _ => Number::Int((bits & ((1 << dtype.bits()) - 1)) as i128),
    };
    push_number(text, dtype, number);
}

pub(super) fn push_number(text: &mut String, dtype: DType, number: Number) {
    match number {
        Number::Int(i) if dtype == DType::Pred => {
            text.push_str(if i == 0 { "false" } else { "true" })
        }
        Number::Int(i) => {
            let _ = write!(text, "{i}");
        }
        Number::Float(bits) => push_float(text, dtype, f64::from_bits(bits)),
        Number::Complex(re, im) => {
            text.push('(');
            push_float(text, dtype.real(), f64::from_bits(re));
            text.push_str(", ");
            push_float(text, dtype.real(), f64::from_bits(im));
            text.push(')');
        }
    }
}

/// Finite values as decimals that name the `f64` exactly; MLIR rounds them to `dtype` itself.
fn push_float(text: &mut String, dtype: DType, value: f64) {
    if value.is_finite() {
        let digits = format!("{value:e}");
        let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
        let point = if mantissa.contains('.') { "" } else { ".0" };
        let _ = write!(text, "{mantissa}{point}e{exponent}");
        return;
    }
    let _ = match dtype {
        DType::F64 => write!(text, "0x{:016X}", value.to_bits()),
        DType::F16 => write!(text, "0x{:04X}", f16::from_f64(value).to_bits()),
        DType::BF16 => write!(text, "0x{:04X}", bf16::from_f64(value).to_bits()),
        DType::F32 => write!(text, "0x{:08X}", (value as f32).to_bits()),
        small => write!(text, "0x{:02X}", small_non_finite(small, value)),
    };
}

/// Bits of infinity or NaN in the float types of 8 bits; types without infinities give their NaN.
fn small_non_finite(dtype: DType, value: f64) -> u8 {
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    let (infinity, nan) = match dtype {
        DType::F8E5M2 => (0x7C, 0x7E),
        DType::F8E4M3 => (0x78, 0x7C),
        DType::F8E3M4 => (0x70, 0x78),
        DType::F8E4M3FN => (0x7F, 0x7F),
        DType::F8E8M0FNU => return 0xFF,
        DType::F4E2M1FN => return 0x7 | (sign >> 4),
        _ => return 0x80, // the FNUZ types have a single NaN, where negative zero would be
    };
    sign | if value.is_nan() { nan } else { infinity }
}
