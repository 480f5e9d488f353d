//! Reading and writing at positions known only when running.

use super::{ensure_combiner, ensure_distinct_dims, ensure_per_dim, operands, shapes};
use crate::{
    GatherDims, ScatterDims, Shape,
    error::Mismatch,
    op::{Inferred, Inputs},
};

/// One scalar integer for each dim, all of one type.
fn ensure_positions(positions: &[Shape], rank: usize) -> Result<(), Mismatch> {
    let scalars =
        positions.iter().all(|p| p.dims.is_empty() && p.dtype.is_integer() && *p == positions[0]);
    ensure!(
        scalars && positions.len() == rank,
        format!("{rank} scalar integers of one type"),
        shapes(positions),
    )
}

pub(crate) fn dynamic_slice(inputs: &Inputs<'_>, slice_sizes: &[i64]) -> Inferred {
    let Some((operand, positions)) = inputs.operands.split_first() else {
        return Err(Mismatch::new("an operand", "none"));
    };
    ensure_positions(positions, operand.rank())?;
    ensure_slice_sizes(slice_sizes, operand)?;
    Ok(vec![operand.with_dims(slice_sizes)])
}

fn ensure_slice_sizes(slice_sizes: &[i64], operand: &Shape) -> Result<(), Mismatch> {
    ensure_per_dim("slice sizes", slice_sizes, operand.rank())?;
    let fits = slice_sizes.iter().zip(&operand.dims).all(|(&size, &dim)| 0 <= size && size <= dim);
    ensure!(fits, format!("slice sizes from 0 to {:?}", operand.dims), format!("{slice_sizes:?}"))
}

pub(crate) fn dynamic_update_slice(inputs: &Inputs<'_>) -> Inferred {
    let [operand, update, positions @ ..] = inputs.operands else {
        return Err(Mismatch::new("an operand and an update", shapes(inputs.operands)));
    };
    ensure_positions(positions, operand.rank())?;
    let fits = update.dtype == operand.dtype
        && update.rank() == operand.rank()
        && update.dims.iter().zip(&operand.dims).all(|(u, o)| u <= o);
    ensure!(fits, format!("an update that fits in {operand}"), update)?;
    Ok(vec![operand.clone()])
}

/// Dims of the indices without the one that holds the index vector.
fn index_batch_dims(
    indices: &Shape,
    index_vector_dim: i64,
    components: usize,
) -> Result<Vec<i64>, Mismatch> {
    ensure!(indices.dtype.is_integer(), "integer indices", indices)?;
    let rank = indices.rank() as i64;
    ensure!(
        (0..=rank).contains(&index_vector_dim),
        format!("an index vector dim from 0 to {rank}"),
        index_vector_dim,
    )?;
    let mut batch = indices.dims.clone();
    let size = if index_vector_dim == rank { 1 } else { batch.remove(index_vector_dim as usize) };
    ensure!(
        size == components as i64,
        format!("index vectors of {components} components"),
        indices,
    )?;
    Ok(batch)
}

/// The dims that do not appear in `dropped`, with their sizes from `sizes`.
fn kept(sizes: &[i64], dropped: [&[i64]; 2]) -> Vec<i64> {
    let keep = |dim: &i64| !dropped.iter().any(|list| list.contains(dim));
    (0..sizes.len() as i64).filter(keep).map(|dim| sizes[dim as usize]).collect()
}

/// Batching dims of the operand and the indices pair up with equal sizes.
fn ensure_batching(
    operand: &Shape,
    dims: &[i64],
    indices: &Shape,
    index_dims: &[i64],
    vector_dim: i64,
) -> Result<(), Mismatch> {
    ensure_distinct_dims(dims, operand)?;
    ensure_distinct_dims(index_dims, indices)?;
    ensure!(
        !index_dims.contains(&vector_dim),
        "batching dims other than the index vector dim",
        vector_dim,
    )?;
    let paired = dims.len() == index_dims.len()
        && dims
            .iter()
            .zip(index_dims)
            .all(|(&a, &b)| operand.dims[a as usize] == indices.dims[b as usize]);
    ensure!(
        paired,
        "batching dims of equal size",
        format!("{dims:?} of {operand} and {index_dims:?} of {indices}"),
    )
}

/// StableHLO's verifier wants these lists in order.
fn ensure_rising(name: &str, dims: &[i64]) -> Result<(), Mismatch> {
    let rising = dims.windows(2).all(|pair| pair[0] < pair[1]);
    ensure!(rising, format!("rising {name}"), format!("{dims:?}"))
}

