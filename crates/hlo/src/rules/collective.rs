//! Exchanges between the replicas or partitions of a program.

use super::{ensure_combiner, ensure_dim, operands};
use crate::{
    Channel, DType, Pairs, ReplicaGroups, Shape, Sharding,
    attribute::Unit,
    error::Mismatch,
    op::{Inferred, Inputs},
};

/// Groups of one size, no id twice, none negative.
fn ensure_groups(groups: &ReplicaGroups) -> Result<(), Mismatch> {
    let size = groups.size();
    ensure!(size > 0, "groups of at least 1 id", "none")?;
    let equal = groups.0.iter().all(|ids| ids.len() == size);
    ensure!(equal, format!("groups of {size} ids each"), format!("{:?}", groups.0))?;
    let mut ids = groups.0.concat();
    ids.sort_unstable();
    let distinct = ids.windows(2).all(|pair| pair[0] < pair[1]) && ids[0] >= 0;
    ensure!(distinct, "ids from 0, each in one group", format!("{:?}", groups.0))
}

fn ensure_channel(channel: &Option<Channel>, global_ids: &Unit) -> Result<(), Mismatch> {
    let positive = channel.is_none_or(|channel| channel.0 >= 1);
    ensure!(positive, "a channel from 1", format!("{channel:?}"))?;
    ensure!(
        !global_ids.0 || channel.is_some(),
        "a channel when ids are global device ids",
        "no channel",
    )
}

pub(crate) fn all_reduce(
    inputs: &Inputs<'_>,
    groups: &ReplicaGroups,
    channel: &Option<Channel>,
    global_ids: &Unit,
) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure_groups(groups)?;
    ensure_channel(channel, global_ids)?;
    ensure_combiner(inputs, std::slice::from_ref(operand))?;
    Ok(vec![operand.clone()])
}

pub(crate) fn all_gather(
    inputs: &Inputs<'_>,
    dim: &i64,
    groups: &ReplicaGroups,
    channel: &Option<Channel>,
    global_ids: &Unit,
) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure_groups(groups)?;
    ensure_channel(channel, global_ids)?;
    ensure_dim(*dim, operand)?;
    let size = operand.dims[*dim as usize];
    ensure!(size > 0, "at least 1 element along the gathered dim", operand)?;
    let mut result = operand.clone();
    let joined = &mut result.dims[*dim as usize];
    *joined = joined.saturating_mul(groups.size() as i64);
    Ok(vec![result])
}

/// `dim` cut into `parts` equal parts.
fn split(shape: &Shape, dim: i64, parts: i64) -> Inferred {
    ensure_dim(dim, shape)?;
    let mut result = shape.clone();
    let size = &mut result.dims[dim as usize];
    ensure!(
        parts >= 1 && *size % parts == 0,
        format!("dim {dim} divisible into {parts} parts"),
        shape,
    )?;
    *size /= parts;
    Ok(vec![result])
}

pub(crate) fn reduce_scatter(
    inputs: &Inputs<'_>,
    dim: &i64,
    groups: &ReplicaGroups,
    channel: &Option<Channel>,
    global_ids: &Unit,
) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure_groups(groups)?;
    ensure_channel(channel, global_ids)?;
    ensure_combiner(inputs, std::slice::from_ref(operand))?;
    let results = split(operand, *dim, groups.size() as i64)?;
    ensure!(results[0].dims[*dim as usize] > 0, "at least 1 element for each member", operand)?;
    Ok(results)
}

pub(crate) fn all_to_all(
    inputs: &Inputs<'_>,
    split_dim: &i64,
    concat_dim: &i64,
    count: &i64,
    groups: &ReplicaGroups,
    channel: &Option<Channel>,
) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure_groups(groups)?;
    ensure_channel(channel, &Unit(false))?;
    ensure!(
        *count == groups.size() as i64,
        format!("a split count of {}, the group size", groups.size()),
        count,
    )?;
    ensure_dim(*concat_dim, operand)?;
    let mut results = split(operand, *split_dim, *count)?;
    let joined = &mut results[0].dims[*concat_dim as usize];
    *joined = joined.saturating_mul(*count);
    Ok(results)
}

pub(crate) fn collective_permute(
    inputs: &Inputs<'_>,
    pairs: &Pairs,
    channel: &Option<Channel>,
) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure_channel(channel, &Unit(false))?;
    let distinct = |ids: Vec<i64>| {
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len() == ids.len() && sorted.first().is_none_or(|&id| id >= 0)
    };
    let sources = distinct(pairs.0.iter().map(|pair| pair.0).collect());
    let targets = distinct(pairs.0.iter().map(|pair| pair.1).collect());
    ensure!(
        sources && targets,
        "each source and each target once, from 0",
        format!("{:?}", pairs.0),
    )?;
    Ok(vec![operand.clone()])
}

pub(crate) fn id(_: &Inputs<'_>) -> Inferred {
    Ok(vec![Shape::scalar(DType::U32)])
}

/// The mesh and axes are checked when the graph is finished.
pub(crate) fn constrained(inputs: &Inputs<'_>, _: &Sharding) -> Inferred {
    let [operand] = operands(inputs)?;
    Ok(vec![operand.clone()])
}
