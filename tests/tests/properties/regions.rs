//! Ops with regions, convolutions and collectives, through their builders.

use anyhow::{Result, ensure};
use proptest::prelude::*;
use rectiflow_hlo::{
    Channel, ConvDims, Convolution, DType, Graph, ScatterDims, Shape, Tensor, Window,
};
use rectiflow_pjrt::CompileOptions;

use crate::{compiled, dims, f32, for_each};

/// What the builder accepts compiles to the same shapes; says whether it did accept.
fn agree(
    operands: &[Shape],
    record: impl FnOnce(&Graph, &[Tensor]) -> Vec<Tensor>,
    options: &CompileOptions,
    n_devices: usize,
) -> Result<bool> {
    let graph = Graph::new();
    let inputs: Vec<Tensor> = operands.iter().map(|s| graph.parameter("x", s.clone())).collect();
    let results = record(&graph, &inputs);
    let Ok(module) = graph.finish(&results.iter().collect::<Vec<_>>()) else { return Ok(false) };
    let text = module.to_string();
    let theirs = compiled(text.clone(), options, n_devices).map_err(|e| e.context(text))?;
    ensure!(theirs == module.result_shapes(), "{theirs:?}, not {:?}", module.result_shapes());
    Ok(true)
}

/// Checks values of a strategy, most of which must be accepted.
fn check<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> Result<bool>) {
    let accepted = std::cell::Cell::new(0);
    for_each(40, strategy, |value| {
        accepted.set(accepted.get() + usize::from(test(value)?));
        Ok(())
    });
    println!("{} accepted of 40", accepted.get());
    assert!(accepted.get() >= 15, "{} accepted of 40 are too few", accepted.get());
}

fn one(operands: &[Shape], record: impl FnOnce(&Graph, &[Tensor]) -> Vec<Tensor>) -> Result<bool> {
    agree(operands, record, &CompileOptions::new(), 1)
}

#[test]
fn reduce() {
    let folds = (dims(0..5), prop::collection::vec(0..5i64, 0..3));
    check(folds, |(dims, fold)| one(&[f32(&dims)], |_, x| vec![x[0].sum(fold)]));
}

#[test]
fn sort() {
    let sorts = (dims(1..4), 0..3i64);
    check(sorts, |(dims, dim)| {
        one(&[f32(&dims), Shape::new(DType::I32, dims)], |graph, x| {
            graph.sort(&[&x[0], &x[1]], dim, false, |a, b| a[0].lt(&b[0]))
        })
    });
}

/// Size, stride, base and window dilation, low and high padding of one dim.
type Moves = (i64, i64, i64, i64, (i64, i64));

fn moves() -> impl Strategy<Value = Moves> {
    (1..4i64, 1..4i64, 1..3i64, 1..3i64, (-2..3i64, -2..3i64))
}

#[test]
fn reduce_window() {
    let windows = prop::collection::vec((0..7i64, moves()), 0..4);
    check(windows, |all| {
        let dims: Vec<i64> = all.iter().map(|(dim, _)| *dim).collect();
        let window = Window {
            dimensions: all.iter().map(|(_, m)| m.0).collect(),
            strides: all.iter().map(|(_, m)| m.1).collect(),
            base_dilations: all.iter().map(|(_, m)| m.2).collect(),
            window_dilations: all.iter().map(|(_, m)| m.3).collect(),
            padding: all.iter().map(|(_, m)| m.4).collect(),
        };
        one(&[f32(&dims)], |graph, x| {
            vec![x[0].reduce_window(&graph.full(f32(&[]), 0), &window, |a, b| a.add(b))]
        })
    });
}

#[test]
fn convolution() {
    let spatial = prop::collection::vec((1..7i64, moves()), 0..4);
    // Batch, channels in a group, output channels in a group, feature groups, batch groups.
    let counts = (1..3i64, 1..3i64, 1..3i64, 1..3i64, 1..3i64);
    check((spatial, counts, any::<bool>()), |(all, counts, last)| {
        let (batch, inner, outer, feature_groups, batch_groups) = counts;
        let rank = all.len();
        let groups = feature_groups * batch_groups;
        let input = (batch * batch_groups, inner * feature_groups);
        let (sizes, window): (Vec<i64>, Vec<i64>) = all.iter().map(|(dim, m)| (*dim, m.0)).unzip();
        let (lhs, rhs, dims) = match last {
            false => (
                [&[input.0, input.1], &sizes[..]].concat(),
                [&[outer * groups, inner], &window[..]].concat(),
                ConvDims::nchw(rank),
            ),
            true => (
                [&[input.0], &sizes[..], &[input.1]].concat(),
                [&window[..], &[inner, outer * groups]].concat(),
                ConvDims::nhwc(rank),
            ),
        };
        let options = Convolution {
            strides: all.iter().map(|(_, m)| m.1).collect(),
            input_dilation: all.iter().map(|(_, m)| m.2).collect(),
            kernel_dilation: all.iter().map(|(_, m)| m.3).collect(),
            padding: all.iter().map(|(_, m)| m.4).collect(),
            feature_groups,
            batch_groups,
            ..Convolution::new(dims)
        };
        one(&[f32(&lhs), f32(&rhs)], |_, x| vec![x[0].convolution(&x[1], &options)])
    });
}

/// Windows of an input of rank 3 whose first dims are not in the window.
#[test]
fn scatter() {
    let input = prop::collection::vec(1..5i64, 3);
    let batch = prop::collection::vec(0..4i64, 0..3);
    let picks = any::<[prop::sample::Index; 3]>();
    check((input, batch, 0..4usize, picks), |(input, batch, n_inserted, picks)| {
        let size = |dim: usize| 1 + picks[dim].index(input[dim] as usize) as i64;
        let window: Vec<i64> = (n_inserted..3).map(size).collect();
        let updates = [&batch[..], &window[..]].concat();
        let dims = ScatterDims {
            update_window_dims: (batch.len() as i64..updates.len() as i64).collect(),
            inserted_window_dims: (0..n_inserted as i64).collect(),
            scatter_dims_to_operand_dims: vec![2, 0],
            index_vector_dim: batch.len() as i64,
            ..ScatterDims::default()
        };
        let indices = Shape::new(DType::I32, [&batch[..], &[2]].concat());
        one(&[f32(&input), indices, f32(&updates)], |_, x| {
            vec![x[0].scatter(&x[1], &x[2], dims, |a, b| a.add(b))]
        })
    });
}

#[test]
fn collectives() {
    let groups = prop_oneof![
        Just(vec![vec![0, 1, 2, 3]]),
        Just(vec![vec![0, 3], vec![2, 1]]),
        Just(vec![vec![0], vec![1], vec![2], vec![3]]),
    ];
    let sizes = prop::collection::vec(0..9i64, 1..4);
    let channel = prop_oneof![Just(None), Just(Some(Channel(3)))];
    check((sizes, groups, 0..3i64, 0..3i64, channel), |(dims, groups, split, concat, channel)| {
        let options = match channel {
            None => CompileOptions::new().replicas(4),
            Some(_) => CompileOptions::new().partitions(4),
        };
        let alone = |record: &dyn Fn(&Tensor) -> Tensor| {
            agree(&[f32(&dims)], |_, x| vec![record(&x[0])], &options, 4)
        };
        let gathered = alone(&|x| x.all_gather(split, groups.clone(), channel))?;
        let scattered =
            alone(&|x| x.reduce_scatter(split, groups.clone(), channel, |a, b| a.add(b)))?;
        let exchanged = alone(&|x| x.all_to_all(split, concat, groups.clone(), channel))?;
        Ok(gathered || scattered || exchanged)
    });
}
