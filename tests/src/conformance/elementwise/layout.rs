//! Ranks, zero dims and broadcasting of elementwise ops, on numbers of no interest.

use rectiflow_hlo::{DType, Meaning, Row};

use crate::{Bound, Case, Value};

use super::{
    super::{
        array::arrange,
        samples::{Random, plain},
    },
    bounds, reference,
};

/// Dims of ranks 0 to 6, and some with nothing in them.
const DIMS: &[&[i64]] = &[
    &[],
    &[5],
    &[2, 3],
    &[2, 1, 3],
    &[2, 3, 1, 2],
    &[1, 2, 2, 1, 3],
    &[2, 1, 2, 1, 2, 3],
    &[0],
    &[3, 0, 2],
];

/// Left dims, right dims and the dims that NumPy brings both to.
const BROADCASTS: &[(&[i64], &[i64], &[i64])] = &[
    (&[], &[2, 3], &[2, 3]),
    (&[4], &[], &[4]),
    (&[3], &[2, 3], &[2, 3]),
    (&[2, 1], &[1, 3], &[2, 3]),
    (&[2, 1, 3], &[4, 1], &[2, 4, 3]),
    (&[1], &[0], &[0]),
    (&[2, 1, 2, 1, 2, 1], &[3, 1, 2], &[2, 1, 2, 3, 2, 2]),
];

/// One case of all ranks, and one of broadcasting where there are two operands.
pub fn cases(row: &'static Row, meaning: &Meaning) -> Vec<Case> {
    let ranks: Vec<Vec<&[i64]>> =
        DIMS.iter().map(|&dims| vec![dims; row.operands.len() + 1]).collect();
    let to: Vec<&[i64]> = DIMS.to_vec();
    let mut cases = vec![case(row, meaning, "ranks and zero dims", &ranks, &to)];
    if row.operands.len() == 1 {
        let from: Vec<Vec<&[i64]>> = BROADCASTS.iter().map(|&(l, r, _)| vec![l, r]).collect();
        let to: Vec<&[i64]> = BROADCASTS.iter().map(|&(.., to)| to).collect();
        cases.push(case(row, meaning, "broadcasting", &from, &to));
    }
    cases
}

/// The op once for each list of operand dims, which it brings to the dims of `to`.
fn case(
    row: &'static Row,
    meaning: &Meaning,
    name: &str,
    from: &[Vec<&[i64]>],
    to: &[&[i64]],
) -> Case {
    let usual = [DType::F32, DType::I32, DType::C64].into_iter();
    let dtype = usual.chain(row.dtypes.iter()).find(|&dtype| row.dtypes.contains(dtype));
    let dtype = dtype.expect("a row allows a dtype");
    let record = row.record.expect("an elementwise row records itself");
    let mut random = Random::new(5);
    let mut inputs = Vec::new();
    let mut expected = Vec::new();
    for (operands, dims) in from.iter().zip(to) {
        let mut one = |dims: &[i64]| {
            let flat = plain(dtype, dims.iter().product::<i64>() as usize, &mut random);
            Value::from_bytes(flat.shape.with_dims(dims), flat.bytes)
        };
        let operands: Vec<Value> = operands.iter().map(|dims| one(dims)).collect();
        let same: Vec<Value> = operands.iter().map(|operand| broadcast(operand, dims)).collect();
        let shape = reference::result_shape(row, &same);
        expected.push(reference::evaluate(meaning, shape, &same));
        inputs.extend(operands);
    }
    let arity = row.operands.len() + 1;
    let record_all = move |_: &_, x: &[_]| {
        x.chunks(arity).map(|operands| record(&operands.iter().collect::<Vec<_>>())).collect()
    };
    // A quotient by a repeated scalar is compiled to a product with its reciprocal.
    let bound = match row.mnemonic {
        "stablehlo.divide" => Bound::SignedUlps(1.0),
        op => bounds::of(op, dtype),
    };
    Case::new(row.mnemonic, name, inputs, record_all, expected).within(bound)
}

/// NumPy's broadcasting: dims align at the end, and a unit dim repeats.
fn broadcast(value: &Value, dims: &[i64]) -> Value {
    let own = &value.shape.dims;
    arrange(value, dims, |index| {
        let aligned = index[dims.len() - own.len()..].iter().zip(own);
        aligned.map(|(&i, &dim)| if dim == 1 { 0 } else { i }).collect()
    })
}
