//! Multi-indices, numbers wide enough to compute references in, and sample values.

use num_complex::Complex64;
use rectiflow_hlo::{Class, DType, Shape};

use crate::{Value, float_format};

/// Every index of `dims`, in row-major order.
pub fn indices(dims: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &dim in dims {
        let longer = |index: &Vec<i64>| {
            let index = index.clone();
            (0..dim).map(move |i| [&index[..], &[i]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Row-major position of `index`.
pub fn offset(dims: &[i64], index: &[i64]) -> usize {
    assert_eq!(dims.len(), index.len(), "rank");
    let inside = dims.iter().zip(index).all(|(&dim, &i)| (0..dim).contains(&i));
    assert!(inside, "{index:?} is outside {dims:?}");
    dims.iter().zip(index).fold(0, |at, (&dim, &i)| at * dim + i) as usize
}

/// Whether `index` is an index of `dims`.
pub fn contains(dims: &[i64], index: &[i64]) -> bool {
    dims.iter().zip(index).all(|(&dim, &i)| (0..dim).contains(&i))
}

/// The value of `dims` whose element at each index is that of `value` at `source(index)`.
pub fn arrange(value: &Value, dims: &[i64], source: impl Fn(&[i64]) -> Vec<i64>) -> Value {
    let elements: Vec<&[u8]> = value.elements().collect();
    let element = |index: &Vec<i64>| elements[offset(&value.shape.dims, &source(index))].to_vec();
    let bytes = indices(dims).iter().flat_map(element).collect();
    Value::from_bytes(value.shape.with_dims(dims), bytes)
}

/// Numbers that a reference computes in before it rounds or wraps to a dtype.
pub trait Wide: Copy + PartialEq + std::fmt::Debug {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Sum.
    fn plus(self, rhs: Self) -> Self;
    /// Product.
    fn times(self, rhs: Self) -> Self;
    /// The elements.
    fn read(value: &Value) -> Vec<Self>;
    /// Rounded or wrapped; on `pred`, anything but 0 is true, as its sum is `or`.
    fn write(shape: Shape, numbers: &[Self]) -> Value;
}

impl Wide for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn plus(self, rhs: f64) -> f64 {
        self + rhs
    }
    fn times(self, rhs: f64) -> f64 {
        self * rhs
    }
    fn read(value: &Value) -> Vec<f64> {
        value.reals()
    }
    fn write(shape: Shape, numbers: &[f64]) -> Value {
        Value::from_reals(shape, numbers)
    }
}

impl Wide for i128 {
    const ZERO: i128 = 0;
    const ONE: i128 = 1;
    fn plus(self, rhs: i128) -> i128 {
        self.wrapping_add(rhs)
    }
    fn times(self, rhs: i128) -> i128 {
        self.wrapping_mul(rhs)
    }
    fn read(value: &Value) -> Vec<i128> {
        value.integers()
    }
    fn write(shape: Shape, numbers: &[i128]) -> Value {
        if shape.dtype == DType::Pred {
            let truth: Vec<i128> = numbers.iter().map(|&n| i128::from(n != 0)).collect();
            return Value::from_integers(shape, &truth);
        }
        Value::from_integers(shape, numbers)
    }
}

impl Wide for Complex64 {
    const ZERO: Complex64 = Complex64::ZERO;
    const ONE: Complex64 = Complex64::ONE;
    fn plus(self, rhs: Complex64) -> Complex64 {
        self + rhs
    }
    fn times(self, rhs: Complex64) -> Complex64 {
        self * rhs
    }
    fn read(value: &Value) -> Vec<Complex64> {
        value.complex()
    }
    fn write(shape: Shape, numbers: &[Complex64]) -> Value {
        Value::from_complex(shape, numbers)
    }
}

/// Calls a function that is generic over [`Wide`] with the type that suits a dtype.
macro_rules! with_wide {
    ($dtype:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $dtype.class() {
            rectiflow_hlo::Class::Complex => $function::<num_complex::Complex64>($($argument),*),
            rectiflow_hlo::Class::Float => $function::<f64>($($argument),*),
            _ => $function::<i128>($($argument),*),
        }
    };
}
pub(crate) use with_wide;

/// Random 64 bits from a number (Vigna's splitmix64).
pub fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Random bits of 64 for each element of `dims`.
fn randoms(dims: &[i64], seed: u64) -> Vec<u64> {
    (0..indices(dims).len() as u64).map(|i| random(seed << 20 | i)).collect()
}

/// Random numbers of a few bits, such that sums and products of some of them are exact in every
/// dtype that has room for them.
pub fn small(dtype: DType, dims: &[i64], seed: u64) -> Value {
    let shape = Shape::new(dtype, dims);
    let randoms = randoms(dims, seed);
    let whole = |z: &u64| match (dtype.class(), dtype.bits()) {
        (Class::Pred, _) => (z & 1) as f64,
        (Class::Unsigned, 2) => (z % 4) as f64,
        (Class::Unsigned, _) => (z % 6) as f64,
        (Class::Signed, 2) => (z % 4) as f64 - 2.0,
        (Class::Float, _) if dtype == DType::F8E8M0FNU => [0.5, 1.0, 2.0, 4.0][(z % 4) as usize],
        _ => (z % 7) as f64 - 3.0,
    };
    if dtype.class() == Class::Complex {
        let both = |z: &u64| Complex64::new(whole(z), whole(&(z >> 8)));
        return Value::from_complex(shape, &randoms.iter().map(both).collect::<Vec<_>>());
    }
    Value::from_reals(shape, &randoms.iter().map(whole).collect::<Vec<_>>())
}

/// Random bit patterns: every kind of value of the dtype, but no NaN, whose bits need not survive.
pub fn any(dtype: DType, dims: &[i64], seed: u64) -> Value {
    let shape = Shape::new(dtype, dims);
    let pattern = |z: &u64| {
        let part = |z: u64| match (dtype.real(), dtype.is_float()) {
            (DType::F32, _) => (f64::from((z as u32 as i32) >> 8) / 256.0).to_bits(),
            (DType::F64, _) => ((z as i64 >> 12) as f64 / 4096.0).to_bits(),
            (DType::F16, _) => ((z as i16 >> 4) as f64 / 16.0).to_bits(),
            (DType::BF16, _) => ((z as i8) as f64 / 16.0).to_bits(),
            (small, true) => {
                let bits = (z & ((1 << small.bits()) - 1)) as u8;
                let number = float_format::decode(small, bits);
                (if number.is_nan() { 1.0 } else { number }).to_bits()
            }
            _ => z,
        };
        (part(*z), part(random(*z)))
    };
    let patterns: Vec<(u64, u64)> = randoms(dims, seed).iter().map(pattern).collect();
    let (re, im) = (|p: &(u64, u64)| f64::from_bits(p.0), |p: &(u64, u64)| f64::from_bits(p.1));
    match dtype.class() {
        Class::Float => Value::from_reals(shape, &patterns.iter().map(re).collect::<Vec<_>>()),
        Class::Complex => {
            let number = |p: &(u64, u64)| Complex64::new(re(p), im(p));
            Value::from_complex(shape, &patterns.iter().map(number).collect::<Vec<_>>())
        }
        _ => {
            let whole: Vec<i128> = patterns.iter().map(|p| i128::from(p.0)).collect();
            Value::from_integers(shape, &whole)
        }
    }
}

/// A scalar of an integer or float dtype.
pub fn scalar(dtype: DType, number: f64) -> Value {
    Value::from_reals(Shape::scalar(dtype), &[number])
}
