//! Numbers as another element type, where StableHLO says what they become: beyond the range of an
//! integer type, and NaN to one, is the platform's choice.

use num_complex::Complex64;
use rectiflow_hlo::{Class, DType, Graph, Shape, Tensor};

use crate::{Case, Value};

use super::{
    super::{
        elementwise::reference::{flush_operands, is_subnormal},
        samples::{Random, numbers},
    },
    elements,
};

pub(super) fn cases() -> Vec<Case> {
    elements().map(conversions).collect()
}

/// One dtype to every other.
fn conversions(from: DType) -> Case {
    let sample = numbers(from, 300, &mut Random::new(6)).value(from);
    let targets: Vec<DType> = elements().collect();
    let inputs: Vec<Value> = targets.iter().map(|&to| defined(&sample, to)).collect();
    let convert_all = |flushing: bool| -> Vec<Value> {
        inputs.iter().zip(&targets).map(|(input, &to)| convert(input, to, flushing)).collect()
    };
    let (expected, flushed) = (convert_all(false), flush_operands(&convert_all(true)));
    let record = move |_: &Graph, x: &[Tensor]| {
        x.iter().zip(elements()).map(|(x, to)| x.convert(to)).collect()
    };
    Case::new("stablehlo.convert", from.to_string(), inputs, record, expected).or(flushed)
}

/// The elements whose conversion is defined, and right.
fn defined(sample: &Value, to: DType) -> Value {
    // The plugin compares with the range of the integer type as an f4, where that ends at 6, and
    // gives the end of the integer's range for it.
    let saturates = |z: &Complex64| sample.shape.dtype == DType::F4E2M1FN && z.re.abs() == 6.0;
    let fits = |z: &Complex64| match to.class() {
        Class::Signed => {
            let half = 2f64.powi(to.bits() as i32 - 1);
            (-half..half).contains(&z.re.trunc()) && !saturates(z)
        }
        Class::Unsigned => {
            (0.0..2f64.powi(to.bits() as i32)).contains(&z.re.trunc()) && !saturates(z)
        }
        // What is below the least power of two is NaN or the least, by the type it comes from.
        _ if to == DType::F8E8M0FNU => !(0.0 < z.re && z.re < 2f64.powi(-127)),
        _ => true,
    };
    let numbers = sample.complex();
    let kept: Vec<&[u8]> =
        sample.elements().zip(&numbers).filter(|(_, z)| fits(z)).map(|(bytes, _)| bytes).collect();
    Value::from_bytes(sample.shape.with_dims([kept.len() as i64]), kept.concat())
}

/// Each number as the target holds it: to `pred` whether it is not zero, to integers towards zero,
/// to floats the nearest, from complex numbers the real part. Flushing, subnormals are zeros.
fn convert(value: &Value, to: DType, flushing: bool) -> Value {
    let shape = value.shape.with_dtype(to);
    let from = value.shape.dtype;
    if !from.is_float() && from.class() != Class::Complex {
        return from_whole(shape, &value.integers());
    }
    let tiny = |x: f64| flushing && is_subnormal(from, x);
    let part = |x: f64| if tiny(x) { 0f64.copysign(x) } else { x };
    let numbers = value.complex().into_iter().map(|z| Complex64::new(part(z.re), part(z.im)));
    match to.class() {
        Class::Complex => Value::from_complex(shape, &numbers.collect::<Vec<_>>()),
        Class::Float => Value::from_reals(shape, &numbers.map(|z| z.re).collect::<Vec<_>>()),
        Class::Pred => {
            let truth = numbers.map(|z| f64::from(z.re != 0.0));
            Value::from_reals(shape, &truth.collect::<Vec<_>>())
        }
        _ => Value::from_reals(shape, &numbers.map(|z| z.re.trunc()).collect::<Vec<_>>()),
    }
}

/// As [`convert`], from integers and `pred`.
fn from_whole(shape: Shape, numbers: &[i128]) -> Value {
    // Those of 64 bits have more digits than f64, so going by way of it would round twice.
    let real =
        |&n: &i128| if shape.dtype.real() == DType::F32 { (n as f32).into() } else { n as f64 };
    match shape.dtype.class() {
        Class::Pred => {
            let truth = numbers.iter().map(|&n| i128::from(n != 0));
            Value::from_integers(shape, &truth.collect::<Vec<_>>())
        }
        Class::Signed | Class::Unsigned => Value::from_integers(shape, numbers),
        _ => {
            let reals: Vec<f64> = numbers.iter().map(real).collect();
            Value::from_reals(shape, &reals)
        }
    }
}
