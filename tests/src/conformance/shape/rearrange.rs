//! `broadcast_in_dim`, `reshape`, `transpose`, `reverse`.

use crate::{Case, Value};

use super::{
    super::array::{any, arrange},
    array, dtypes, unary,
};

/// Operand dims, broadcast dimensions, result dims.
const BROADCASTS: &[(&[i64], &[i64], &[i64])] = &[
    (&[], &[], &[]),
    (&[], &[], &[2, 1, 2, 1, 2, 3]),
    (&[3], &[0], &[3, 2]),
    (&[3], &[1], &[2, 3]),
    (&[1], &[1], &[2, 3]),
    (&[2, 3], &[1, 0], &[3, 2]),
    (&[2, 1, 3], &[0, 2, 3], &[2, 4, 5, 3]),
    (&[1, 1], &[0, 1], &[0, 3]),
    (&[0, 2], &[0, 1], &[0, 2]),
    (&[2, 1, 2, 1, 2, 1], &[0, 1, 2, 3, 4, 5], &[2, 3, 2, 1, 2, 2]),
];

/// Dims before and after.
const RESHAPES: &[(&[i64], &[i64])] = &[
    (&[], &[1, 1, 1]),
    (&[1, 1], &[]),
    (&[6], &[2, 3]),
    (&[2, 3, 4], &[4, 6]),
    (&[24], &[2, 1, 3, 2, 1, 2]),
    (&[2, 1, 3, 2, 1, 2], &[2, 12]),
    (&[0, 3], &[5, 0, 2]),
];

const PERMUTATIONS: &[(&[i64], &[i64])] = &[
    (&[], &[]),
    (&[3], &[0]),
    (&[2, 3], &[1, 0]),
    (&[2, 3, 4], &[0, 1, 2]),
    (&[2, 3, 4], &[0, 2, 1]),
    (&[2, 3, 4], &[1, 0, 2]),
    (&[2, 3, 4], &[1, 2, 0]),
    (&[2, 3, 4], &[2, 0, 1]),
    (&[2, 3, 4], &[2, 1, 0]),
    (&[2, 3, 4, 5], &[0, 2, 1, 3]),
    (&[1, 2, 3, 1, 2], &[4, 1, 3, 0, 2]),
    (&[2, 1, 3, 2, 1, 2], &[5, 2, 0, 4, 3, 1]),
    (&[3, 0, 2], &[2, 0, 1]),
];

const REVERSALS: &[(&[i64], &[i64])] = &[
    (&[], &[]),
    (&[4], &[0]),
    (&[4], &[]),
    (&[2, 3], &[0]),
    (&[2, 3], &[1]),
    (&[2, 3], &[1, 0]),
    (&[2, 3, 4], &[0, 2]),
    (&[1, 2, 3, 1, 2], &[1, 2, 4]),
    (&[2, 1, 3, 2, 1, 2], &[0, 2, 3, 5]),
    (&[0, 3], &[0, 1]),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in dtypes() {
        cases.push(broadcast(any(dtype, &[3, 1], 1), &[1, 2], &[2, 3, 4]));
        cases.push(reshape(any(dtype, &[3, 4], 1), &[2, 6]));
        cases.push(transpose(any(dtype, &[3, 5], 1), &[1, 0]));
        cases.push(reverse(any(dtype, &[3, 5], 1), &[1]));
    }
    cases.extend(BROADCASTS.iter().map(|(from, along, to)| broadcast(array(from), along, to)));
    cases.extend(RESHAPES.iter().map(|(from, to)| reshape(array(from), to)));
    cases.extend(PERMUTATIONS.iter().map(|(dims, order)| transpose(array(dims), order)));
    cases.extend(REVERSALS.iter().map(|(dims, which)| reverse(array(dims), which)));
    cases
}

fn broadcast(value: Value, along: &'static [i64], to: &'static [i64]) -> Case {
    let expected = arrange(&value, to, |index| {
        let dims = value.shape.dims.iter().zip(along);
        dims.map(|(&dim, &at)| if dim == 1 { 0 } else { index[at as usize] }).collect()
    });
    let name = format!("{} along {along:?} to {to:?}", value.shape);
    let record = move |x: &_| rectiflow_hlo::Tensor::broadcast_in_dim(x, along, to);
    unary("stablehlo.broadcast_in_dim", name, value, record, expected)
}

fn reshape(value: Value, to: &'static [i64]) -> Case {
    let expected = Value::from_bytes(value.shape.with_dims(to), value.bytes.clone());
    let name = format!("{} to {to:?}", value.shape);
    unary("stablehlo.reshape", name, value, move |x| x.reshape(to), expected)
}

fn transpose(value: Value, order: &'static [i64]) -> Case {
    let dims: Vec<i64> = order.iter().map(|&dim| value.shape.dims[dim as usize]).collect();
    let expected = arrange(&value, &dims, |index| {
        let mut source = vec![0; order.len()];
        order.iter().zip(index).for_each(|(&dim, &i)| source[dim as usize] = i);
        source
    });
    let name = format!("{} by {order:?}", value.shape);
    unary("stablehlo.transpose", name, value, move |x| x.transpose(order), expected)
}

fn reverse(value: Value, which: &'static [i64]) -> Case {
    let dims = value.shape.dims.clone();
    let expected = arrange(&value, &dims, |index| {
        let mut source = index.to_vec();
        which
            .iter()
            .map(|&dim| dim as usize)
            .for_each(|dim| source[dim] = dims[dim] - 1 - index[dim]);
        source
    });
    let name = format!("{} along {which:?}", value.shape);
    unary("stablehlo.reverse", name, value, move |x| x.reverse(which), expected)
}
