//! Numbers worth trying in each element type: edges of the type, and random ones of a fixed seed.

use num_complex::Complex64;
use rectiflow_hlo::{Class, DType, Shape};

use crate::{Value, float_format};

use super::array::random;

/// Random bits one after the other: the same in every run.
pub struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed << 32)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 += 1;
        random(self.0)
    }

    /// From 0 to before 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2f64.powi(-53)
    }
}

/// Elements of `dtype` as an array of rank 1.
#[derive(Clone)]
pub enum Numbers {
    /// Of a float type.
    Real(Vec<f64>),
    /// Of an integer type or `pred`.
    Integer(Vec<i128>),
    /// Of a complex type.
    Complex(Vec<Complex64>),
}

impl Numbers {
    /// As an array of rank 1.
    pub fn value(&self, dtype: DType) -> Value {
        let shape = |count: usize| Shape::new(dtype, [count as i64]);
        match self {
            Numbers::Real(numbers) => Value::from_reals(shape(numbers.len()), numbers),
            Numbers::Integer(numbers) => Value::from_integers(shape(numbers.len()), numbers),
            Numbers::Complex(numbers) => Value::from_complex(shape(numbers.len()), numbers),
        }
    }
}

/// `count` numbers of no interest, which every op takes and every dtype holds.
pub fn plain(dtype: DType, count: usize, random: &mut Random) -> Value {
    let numbers = match dtype.class() {
        Class::Float => Numbers::Real((0..count).map(|_| 0.5 + random.unit()).collect()),
        Class::Complex => {
            let near = |_| Complex64::new(0.5 + random.unit(), 0.5 + random.unit());
            Numbers::Complex((0..count).map(near).collect())
        }
        _ => {
            let high = (1u64 << (dtype.bits() - 1)).clamp(2, 8);
            Numbers::Integer((0..count).map(|_| i128::from(random.bits() % high)).collect())
        }
    };
    numbers.value(dtype)
}

/// Edges of a dtype, then random numbers up to `count` in all.
pub fn numbers(dtype: DType, count: usize, random: &mut Random) -> Numbers {
    match dtype.class() {
        Class::Float => Numbers::Real(reals(dtype, count, random)),
        Class::Complex => Numbers::Complex(complex(dtype, count, random)),
        _ => Numbers::Integer(integers(dtype, count, random)),
    }
}

/// Every number of a float type of at most 8 bits; of a wider one as [`numbers`].
pub fn reals(dtype: DType, count: usize, random: &mut Random) -> Vec<f64> {
    let mut numbers = real_edges(dtype);
    if dtype.bits() <= 8 {
        let last = ((1u32 << dtype.bits()) - 1) as u8;
        let all = (0..=last).map(|bits| float_format::decode(dtype, bits));
        numbers.extend(all.filter(|_| count > last.into()));
    }
    while numbers.len() < count {
        numbers.push(float_format::round(dtype, random_real(dtype, random)));
    }
    numbers.truncate(count);
    numbers
}

/// Half of them near 1, where functions bend, half of any magnitude the type has.
fn random_real(dtype: DType, random: &mut Random) -> f64 {
    if random.bits() & 1 == 0 {
        return 16.0 * random.unit() - 8.0;
    }
    let greatest = float_format::greatest(dtype).log2();
    let least = float_format::least_normal(dtype).log2();
    let magnitude = (least + (greatest - least) * random.unit()).exp2();
    if random.bits() & 1 == 0 { magnitude } else { -magnitude }
}

/// What float code gets wrong first.
fn real_edges(dtype: DType) -> Vec<f64> {
    let round = |value: f64| float_format::round(dtype, value);
    let (greatest, least) = (float_format::greatest(dtype), float_format::least_normal(dtype));
    let epsilon = 2f64.powi(-(float_format::mantissa_bits(dtype) as i32));
    let positive = [
        0.0,
        1.0,
        f64::INFINITY,
        2.0,
        0.5,
        1.5,
        2.5,
        3.0,
        greatest,
        least,
        least / 2.0,
        least * epsilon,
        1.0 + epsilon,
        1.0 - epsilon / 2.0,
        0.1,
        7.0,
        epsilon,
        greatest.sqrt(),
        least.sqrt(),
        std::f64::consts::PI,
    ];
    let both: Vec<f64> = positive.iter().flat_map(|&x| [round(x), round(-x)]).collect();
    [vec![round(f64::NAN)], both].concat()
}

/// Lowest, highest and small integers, single bits, then random ones.
pub fn integers(dtype: DType, count: usize, random: &mut Random) -> Vec<i128> {
    let bits = dtype.bits();
    let (low, high) = match dtype.class() {
        Class::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    if high - low < count as i128 && bits <= 8 {
        return (low..=high).collect();
    }
    let edges = [low, high, 0, 1, -1, 2, -2, 3, -3, 7, 10, 31, 33, 63, 68];
    let middle = (high - low) / 2 + low;
    let mut numbers: Vec<i128> =
        edges.iter().copied().chain([low + 1, high - 1, middle, middle + 1, -128]).collect();
    numbers.retain(|number| (low..=high).contains(number));
    while numbers.len() < count {
        // Of every length, so that products and powers do not always overflow.
        let length = random.bits() % u64::from(bits) + 1;
        let number =
            i128::from(random.bits() >> (64 - length)) + low * i128::from(random.bits() & 1);
        numbers.push(number.clamp(low, high));
    }
    numbers.truncate(count);
    numbers
}

/// Complex numbers with the edges of their parts, infinities, NaN and subnormals among them.
pub fn complex_edges(dtype: DType, count: usize, random: &mut Random) -> Numbers {
    let parts = reals(dtype.real(), count, random);
    let next = |i: usize| parts[(i * 7 + 3) % count];
    Numbers::Complex(parts.iter().enumerate().map(|(i, &re)| Complex64::new(re, next(i))).collect())
}

/// A grid with zeros of both signs, then random numbers of both parts up to 8; all finite.
pub fn complex(dtype: DType, count: usize, random: &mut Random) -> Vec<Complex64> {
    let part = dtype.real();
    let parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0];
    let mut numbers: Vec<Complex64> =
        parts.iter().flat_map(|&re| parts.iter().map(move |&im| Complex64::new(re, im))).collect();
    // Interleaves the grid, so that a few of them already differ in both parts.
    numbers.sort_by_key(|z| (z.re * 37.0 + z.im * 11.0).rem_euclid(5.0) as i64);
    while numbers.len() < count {
        let mut near = || float_format::round(part, 16.0 * random.unit() - 8.0);
        numbers.push(Complex64::new(near(), near()));
    }
    numbers.truncate(count);
    numbers
}
