//! Ops without regions that index, rank or sum.

use proptest::{prelude::*, sample::subsequence};
use rectiflow_hlo::{DType, DotDims, GatherDims, Op, Shape};

use crate::{Lists, Trial, all_dims, at, check, dims, f32, per_dim};

fn positions(rank: usize) -> Vec<Shape> {
    vec![Shape::scalar(DType::I32); rank]
}

#[test]
fn dynamic_slice() {
    let valid = dims(0..4).prop_flat_map(|dims| {
        per_dim(&dims, |dim| 0..=dim).prop_map(move |sizes| vec![dims.clone(), sizes])
    });
    check(valid, |lists| Trial {
        op: Op::DynamicSlice { slice_sizes: lists[1].clone() },
        operands: [vec![f32(&lists[0])], positions(lists[0].len())].concat(),
        unchecked: vec![f32(&lists[1])],
    });
}

#[test]
fn dynamic_update_slice() {
    let valid = dims(0..4).prop_flat_map(|dims| {
        per_dim(&dims, |dim| 0..=dim).prop_map(move |sizes| vec![dims.clone(), sizes])
    });
    check(valid, |lists| Trial {
        op: Op::DynamicUpdateSlice {},
        operands: [vec![f32(&lists[0]), f32(&lists[1])], positions(lists[0].len())].concat(),
        unchecked: vec![f32(&lists[0])],
    });
}

#[test]
fn iota() {
    let valid =
        (dims(1..4), 0..4i64).prop_map(|(dims, dim)| vec![vec![dim % dims.len() as i64], dims]);
    check(valid, |lists| {
        let shape = f32(&lists[1]);
        let iota_dimension = lists[0].first().copied().unwrap_or(-1);
        let op = Op::Iota { iota_dimension, shape: shape.clone() };
        Trial { op, operands: vec![], unchecked: vec![shape] }
    });
}

#[test]
fn top_k() {
    let valid = (dims(1..4), 0..5i64).prop_map(|(dims, k)| {
        let last = dims.last().copied().unwrap_or(0);
        vec![dims, vec![k.min(last)]]
    });
    check(valid, |lists| {
        let k = lists[1].first().copied().unwrap_or(-1);
        let mut result = lists[0].clone();
        if let Some(last) = result.last_mut() {
            *last = k;
        }
        let unchecked = vec![f32(&result), Shape::new(DType::I32, result)];
        Trial { op: Op::TopK { k }, operands: vec![f32(&lists[0])], unchecked }
    });
}

/// Roles for the dims of two operands: 0 free, 1 batch, 2 contracting, each with its size.
fn dot_lists() -> impl Strategy<Value = Lists> {
    let sizes = || prop::collection::vec(0..4i64, 0..3);
    let shuffles = (any::<u64>(), any::<u64>());
    (sizes(), sizes(), sizes(), sizes(), shuffles).prop_map(
        |(batch, contracting, left, right, (a, b))| {
            let place = |free: &[i64], seed: u64| {
                let all = [&batch[..], &contracting[..], free].concat();
                let mut order: Vec<usize> = (0..all.len()).collect();
                order
                    .sort_by_key(|&i| rectiflow_tests::conformance::array::random(seed ^ i as u64));
                let dims: Vec<i64> = order.iter().map(|&i| all[i]).collect();
                let position = |i: usize| {
                    order.iter().position(|&from| from == i).expect("a permutation") as i64
                };
                let batches: Vec<i64> = (0..batch.len()).map(position).collect();
                let sums: Vec<i64> =
                    (batch.len()..batch.len() + contracting.len()).map(position).collect();
                (dims, batches, sums)
            };
            let (lhs, lhs_batch, lhs_sums) = place(&left, a);
            let (rhs, rhs_batch, rhs_sums) = place(&right, b);
            vec![lhs, rhs, lhs_batch, rhs_batch, lhs_sums, rhs_sums]
        },
    )
}

