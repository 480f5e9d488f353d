//! Arrays on the host, of every element type.

use half::{bf16, f16};
use num_complex::Complex64;
use rectiflow_hlo::{Class, DType, Element, Shape};

use crate::float_format;

/// A dense row-major array; every element takes [`DType::byte_size`] bytes, little endian, the
/// value of a sub-byte type in the low bits and a signed one extended.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Dtype and dims.
    pub shape: Shape,
    /// Elements.
    pub bytes: Vec<u8>,
}

impl Value {
    /// From elements of a Rust type.
    pub fn of<T: Element>(dims: impl Into<Vec<i64>>, elements: &[T]) -> Value {
        let mut bytes = Vec::new();
        elements.iter().for_each(|element| element.push_bytes(&mut bytes));
        Value::from_bytes(Shape::new(T::DTYPE, dims), bytes)
    }

    /// From bytes as the type describes.
    pub fn from_bytes(shape: Shape, bytes: Vec<u8>) -> Value {
        assert_eq!(shape.byte_size(), Some(bytes.len() as i64), "bytes of {shape}");
        Value { shape, bytes }
    }

    /// Floats rounded to the dtype as [`float_format::round`] says; integers and `pred` from whole
    /// numbers, wrapped; complex types from their real part.
    pub fn from_reals(shape: Shape, numbers: &[f64]) -> Value {
        let dtype = shape.dtype;
        let bytes = numbers.iter().flat_map(|&number| real_bytes(dtype, number)).collect();
        Value::from_bytes(shape, bytes)
    }

    /// Integers wrapped to the width of the dtype, which must be an integer type or `pred`.
    pub fn from_integers(shape: Shape, numbers: &[i128]) -> Value {
        let bytes = numbers.iter().flat_map(|&n| integer_bytes(shape.dtype, n)).collect();
        Value::from_bytes(shape, bytes)
    }

    /// Complex numbers rounded to the dtype, which must be complex.
    pub fn from_complex(shape: Shape, numbers: &[Complex64]) -> Value {
        let part = shape.dtype.real();
        let both = |z: &Complex64| [real_bytes(part, z.re), real_bytes(part, z.im)].concat();
        let bytes = numbers.iter().flat_map(both).collect();
        Value::from_bytes(shape, bytes)
    }

    /// Elements one by one, as bytes.
    pub fn elements(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.shape.dtype.byte_size().max(1))
    }

    /// Elements as `f64`: floats exactly, integers and `pred` as their value, complex by real part.
    pub fn reals(&self) -> Vec<f64> {
        self.elements().map(|bytes| real(self.shape.dtype, bytes)).collect()
    }

    /// Elements of an integer type or `pred`.
    pub fn integers(&self) -> Vec<i128> {
        self.elements().map(|bytes| integer(self.shape.dtype, bytes)).collect()
    }

    /// Elements as complex numbers; real types have no imaginary part.
    pub fn complex(&self) -> Vec<Complex64> {
        let part = self.shape.dtype.real();
        let number = |bytes: &[u8]| match self.shape.dtype.class() {
            Class::Complex => {
                let (re, im) = bytes.split_at(bytes.len() / 2);
                Complex64::new(real(part, re), real(part, im))
            }
            _ => Complex64::new(real(part, bytes), 0.0),
        };
        self.elements().map(number).collect()
    }
}

fn low_bits(bytes: &[u8]) -> u128 {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(wide)
}

fn integer(dtype: DType, bytes: &[u8]) -> i128 {
    wrap(dtype, low_bits(bytes))
}

fn integer_bytes(dtype: DType, number: i128) -> Vec<u8> {
    wrap(dtype, number as u128).to_le_bytes()[..dtype.byte_size()].to_vec()
}

/// The number that the low bits stand for, as many as the dtype has.
fn wrap(dtype: DType, bits: u128) -> i128 {
    let unused = 128 - dtype.bits();
    match dtype.class() {
        Class::Signed => ((bits << unused) as i128) >> unused,
        _ => (bits << unused >> unused) as i128,
    }
}

fn real(dtype: DType, bytes: &[u8]) -> f64 {
    let bits = low_bits(bytes);
    match (dtype.class(), dtype) {
        (_, DType::F64) => f64::from_bits(bits as u64),
        (_, DType::F32) => f32::from_bits(bits as u32).into(),
        (_, DType::F16) => f16::from_bits(bits as u16).into(),
        (_, DType::BF16) => bf16::from_bits(bits as u16).into(),
        (Class::Float, small) => float_format::decode(small, bits as u8),
        (Class::Complex, _) => real(dtype.real(), &bytes[..bytes.len() / 2]),
        _ => integer(dtype, bytes) as f64,
    }
}

fn real_bytes(dtype: DType, number: f64) -> Vec<u8> {
    match (dtype.class(), dtype) {
        (_, DType::F64) => number.to_le_bytes().to_vec(),
        (_, DType::F32) => (number as f32).to_le_bytes().to_vec(),
        // `half` goes by way of f32 and would round twice.
        (_, DType::F16) => f16::from_f64(float_format::round(dtype, number)).to_le_bytes().to_vec(),
        (_, DType::BF16) => {
            bf16::from_f64(float_format::round(dtype, number)).to_le_bytes().to_vec()
        }
        (Class::Float, small) => vec![float_format::encode(small, number)],
        (Class::Complex, _) => {
            [real_bytes(dtype.real(), number), real_bytes(dtype.real(), 0.0)].concat()
        }
        _ => {
            assert!(number.fract() == 0.0, "{number} is no {dtype}");
            integer_bytes(dtype, number as i128)
        }
    }
}
