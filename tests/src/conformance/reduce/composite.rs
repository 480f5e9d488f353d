//! Functions made of several ops: softmax, and the activations that models use.

use rectiflow_hlo::{DType, Shape, Tensor};

use super::{
    super::array::{indices, offset, small},
    greatest, kept,
};
use crate::{Bound, Case, Value};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = activations();
    // Exponentials of numbers in the hundreds overflow unless the greatest is taken off.
    for (dtype, scale) in [(DType::F32, 300.0), (DType::F32, 0.5), (DType::F64, 300.0)] {
        cases.extend((0..3).map(|dimension| softmax(dtype, scale, dimension)));
    }
    cases.push(softmax(DType::BF16, 1.0, 2));
    cases.push(mean_of_many());
    cases
}

/// More elements than `f16` can count: neither the count nor the sum may be taken in it.
fn mean_of_many() -> Case {
    const COUNT: i64 = 500_000;
    let quarter = |dims: Vec<i64>| {
        let shape = Shape::new(DType::F16, dims);
        let count = shape.element_count().unwrap_or(0) as usize;
        Value::from_reals(shape, &vec![0.25; count])
    };
    let (name, inputs) = ("mean of more elements than f16 counts", vec![quarter(vec![COUNT])]);
    let mean = |_: &_, x: &[Tensor]| vec![x[0].mean([0])];
    Case::new("stablehlo.reduce", name, inputs, mean, vec![quarter(vec![])])
}

fn softmax(dtype: DType, scale: f64, dimension: usize) -> Case {
    let value = small(dtype, &[2, 3, 4], 20);
    let scaled: Vec<f64> = value.reals().iter().map(|x| x * scale).collect();
    let value = Value::from_reals(value.shape, &scaled);
    let (dims, dim) = (value.shape.dims.clone(), dimension as i64);
    let slice = |index: &[i64]| offset(&kept(&dims, &[dim]), &kept(index, &[dim]));
    let top = greatest(&value, &[dim]).reals();
    let indices = indices(&dims);
    let powers: Vec<f64> = (indices.iter().zip(value.reals()))
        .map(|(index, x)| (x - top[slice(index)]).exp())
        .collect();
    let mut sums = vec![0.0; top.len()];
    indices.iter().zip(&powers).for_each(|(index, power)| sums[slice(index)] += power);
    let shares: Vec<f64> =
        indices.iter().zip(&powers).map(|(index, power)| power / sums[slice(index)]).collect();
    let expected = Value::from_reals(value.shape.clone(), &shares);
    Case::new(
        "stablehlo.reduce",
        format!("softmax of {} times {scale} along {dimension}", value.shape),
        vec![value],
        move |_, x| vec![x[0].softmax(dim)],
        vec![expected],
    )
    .within(Bound::Ulps(4.0))
}

/// An activation: the op that it is looked for by, its name, how it is recorded, what it is.
type Activation = (&'static str, &'static str, fn(&Tensor) -> Tensor, fn(f64) -> f64);

fn activations() -> Vec<Case> {
    const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
    let all: [Activation; 3] = [
        ("chlo.erf", "gelu", Tensor::gelu, |x| x / 2.0 * libm::erfc(-x / 2f64.sqrt())),
        ("stablehlo.tanh", "gelu_tanh", Tensor::gelu_tanh, |x| {
            x / 2.0 * (1.0 + (SQRT_2_OVER_PI * (x + 0.044715 * x.powi(3))).tanh())
        }),
        ("stablehlo.logistic", "silu", Tensor::silu, |x| x / (1.0 + (-x).exp())),
    ];
    let mut numbers: Vec<f64> = (-60..=60).map(|i| f64::from(i) / 8.0).collect();
    numbers.extend([-100.0, 100.0, 1e-6, -1e-6, 1e30, f64::NAN, f64::INFINITY]);
    let mut cases = Vec::new();
    // Where 1 and almost -1 add up, an absolute bound is all that the formulas allow.
    for (dtype, bound) in [(DType::F64, 1e-14), (DType::F32, 2e-6), (DType::BF16, 0.03)] {
        for (op, name, record, meaning) in all {
            let shape = rectiflow_hlo::Shape::new(dtype, [numbers.len() as i64]);
            let input = Value::from_reals(shape.clone(), &numbers);
            let results: Vec<f64> = input.reals().into_iter().map(meaning).collect();
            let expected = vec![Value::from_reals(shape, &results)];
            let case = Case::new(op, name, vec![input], move |_, x| vec![record(&x[0])], expected);
            cases.push(case.within(Bound::Close(bound)));
        }
    }
    cases
}
