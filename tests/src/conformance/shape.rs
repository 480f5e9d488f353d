//! Ops that make or move elements without computing: every dtype once, then every rank and the
//! attributes that are easy to get wrong on one.

mod rearrange;
pub mod window;

use rectiflow_hlo::{Class, DType, Graph, Shape, Tensor};

use crate::{Case, Value};

use super::array::{any, indices};

/// The cases.
pub fn cases() -> Vec<Case> {
    [iotas(), rearrange::cases(), window::cases()].into_iter().flatten().collect()
}

/// Every dtype that has elements.
fn dtypes() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|dtype| dtype.class() != Class::None)
}

/// An array without equal neighbours, so that an element in the wrong place shows.
fn array(dims: &[i64]) -> Value {
    any(DType::I32, dims, 3)
}

/// A case of an op of one operand.
fn unary(
    op: &'static str,
    name: String,
    operand: Value,
    record: impl Fn(&Tensor) -> Tensor + Send + Sync + 'static,
    expected: Value,
) -> Case {
    let record = move |_: &Graph, x: &[Tensor]| vec![record(&x[0])];
    Case::new(op, name, vec![operand], record, vec![expected])
}

fn iotas() -> Vec<Case> {
    // As far as the narrowest type counts, but it has no zero.
    let counting = dtypes().filter(|&dtype| dtype != DType::Pred && dtype != DType::F8E8M0FNU);
    let mut cases: Vec<Case> = counting.map(|dtype| iota(dtype, &[2, 3], 0)).collect();
    for dims in [&[7][..], &[0], &[2, 0, 3], &[2, 3, 2, 1, 4], &[2, 1, 3, 2, 1, 2]] {
        cases.extend((0..dims.len()).map(|dim| iota(DType::F32, dims, dim)));
    }
    cases.push(iota(DType::U8, &[256], 0));
    cases.push(iota(DType::BF16, &[257], 0));
    cases
}

fn iota(dtype: DType, dims: &[i64], dim: usize) -> Case {
    let shape = Shape::new(dtype, dims);
    let numbers: Vec<f64> = indices(dims).iter().map(|index| index[dim] as f64).collect();
    let expected = Value::from_reals(shape.clone(), &numbers);
    let name = format!("{shape} along {dim}");
    let record = move |graph: &Graph, _: &[Tensor]| vec![graph.iota(shape.clone(), dim as i64)];
    Case::new("stablehlo.iota", name, Vec::new(), record, vec![expected])
}
