//! Ops that make or move elements without computing.

use super::{ensure_dim, ensure_distinct_dims, ensure_per_dim, operands, shapes};
use crate::{
    Class, Literal, Shape,
    attribute::ResultDims,
    op::{Inferred, Inputs},
};

/// Constants are part of the cache key and of the program text; more than this is a parameter.
const MAX_CONSTANT_BYTES: usize = 64 * 1024;

pub(crate) fn constant(_: &Inputs<'_>, value: &Literal) -> Inferred {
    ensure!(
        value.stored_bytes() <= MAX_CONSTANT_BYTES,
        format!("a constant of at most {MAX_CONSTANT_BYTES} bytes (make it a parameter)"),
        format!("{} bytes", value.stored_bytes()),
    )?;
    Ok(vec![value.shape().clone()])
}

pub(crate) fn iota(_: &Inputs<'_>, iota_dimension: &i64, shape: &Shape) -> Inferred {
    let counts = !matches!(shape.dtype.class(), Class::Pred | Class::None);
    ensure!(counts, "an integer, float or complex type", shape)?;
    ensure_dim(*iota_dimension, shape)?;
    Ok(vec![shape.clone()])
}

pub(crate) fn broadcast_in_dim(
    inputs: &Inputs<'_>,
    broadcast_dimensions: &[i64],
    dims: &ResultDims,
) -> Inferred {
    let [operand] = operands(inputs)?;
    let result = operand.with_dims(&dims.0[..]);
    ensure_per_dim("broadcast dimensions", broadcast_dimensions, operand.rank())?;
    ensure_distinct_dims(broadcast_dimensions, &result)?;
    for (&dim, &to) in operand.dims.iter().zip(broadcast_dimensions) {
        let target = result.dims[to as usize];
        ensure!(
            dim == 1 || dim == target,
            format!("a dim of 1 or {target} to become dim {to} of {result}"),
            dim,
        )?;
    }
    Ok(vec![result])
}

pub(crate) fn reshape(inputs: &Inputs<'_>, dims: &ResultDims) -> Inferred {
    let [operand] = operands(inputs)?;
    let result = operand.with_dims(&dims.0[..]);
    let (from, to) = (operand.element_count(), result.element_count());
    let count = from.unwrap_or(i64::MAX);
    ensure!(from == to, format!("dims of {count} elements"), format!("{:?}", dims.0))?;
    Ok(vec![result])
}

pub(crate) fn transpose(inputs: &Inputs<'_>, permutation: &[i64]) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure_per_dim("permutation entries", permutation, operand.rank())?;
    ensure_distinct_dims(permutation, operand)?;
    let dims: Vec<i64> = permutation.iter().map(|&dim| operand.dims[dim as usize]).collect();
    Ok(vec![operand.with_dims(dims)])
}

pub(crate) fn concatenate(inputs: &Inputs<'_>, dimension: &i64) -> Inferred {
    let Some(first) = inputs.operands.first() else {
        return Err(crate::error::Mismatch::new("an operand", "none"));
    };
    ensure_dim(*dimension, first)?;
    let at = *dimension as usize;
    let mut result = first.clone();
    result.dims[at] = 0;
    for shape in inputs.operands {
        let mut like = first.clone();
        let fits = shape.rank() == first.rank();
        like.dims[at] = if fits { shape.dims[at] } else { first.dims[at] };
        ensure!(
            *shape == like,
            format!("operands that differ in dim {dimension} only"),
            shapes(inputs.operands),
        )?;
        result.dims[at] = result.dims[at].saturating_add(shape.dims[at]);
    }
    Ok(vec![result])
}

pub(crate) fn slice(
    inputs: &Inputs<'_>,
    start: &[i64],
    limit: &[i64],
    strides: &[i64],
) -> Inferred {
    let [operand] = operands(inputs)?;
    for (name, numbers) in
        [("start indices", start), ("limit indices", limit), ("strides", strides)]
    {
        ensure_per_dim(name, numbers, operand.rank())?;
    }
    let mut dims = Vec::with_capacity(operand.rank());
    for (i, &dim) in operand.dims.iter().enumerate() {
        let inside = 0 <= start[i] && start[i] <= limit[i] && limit[i] <= dim;
        ensure!(
            inside,
            format!("0 <= start <= limit <= {dim} in dim {i}"),
            format!("{}..{}", start[i], limit[i]),
        )?;
        ensure!(strides[i] >= 1, "strides of at least 1", strides[i])?;
        let length = limit[i] - start[i];
        dims.push(if length == 0 { 0 } else { (length - 1) / strides[i] + 1 });
    }
    Ok(vec![operand.with_dims(dims)])
}

pub(crate) fn pad(inputs: &Inputs<'_>, low: &[i64], high: &[i64], interior: &[i64]) -> Inferred {
    let [operand, value] = operands(inputs)?;
    ensure!(
        *value == Shape::scalar(operand.dtype),
        format!("a scalar {} to pad with", operand.dtype),
        value,
    )?;
    for (name, numbers) in
        [("low paddings", low), ("high paddings", high), ("interior paddings", interior)]
    {
        ensure_per_dim(name, numbers, operand.rank())?;
    }
    let mut dims = Vec::with_capacity(operand.rank());
    for (i, &dim) in operand.dims.iter().enumerate() {
        ensure!(interior[i] >= 0, "interior padding of at least 0", interior[i])?;
        // In 128 bits, since opposite paddings may each be near the end of 64.
        let wide = i128::from;
        let gaps = wide((dim - 1).max(0)) * wide(interior[i]);
        let padded = wide(dim) + gaps + wide(low[i]) + wide(high[i]);
        let fits = i64::try_from(padded).ok().filter(|&padded| padded >= 0);
        ensure!(fits.is_some(), format!("padding that leaves dim {i} at least 0"), padded)?;
        let padded = fits.unwrap_or(0);
        dims.push(padded);
    }
    Ok(vec![operand.with_dims(dims)])
}

pub(crate) fn reverse(inputs: &Inputs<'_>, dimensions: &[i64]) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure_distinct_dims(dimensions, operand)?;
    Ok(vec![operand.clone()])
}
