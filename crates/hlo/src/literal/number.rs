//! Numbers before they have an element type.

use std::fmt;

use half::{bf16, f16};

use crate::{Class, DType, error::Mismatch};

/// A number before it has an element type; floats compare by their bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// An integer, or 0 and 1 for `pred`.
    Int(i128),
    /// The bits of an `f64`.
    Float(u64),
    /// The bits of the real and imaginary `f64`.
    Complex(u64, u64),
}

macro_rules! number_from {
    ($($int:ty)*; $($float:ty)*) => {
        $(impl From<$int> for Number {
            fn from(value: $int) -> Number { Number::Int(value as i128) }
        })*
        $(impl From<$float> for Number {
            fn from(value: $float) -> Number { Number::Float(f64::from(value).to_bits()) }
        })*
    };
}
number_from!(bool i8 i16 i32 i64 i128 u8 u16 u32 u64 usize; f32 f64 f16 bf16);

impl Number {
    /// A complex number.
    pub fn complex(re: f64, im: f64) -> Number {
        Number::Complex(re.to_bits(), im.to_bits())
    }

    /// One element of a host array, if this crate can encode the type.
    pub(super) fn to_bytes(self, dtype: DType) -> Option<Vec<u8>> {
        match self {
            Number::Int(i) => Some(i.to_le_bytes()[..dtype.byte_size()].to_vec()),
            Number::Float(bits) => float_bytes(f64::from_bits(bits), dtype),
            Number::Complex(re, im) => {
                let part = |bits| float_bytes(f64::from_bits(bits), dtype.real());
                Some([part(re)?, part(im)?].concat())
            }
        }
    }

    /// The number as `dtype` writes it, or why it cannot.
    pub(super) fn of_type(self, dtype: DType) -> Result<Number, Mismatch> {
        let refuse = || Mismatch::new(format!("a number that {dtype} can hold"), self.to_string());
        match (dtype.class(), self) {
            (Class::Float, Number::Int(i)) => Number::from(i as f64).of_type(dtype),
            (Class::Float, Number::Float(bits)) => {
                if holds(dtype, f64::from_bits(bits)) {
                    Ok(self)
                } else {
                    Err(refuse())
                }
            }
            (Class::Complex, Number::Int(i)) => Number::complex(i as f64, 0.0).of_type(dtype),
            (Class::Complex, Number::Float(bits)) => {
                Number::Complex(bits, 0f64.to_bits()).of_type(dtype)
            }
            (Class::Complex, Number::Complex(re, im)) => {
                let part = dtype.real();
                let held = [re, im].into_iter().all(|bits| holds(part, f64::from_bits(bits)));
                if held { Ok(self) } else { Err(refuse()) }
            }
            (Class::Signed | Class::Unsigned | Class::Pred, Number::Float(bits)) => {
                let value = f64::from_bits(bits);
                if value.fract() != 0.0 || value.abs() > 2f64.powi(64) {
                    return Err(refuse());
                }
                Number::Int(value as i128).of_type(dtype)
            }
            (Class::Signed, Number::Int(i)) => {
                let half = 1i128 << (dtype.bits() - 1);
                if (-half..half).contains(&i) { Ok(self) } else { Err(refuse()) }
            }
            (Class::Unsigned | Class::Pred, Number::Int(i)) => {
                if (0..1i128 << dtype.bits()).contains(&i) { Ok(self) } else { Err(refuse()) }
            }
            _ => Err(refuse()),
        }
    }
}

fn float_bytes(value: f64, dtype: DType) -> Option<Vec<u8>> {
    Some(match dtype {
        DType::F64 => value.to_le_bytes().to_vec(),
        DType::F32 => (value as f32).to_le_bytes().to_vec(),
        DType::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
        DType::BF16 => bf16::from_f64(value).to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// Whether a float type has something near `value`: all but two have zero, both signs and NaN; a
/// finite value must not be beyond the greatest finite one.
fn holds(dtype: DType, value: f64) -> bool {
    let within = !value.is_finite() || value.abs() <= dtype.greatest_finite();
    within
        && match dtype {
            DType::F8E8M0FNU => value > 0.0 || value.is_nan(),
            DType::F4E2M1FN => !value.is_nan(),
            _ => true,
        }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Number::Int(i) => write!(f, "{i}"),
            Number::Float(bits) => write!(f, "{}", f64::from_bits(bits)),
            Number::Complex(re, im) => {
                write!(f, "({}, {})", f64::from_bits(re), f64::from_bits(im))
            }
        }
    }
}
