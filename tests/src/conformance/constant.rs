//! `constant`: what a [`Literal`] holds is what the program gives. Each way of writing one
//! has a case of every dtype: one number repeated, a few elements, many, none.

use num_complex::Complex64;
use rectiflow_hlo::{Class, DType, Graph, Literal, Number, Shape, Tensor};

use crate::{Case, Value};

use super::samples::{Numbers, Random, numbers};

/// The cases.
pub fn cases() -> Vec<Case> {
    let dtypes = DType::ALL.iter().copied().filter(|dtype| dtype.class() != Class::None);
    dtypes.flat_map(|dtype| [splats(dtype), dense(dtype)]).collect()
}

/// Every edge of the dtype as a splat of one and of several elements, from a [`Number`].
fn splats(dtype: DType) -> Case {
    let (mut literals, mut expected) = (Vec::new(), Vec::new());
    for (number, value) in splat_numbers(dtype) {
        for dims in [&[][..], &[2, 3]] {
            let shape = Shape::new(dtype, dims);
            let count = dims.iter().product::<i64>() as usize;
            expected.push(Value::from_bytes(shape.clone(), value.bytes.repeat(count)));
            literals.push(Literal::splat(shape, number).expect("a number of the dtype"));
        }
    }
    case(format!("{dtype} splats"), literals, expected)
}

/// Numbers and the elements that they are in the dtype.
fn splat_numbers(dtype: DType) -> Vec<(Number, Value)> {
    let one = |numbers: Numbers| numbers.value(dtype);
    let real = |x: f64| (Number::from(x), one(Numbers::Real(vec![x])));
    match numbers(dtype, 24, &mut Random::new(8)) {
        Numbers::Integer(numbers) => {
            let whole = |&n: &i128| (Number::from(n), one(Numbers::Integer(vec![n])));
            numbers.iter().map(whole).collect()
        }
        Numbers::Real(numbers) => {
            // One that no float holds, so that the rounding shows, and one given as an integer.
            let more = [0.3].into_iter().map(real).chain([(Number::from(2), real(2.0).1)]);
            numbers.into_iter().map(real).chain(more).collect()
        }
        Numbers::Complex(numbers) => {
            let infinite = [(f64::INFINITY, -0.0), (0.3, f64::NEG_INFINITY), (f64::NAN, 1.0)];
            let infinite = infinite.map(|(re, im)| Complex64 { re, im });
            let both = |z: Complex64| (Number::complex(z.re, z.im), one(Numbers::Complex(vec![z])));
            numbers.into_iter().chain(infinite).map(both).collect()
        }
    }
}

/// Elements spelled out up to 64, in hexadecimal beyond, and none at all.
fn dense(dtype: DType) -> Case {
    let (sample, size) = (elements(dtype).bytes, dtype.byte_size());
    let bytes = |count: usize| sample.iter().copied().cycle().take(count * size).collect();
    let shapes = [&[][..], &[1], &[2, 3], &[64], &[65], &[5, 2, 13], &[0], &[2, 0, 3]];
    let value = |dims: &&[i64]| {
        let shape = Shape::new(dtype, *dims);
        Value::from_bytes(shape, bytes(dims.iter().product::<i64>() as usize))
    };
    let expected: Vec<Value> = shapes.iter().map(value).collect();
    let literal = |value: &Value| {
        Literal::from_bytes(value.shape.clone(), value.bytes.clone()).expect("bytes of the shape")
    };
    let literals = expected.iter().map(literal).collect();
    case(format!("{dtype} elements"), literals, expected)
}

/// Sample numbers; of small floats, every pattern, both signs of NaN among them.
fn elements(dtype: DType) -> Value {
    if dtype.is_float() && dtype.bits() <= 8 {
        let last = ((1u32 << dtype.bits()) - 1) as u8;
        // The top patterns, NaN and infinities among them, come first.
        let patterns: Vec<u8> = (0..=last).rev().collect();
        return Value::from_bytes(Shape::new(dtype, [patterns.len() as i64]), patterns);
    }
    numbers(dtype, 100, &mut Random::new(9)).value(dtype)
}

fn case(name: String, literals: Vec<Literal>, expected: Vec<Value>) -> Case {
    let record = move |graph: &Graph, _: &[Tensor]| {
        literals.iter().map(|literal| graph.constant(literal.clone())).collect()
    };
    Case::new("stablehlo.constant", name, Vec::new(), record, expected)
}