/// Distributes `window` over the dims `window_dims` of a result and `batch` over the others.
fn interleave(window_dims: &[i64], window: &[i64], batch: &[i64]) -> Result<Vec<i64>, Mismatch> {
    let rank = window.len() + batch.len();
    let sorted = window_dims.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = window_dims.iter().all(|&dim| (0..rank as i64).contains(&dim));
    ensure!(
        sorted && inside && window_dims.len() == window.len(),
        format!("{} rising window dims from 0 to before {rank}", window.len()),
        format!("{window_dims:?}"),
    )?;
    let (mut window, mut batch) = (window.iter(), batch.iter());
    let mut next = |dim: i64| if window_dims.contains(&dim) { window.next() } else { batch.next() };
    Ok((0..rank as i64).filter_map(|dim| next(dim).copied()).collect())
}

pub(crate) fn gather(
    inputs: &Inputs<'_>,
    dims: &GatherDims,
    slice_sizes: &[i64],
    _sorted: &bool,
) -> Inferred {
    let [operand, indices] = operands(inputs)?;
    ensure_rising("collapsed slice dims", &dims.collapsed_slice_dims)?;
    ensure_rising("operand batching dims", &dims.operand_batching_dims)?;
    ensure_distinct_dims(&dims.start_index_map, operand)?;
    let batch = index_batch_dims(indices, dims.index_vector_dim, dims.start_index_map.len())?;
    ensure_slice_sizes(slice_sizes, operand)?;
    ensure_batching(
        operand,
        &dims.operand_batching_dims,
        indices,
        &dims.start_indices_batching_dims,
        dims.index_vector_dim,
    )?;
    let dropped = [&dims.collapsed_slice_dims[..], &dims.operand_batching_dims[..]];
    ensure_distinct_dims(&dropped.concat(), operand)?;
    // The specification allows 0 as well, which leaves nothing to take the one element from.
    let unit = dropped.concat().iter().all(|&dim| slice_sizes[dim as usize] == 1);
    ensure!(unit, "slice size 1 in collapsed and batching dims", format!("{slice_sizes:?}"))?;
    let free = dims.start_index_map.iter().all(|dim| !dims.operand_batching_dims.contains(dim));
    ensure!(
        free,
        "a start index map without batching dims",
        format!("{:?}", dims.start_index_map)
    )?;
    let result = interleave(&dims.offset_dims, &kept(slice_sizes, dropped), &batch)?;
    Ok(vec![operand.with_dims(result)])
}

pub(crate) fn scatter(
    inputs: &Inputs<'_>,
    dims: &ScatterDims,
    _sorted: &bool,
    _unique: &bool,
) -> Inferred {
    let n = inputs.operands.len() / 2;
    ensure!(
        inputs.operands.len() == 2 * n + 1 && n > 0,
        "inputs, indices and as many updates",
        shapes(inputs.operands),
    )?;
    let (values, indices, updates) =
        (&inputs.operands[..n], &inputs.operands[n], &inputs.operands[n + 1..]);
    let input = &values[0];
    ensure_rising("inserted window dims", &dims.inserted_window_dims)?;
    ensure_rising("input batching dims", &dims.input_batching_dims)?;
    let indexed = &dims.scatter_dims_to_operand_dims;
    let free = indexed.iter().all(|dim| !dims.input_batching_dims.contains(dim));
    ensure!(free, "scatter dims without batching dims", format!("{indexed:?}"))?;
    ensure_distinct_dims(&dims.scatter_dims_to_operand_dims, input)?;
    let batch =
        index_batch_dims(indices, dims.index_vector_dim, dims.scatter_dims_to_operand_dims.len())?;
    ensure_batching(
        input,
        &dims.input_batching_dims,
        indices,
        &dims.scatter_indices_batching_dims,
        dims.index_vector_dim,
    )?;
    let dropped = [&dims.inserted_window_dims[..], &dims.input_batching_dims[..]];
    ensure_distinct_dims(&dropped.concat(), input)?;
    let bounds = kept(&input.dims, dropped);
    let window: Vec<i64> = dims
        .update_window_dims
        .iter()
        .filter_map(|&d| updates[0].dims.get(usize::try_from(d).ok()?).copied())
        .collect();
    let expected = interleave(&dims.update_window_dims, &window, &batch)?;
    for (value, update) in values.iter().zip(updates) {
        ensure!(value.dims == input.dims, format!("inputs of dims {:?}", input.dims), value)?;
        ensure!(
            *update == value.with_dims(&expected[..]),
            format!("updates of dims {expected:?} and the input's dtype"),
            update,
        )?;
    }
    let fits = window.len() == bounds.len() && window.iter().zip(&bounds).all(|(w, b)| w <= b);
    ensure!(fits, format!("an update window within {bounds:?}"), format!("{window:?}"))?;
    ensure_combiner(inputs, values)?;
    Ok(values.to_vec())
}
