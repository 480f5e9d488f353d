//! Constant values: one number repeated, or dense elements.

use std::{fmt, fmt::Write as _, sync::Arc};

use half::{bf16, f16};

use crate::{Class, DType, Shape, error::Mismatch};

/// The value of a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Literal {
    shape: Shape,
    data: Data,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Data {
    Splat(Number),
    /// Row-major, little endian, [`DType::byte_size`] bytes an element.
    Dense(Arc<[u8]>),
}

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

    /// The number as `dtype` writes it, or why it cannot.
    fn of_type(self, dtype: DType) -> Result<Number, Mismatch> {
        let refuse = || Mismatch::new(format!("a number that {dtype} can hold"), self.to_string());
        match (dtype.class(), self) {
            (Class::Float, Number::Int(i)) => Ok(Number::from(i as f64)),
            (Class::Float, Number::Float(_)) => Ok(self),
            (Class::Complex, Number::Int(i)) => Ok(Number::complex(i as f64, 0.0)),
            (Class::Complex, Number::Float(bits)) => Ok(Number::Complex(bits, 0f64.to_bits())),
            (Class::Complex, Number::Complex(..)) => Ok(self),
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

/// A Rust type that is an element type.
pub trait Element: Copy {
    /// The element type.
    const DTYPE: DType;
    /// Appends the element's little endian bytes.
    fn push_bytes(self, bytes: &mut Vec<u8>);
}

macro_rules! elements {
    ($($ty:ty = $Variant:ident),*) => {
        $(impl Element for $ty {
            const DTYPE: DType = DType::$Variant;
            fn push_bytes(self, bytes: &mut Vec<u8>) { bytes.extend(self.to_le_bytes()); }
        })*
    };
}
elements!(
    i8 = I8,
    i16 = I16,
    i32 = I32,
    i64 = I64,
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    f16 = F16,
    bf16 = BF16,
    f32 = F32,
    f64 = F64
);

impl Element for bool {
    const DTYPE: DType = DType::Pred;
    fn push_bytes(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

impl Literal {
    /// Every element of `shape` is `value`. An integer is accepted for a float type, and a float
    /// without a fraction for an integer type.
    ///
    /// # Errors
    /// `value` is out of range of the element type, or `shape` has no elements to fill (a tuple).
    pub fn splat(shape: Shape, value: impl Into<Number>) -> Result<Literal, Mismatch> {
        let number = value.into().of_type(shape.dtype)?;
        Ok(Literal { shape, data: Data::Splat(number) })
    }

    /// Elements in row-major order.
    ///
    /// # Errors
    /// The number of elements is not the product of `dims`.
    pub fn from_slice<T: Element>(
        elements: &[T],
        dims: impl Into<Vec<i64>>,
    ) -> Result<Literal, Mismatch> {
        let mut bytes = Vec::with_capacity(elements.len() * T::DTYPE.byte_size());
        elements.iter().for_each(|element| element.push_bytes(&mut bytes));
        Literal::from_bytes(Shape::new(T::DTYPE, dims), bytes)
    }

    /// Elements in row-major order, little endian, [`DType::byte_size`] bytes each (`pred` and
    /// sub-byte types take a byte, the value in its low bits).
    ///
    /// # Errors
    /// The number of bytes is not that of `shape`.
    pub fn from_bytes(shape: Shape, bytes: impl Into<Arc<[u8]>>) -> Result<Literal, Mismatch> {
        let bytes = bytes.into();
        if shape.byte_size() != i64::try_from(bytes.len()).ok() || shape.dtype.bits() == 0 {
            let expected = match shape.byte_size() {
                Some(size) if shape.dtype.bits() > 0 => format!("{size} bytes for {shape}"),
                _ => "a shape that a constant can have".to_string(),
            };
            return Err(Mismatch::new(expected, format!("{} bytes of {shape}", bytes.len())));
        }
        Ok(Literal { shape, data: Data::Dense(bytes) })
    }

    /// Shape of the constant.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Bytes the graph's text must carry: one element for a splat.
    pub(crate) fn stored_bytes(&self) -> usize {
        match &self.data {
            Data::Splat(_) => self.shape.dtype.byte_size(),
            Data::Dense(bytes) => bytes.len(),
        }
    }

    /// MLIR's `dense<..> : tensor<..>`.
    pub(crate) fn mlir(&self) -> String {
        let mut text = String::from("dense<");
        match &self.data {
            Data::Splat(number) => push_number(&mut text, self.shape.dtype, *number),
            Data::Dense(bytes) => self.push_dense(&mut text, bytes),
        }
        let _ = write!(text, "> : {}", self.shape);
        text
    }

    fn push_dense(&self, text: &mut String, bytes: &[u8]) {
        const READABLE: usize = 64;
        let size = self.shape.dtype.byte_size();
        // MLIR packs bits in its hex form, so types below a byte stay readable at any length.
        if self.shape.dtype.bits() >= 8 && bytes.len() / size > READABLE {
            text.push_str("\"0x");
            bytes.iter().for_each(|byte| {
                let _ = write!(text, "{byte:02X}");
            });
            text.push('"');
            return;
        }
        if bytes.is_empty() {
            return; // dense<> is how MLIR writes no elements
        }
        push_nested(text, &self.shape.dims, bytes, &|text, element| {
            push_element(text, self.shape.dtype, element);
        });
    }
}

fn push_nested(
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

fn push_element(text: &mut String, dtype: DType, bytes: &[u8]) {
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
            let _ = write!(text, "0x{bits:02X}");
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

fn push_number(text: &mut String, dtype: DType, number: Number) {
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
