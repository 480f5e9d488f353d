//! `convert`, `bitcast_convert`, `reduce_precision`. One program converts a dtype to every other,
//! so the number of a result is that of the target in [`DType::ALL`].

mod convert;

use rectiflow_hlo::{Class, DType, Graph, Shape, Tensor};

use crate::{Case, Value, float_format};

use super::samples::{Random, numbers, reals};

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = convert::cases();
    cases.extend(elements().map(bitcasts));
    cases.extend(elements().filter(|dtype| dtype.is_float()).map(reduce_precisions));
    cases
}

/// Every dtype that has elements.
fn elements() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|dtype| dtype.class() != Class::None)
}

/// The same bits as every other dtype whose width divides or is a multiple. Complex numbers of one
/// width as another end the process in the CPU plugin, so they stay what they are.
fn bitcasts(from: DType) -> Case {
    let alone = |dtype: DType| matches!(dtype.class(), Class::Pred | Class::Complex);
    let legal = |&to: &DType| if alone(from) || alone(to) { from == to } else { true };
    bitcast_to(from, elements().filter(legal).collect())
}

/// Bit casts of a dtype to each target, which the rule allows.
pub fn bitcast_to(from: DType, targets: Vec<DType>) -> Case {
    let (mut inputs, mut expected) = (Vec::new(), Vec::new());
    for &to in &targets {
        let ratio = i64::from((to.bits() / from.bits()).max(1));
        let parts = i64::from((from.bits() / to.bits()).max(1));
        let count = 4 * ratio as usize;
        let flat = numbers(from, count, &mut Random::new(3)).value(from);
        let last = |n: i64| if n == 1 { vec![4] } else { vec![4, n] };
        let input = Value::from_bytes(Shape::new(from, last(ratio)), repeated(&flat, count));
        expected.push(bitcast(&input, Shape::new(to, last(parts))));
        inputs.push(input);
    }
    let record = move |_: &Graph, x: &[Tensor]| {
        x.iter().zip(&targets).map(|(x, &to)| x.bitcast_convert(to)).collect()
    };
    Case::new("stablehlo.bitcast_convert", from.to_string(), inputs, record, expected)
}

/// `count` elements, from the first again where there are fewer.
fn repeated(value: &Value, count: usize) -> Vec<u8> {
    let size = value.shape.dtype.byte_size();
    value.bytes.iter().copied().cycle().take(count * size).collect()
}

/// The bits in order, lowest first, cut anew.
fn bitcast(value: &Value, to: Shape) -> Value {
    let width = value.shape.dtype.bits() as usize;
    let bit = |element: &[u8], i: usize| element[i / 8] >> (i % 8) & 1;
    let bits: Vec<u8> =
        value.elements().flat_map(|element| (0..width).map(|i| bit(element, i))).collect();
    let (width, size) = (to.dtype.bits() as usize, to.dtype.byte_size());
    let number = |bits: &[u8]| bits.iter().rev().fold(0u128, |n, &bit| n << 1 | u128::from(bit));
    let numbers = bits.chunks(width).map(number);
    if to.dtype.is_integer() {
        return Value::from_integers(to, &numbers.map(|n| n as i128).collect::<Vec<_>>());
    }
    Value::from_bytes(to, numbers.flat_map(|n| n.to_le_bytes()[..size].to_vec()).collect())
}

/// Exponent and mantissa bits: named formats, one that only cuts the mantissa, one only the range.
const PRECISIONS: [(i32, i32); 8] =
    [(5, 10), (8, 7), (4, 3), (5, 2), (8, 23), (11, 52), (3, 20), (8, 1)];

fn reduce_precisions(dtype: DType) -> Case {
    let numbers = reals(dtype, 400, &mut Random::new(4));
    let operand = Value::from_reals(Shape::new(dtype, [numbers.len() as i64]), &numbers);
    // Small floats are widened to f16, or f32 for their range.
    let carried: i32 = match dtype {
        DType::F64 => 11,
        DType::F32 | DType::BF16 | DType::F8E8M0FNU => 8,
        _ => 5,
    };
    let least_exponent = 2 - (1 << (carried - 1));
    let reduced = |&(exponent, mantissa): &(i32, i32)| {
        let narrower = (exponent < carried).then_some(exponent);
        let reduce = |&x: &f64| {
            let rounded = float_format::round_mantissa(x, mantissa as u32, least_exponent);
            narrower.map_or(rounded, |bits| reduce_range(rounded, bits))
        };
        Value::from_reals(operand.shape.clone(), &numbers.iter().map(reduce).collect::<Vec<_>>())
    };
    let expected = PRECISIONS.iter().map(reduced).collect();
    let record = |_: &Graph, x: &[Tensor]| {
        PRECISIONS.iter().map(|&(e, m)| x[0].reduce_precision(e, m)).collect()
    };
    Case::new("stablehlo.reduce_precision", dtype.to_string(), vec![operand], record, expected)
}

/// Zero below the least normal number that an exponent of so many bits has, infinite above the
/// greatest.
fn reduce_range(x: f64, exponent_bits: i32) -> f64 {
    let bias = (1 << (exponent_bits - 1)) - 1;
    if x.abs() >= 2f64.powi(bias) * 2.0 {
        return f64::INFINITY.copysign(x);
    }
    if x.abs() < 2f64.powi(1 - bias) { 0f64.copysign(x) } else { x }
}
