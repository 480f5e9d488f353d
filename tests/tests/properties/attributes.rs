//! Ops without regions that move elements.

use proptest::{prelude::*, sample::subsequence};
use rectiflow_hlo::Op;

use crate::{Trial, all_dims, at, check, dims, f32, per_dim};

#[test]
fn slice() {
    let valid = dims(0..4).prop_flat_map(|dims| {
        let starts = per_dim(&dims, |dim| 0..=dim);
        let strides = per_dim(&dims, |_| 1..=3);
        (Just(dims), starts, strides).prop_flat_map(|(dims, starts, strides)| {
            let bounds: Vec<_> =
                starts.iter().zip(&dims).map(|(&start, &dim)| start..=dim).collect();
            bounds
                .prop_map(move |limits| vec![dims.clone(), starts.clone(), limits, strides.clone()])
        })
    });
    check(valid, |lists| {
        let [dims, starts, limits, strides] = &lists[..] else { unreachable!("four lists") };
        let size = |i: usize| {
            let (start, limit) = (starts.get(i).unwrap_or(&0), limits.get(i).unwrap_or(&0));
            let stride = strides.get(i).copied().unwrap_or(1).max(1);
            ((limit - start + stride - 1) / stride).max(0)
        };
        Trial {
            op: Op::Slice {
                start_indices: starts.clone(),
                limit_indices: limits.clone(),
                strides: strides.clone(),
            },
            operands: vec![f32(dims)],
            unchecked: vec![f32(&(0..dims.len()).map(size).collect::<Vec<_>>())],
        }
    });
}

#[test]
fn pad() {
    let valid = dims(0..4).prop_flat_map(|dims| {
        let edge = per_dim(&dims, |_| -1..=2);
        (edge.clone(), edge, per_dim(&dims, |_| 0..=2))
            .prop_map(move |(low, high, interior)| vec![dims.clone(), low, high, interior])
    });
    check(valid, |lists| {
        let [dims, low, high, interior] = &lists[..] else { unreachable!("four lists") };
        let number = |list: &[i64], i: usize| list.get(i).copied().unwrap_or(0);
        let size = |i: usize| {
            let gaps = (dims[i] - 1).max(0) * number(interior, i);
            (dims[i] + gaps + number(low, i) + number(high, i)).max(0)
        };
        Trial {
            op: Op::Pad {
                edge_padding_low: low.clone(),
                edge_padding_high: high.clone(),
                interior_padding: interior.clone(),
            },
            operands: vec![f32(dims), f32(&[])],
            unchecked: vec![f32(&(0..dims.len()).map(size).collect::<Vec<_>>())],
        }
    });
}

#[test]
fn transpose() {
    let valid = dims(0..5).prop_flat_map(|dims| {
        let order = Just(all_dims(dims.len())).prop_shuffle();
        order.prop_map(move |order| vec![dims.clone(), order])
    });
    check(valid, |lists| Trial {
        op: Op::Transpose { permutation: lists[1].clone() },
        operands: vec![f32(&lists[0])],
        unchecked: vec![f32(&lists[1].iter().map(|&dim| at(&lists[0], dim)).collect::<Vec<_>>())],
    });
}

#[test]
fn reverse() {
    let valid = dims(0..4).prop_flat_map(|dims| {
        let some = subsequence(all_dims(dims.len()), 0..=dims.len()).prop_shuffle();
        some.prop_map(move |some| vec![dims.clone(), some])
    });
    check(valid, |lists| Trial {
        op: Op::Reverse { dimensions: lists[1].clone() },
        operands: vec![f32(&lists[0])],
        unchecked: vec![f32(&lists[0])],
    });
}

#[test]
fn broadcast_in_dim() {
    let valid = dims(0..5).prop_flat_map(|result| {
        let rank = result.len();
        let places = subsequence(all_dims(rank), 0..=rank).prop_shuffle();
        let units = prop::collection::vec(any::<bool>(), rank);
        (places, units).prop_map(move |(places, units)| {
            let size = |&dim: &i64| if units[dim as usize] { 1 } else { result[dim as usize] };
            vec![places.iter().map(size).collect(), result.clone(), places]
        })
    });
    check(valid, |lists| Trial {
        op: Op::BroadcastInDim {
            broadcast_dimensions: lists[2].clone(),
            dims: lists[1].clone().into(),
        },
        operands: vec![f32(&lists[0])],
        unchecked: vec![f32(&lists[1])],
    });
}

#[test]
fn reshape() {
    let valid = dims(0..4).prop_flat_map(|dims| {
        let order = Just(dims.clone()).prop_shuffle();
        (order, any::<bool>()).prop_map(move |(mut order, joined)| {
            if joined && order.len() >= 2 {
                let last = order.pop().unwrap_or(1);
                *order.last_mut().expect("a dim") *= last;
            }
            vec![dims.clone(), order]
        })
    });
    check(valid, |lists| Trial {
        op: Op::Reshape { dims: lists[1].clone().into() },
        operands: vec![f32(&lists[0])],
        unchecked: vec![f32(&lists[1])],
    });
}

#[test]
fn concatenate() {
    let valid = (dims(1..4), 0..4i64, prop::collection::vec(0..4i64, 0..3)).prop_map(
        |(dims, dim, sizes)| {
            let dim = dim % dims.len() as i64;
            let other = |&size: &i64| {
                let mut dims = dims.clone();
                dims[dim as usize] = size;
                dims
            };
            let others: Vec<Vec<i64>> = sizes.iter().map(other).collect();
            [vec![vec![dim], dims.clone()], others].concat()
        },
    );
    check(valid, |lists| {
        let dimension = lists[0].first().copied().unwrap_or(0);
        let mut joined = lists[1].clone();
        let total = lists[1..].iter().map(|dims| at(dims, dimension)).sum();
        if let Some(size) = joined.get_mut(usize::try_from(dimension).unwrap_or(usize::MAX)) {
            *size = total;
        }
        Trial {
            op: Op::Concatenate { dimension },
            operands: lists[1..].iter().map(|dims| f32(dims)).collect(),
            unchecked: vec![f32(&joined)],
        }
    });
}