#[test]
fn dot_general() {
    check(dot_lists(), |lists| {
        let [lhs, rhs, lhs_batch, rhs_batch, lhs_sums, rhs_sums] = &lists[..] else {
            unreachable!("six lists")
        };
        let free = |dims: &[i64], used: [&Vec<i64>; 2]| -> Vec<i64> {
            let unused = |dim: &i64| used.iter().all(|list| !list.contains(dim));
            all_dims(dims.len()).into_iter().filter(unused).map(|dim| at(dims, dim)).collect()
        };
        let mut result: Vec<i64> = lhs_batch.iter().map(|&dim| at(lhs, dim)).collect();
        result.extend(free(lhs, [lhs_batch, lhs_sums]));
        result.extend(free(rhs, [rhs_batch, rhs_sums]));
        Trial {
            op: Op::DotGeneral {
                dot_dimension_numbers: DotDims {
                    lhs_batch: lhs_batch.clone(),
                    rhs_batch: rhs_batch.clone(),
                    lhs_contracting: lhs_sums.clone(),
                    rhs_contracting: rhs_sums.clone(),
                },
                precision_config: None,
                algorithm: None,
                dtype: DType::F32,
            },
            operands: vec![f32(lhs), f32(rhs)],
            unchecked: vec![f32(&result)],
        }
    });
}

/// Gathers from operands of rank 3 of which each dim is batching, collapsed or in the window, and
/// whose indices have the index vector anywhere.
fn gather_lists() -> impl Strategy<Value = Lists> {
    let operand = prop::collection::vec(1..4i64, 3);
    let batch = prop::collection::vec(0..4i64, 0..3);
    let roles = prop::collection::vec(0..3usize, 3);
    let mapped = subsequence(all_dims(3), 0..=3).prop_shuffle();
    (operand, batch, roles, mapped, any::<[prop::sample::Index; 4]>()).prop_map(
        |(operand, batch, roles, mapped, picks)| {
            let of_role = |role: usize| -> Vec<i64> {
                all_dims(3).into_iter().filter(|&dim| roles[dim as usize] == role).collect()
            };
            let (batching, collapsed) = (of_role(0), of_role(1));
            let map: Vec<i64> = mapped.into_iter().filter(|dim| !batching.contains(dim)).collect();
            let size = |dim: usize| {
                let some = 1 + picks[dim].index(operand[dim] as usize) as i64;
                if roles[dim] == 2 { some } else { 1 }
            };
            let sizes: Vec<i64> = (0..3).map(size).collect();
            let mut indices: Vec<i64> = batching.iter().map(|&dim| operand[dim as usize]).collect();
            indices.extend(&batch);
            let vector_dim = picks[3].index(indices.len() + 1) as i64;
            let past = |dim: i64| dim + i64::from(dim >= vector_dim);
            let index_batching: Vec<i64> = all_dims(batching.len()).into_iter().map(past).collect();
            let n_windows = 3 - batching.len() - collapsed.len();
            let rank = indices.len() + n_windows;
            let offsets: Vec<i64> = (0..n_windows).map(|i| (rank - n_windows + i) as i64).collect();
            indices.insert(vector_dim as usize, map.len() as i64);
            let vector_dim = vec![vector_dim];
            vec![
                operand,
                indices,
                sizes,
                offsets,
                collapsed,
                batching,
                index_batching,
                map,
                vector_dim,
            ]
        },
    )
}

#[test]
fn gather() {
    check(gather_lists(), |lists| {
        let [operand, indices, sizes, offsets, collapsed, batching, index_batching, map, vector] =
            &lists[..]
        else {
            unreachable!("nine lists")
        };
        let vector_dim = vector.first().copied().unwrap_or(-1);
        let other = |dim: &i64| *dim != vector_dim;
        let mut batch =
            all_dims(indices.len()).into_iter().filter(other).map(|dim| at(indices, dim));
        let in_window = |dim: &i64| !collapsed.contains(dim) && !batching.contains(dim);
        let window: Vec<i64> =
            all_dims(sizes.len()).into_iter().filter(in_window).map(|dim| at(sizes, dim)).collect();
        let rank = offsets.len() + batch.clone().count();
        let mut window = window.into_iter();
        let place = |dim| match offsets.contains(&dim) {
            true => window.next().unwrap_or(1),
            false => batch.next().unwrap_or(1),
        };
        let result: Vec<i64> = all_dims(rank).into_iter().map(place).collect();
        Trial {
            op: Op::Gather {
                dimension_numbers: GatherDims {
                    offset_dims: offsets.clone(),
                    collapsed_slice_dims: collapsed.clone(),
                    operand_batching_dims: batching.clone(),
                    start_indices_batching_dims: index_batching.clone(),
                    start_index_map: map.clone(),
                    index_vector_dim: vector_dim,
                },
                slice_sizes: sizes.clone(),
                indices_are_sorted: false,
            },
            operands: vec![f32(operand), Shape::new(DType::I32, &indices[..])],
            unchecked: vec![f32(&result)],
        }
    });
}
