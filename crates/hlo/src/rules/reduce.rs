//! Folding, windows and order.

use super::{
    closed_regions, ensure_combiner, ensure_dim, ensure_distinct_dims, ensure_per_dim, operands,
    shapes,
};
use crate::{
    DType, Pairs, Shape,
    error::Mismatch,
    op::{Inferred, Inputs},
};

/// Values of equal dims, then as many scalar initial values of the same dtypes.
fn values_and_inits<'a>(inputs: &Inputs<'a>) -> Result<&'a [Shape], Mismatch> {
    let n = inputs.operands.len() / 2;
    ensure!(
        n > 0 && inputs.operands.len() == 2 * n,
        "values and as many initial values",
        shapes(inputs.operands),
    )?;
    let (values, inits) = inputs.operands.split_at(n);
    for (value, init) in values.iter().zip(inits) {
        ensure!(
            value.dims == values[0].dims,
            format!("values of dims {:?}", values[0].dims),
            value,
        )?;
        ensure!(
            *init == Shape::scalar(value.dtype),
            format!("an initial value tensor<{}>", value.dtype),
            init,
        )?;
    }
    ensure_combiner(inputs, values)?;
    Ok(values)
}

pub(crate) fn reduce(inputs: &Inputs<'_>, dimensions: &[i64]) -> Inferred {
    let values = values_and_inits(inputs)?;
    ensure_distinct_dims(dimensions, &values[0])?;
    let keep = |dim: &usize| !dimensions.contains(&(*dim as i64));
    let dims: Vec<i64> =
        (0..values[0].rank()).filter(keep).map(|dim| values[0].dims[dim]).collect();
    Ok(values.iter().map(|value| value.with_dims(&dims[..])).collect())
}

/// Positions of a window of `size` over a dim, all dilated and padded.
pub(super) struct WindowDim {
    pub(super) size: i64,
    pub(super) stride: i64,
    pub(super) base_dilation: i64,
    pub(super) window_dilation: i64,
    pub(super) padding: (i64, i64),
}

impl WindowDim {
    pub(super) fn positions(&self, dim: i64) -> Result<i64, Mismatch> {
        let least =
            [self.size, self.stride, self.base_dilation, self.window_dilation].into_iter().min();
        ensure!(
            least >= Some(1),
            "window sizes, strides and dilations of at least 1",
            format!("{least:?}"),
        )?;
        // In 128 bits, since each number may be near the end of 64.
        let wide = i128::from;
        let dilated = |n: i64, by: i64| if n == 0 { 0 } else { wide(n - 1) * wide(by) + 1 };
        let base = dilated(dim, self.base_dilation) + wide(self.padding.0) + wide(self.padding.1);
        ensure!(base >= 0, "padding that leaves the dim at least 0", base)?;
        let window = dilated(self.size, self.window_dilation);
        let positions = if base < window { 0 } else { (base - window) / wide(self.stride) + 1 };
        i64::try_from(positions)
            .map_err(|_| Mismatch::new("positions that fit in an i64", positions.to_string()))
    }
}

pub(crate) fn reduce_window(
    inputs: &Inputs<'_>,
    sizes: &[i64],
    strides: &[i64],
    base_dilations: &[i64],
    window_dilations: &[i64],
    padding: &Pairs,
) -> Inferred {
    let values = values_and_inits(inputs)?;
    let rank = values[0].rank();
    for (name, numbers) in [
        ("window sizes", sizes),
        ("window strides", strides),
        ("base dilations", base_dilations),
        ("window dilations", window_dilations),
    ] {
        ensure_per_dim(name, numbers, rank)?;
    }
    ensure!(padding.0.len() == rank, format!("{rank} pairs of padding"), padding.0.len())?;
    let dims = (0..rank).map(|i| {
        let window = WindowDim {
            size: sizes[i],
            stride: strides[i],
            base_dilation: base_dilations[i],
            window_dilation: window_dilations[i],
            padding: padding.0[i],
        };
        window.positions(values[0].dims[i])
    });
    let dims = dims.collect::<Result<Vec<i64>, Mismatch>>()?;
    Ok(values.iter().map(|value| value.with_dims(&dims[..])).collect())
}

pub(crate) fn sort(inputs: &Inputs<'_>, dimension: &i64, _is_stable: &bool) -> Inferred {
    let Some(first) = inputs.operands.first() else {
        return Err(Mismatch::new("an operand", "none"));
    };
    ensure_dim(*dimension, first)?;
    let equal = inputs.operands.iter().all(|shape| shape.dims == first.dims);
    ensure!(equal, "operands of equal dims", shapes(inputs.operands))?;
    let [comparator] = closed_regions::<1>(inputs)?;
    let returns_pred = comparator.results == [Shape::scalar(DType::Pred)];
    ensure!(returns_pred, "a comparator that returns tensor<i1>", shapes(&comparator.results))?;
    Ok(inputs.operands.to_vec())
}

pub(crate) fn top_k(inputs: &Inputs<'_>, k: &i64) -> Inferred {
    let [operand] = operands(inputs)?;
    let Some(&last) = operand.dims.last() else {
        return Err(Mismatch::new("at least 1 dim", operand.to_string()));
    };
    ensure!((0..=last).contains(k), format!("a k from 0 to {last}"), k)?;
    let mut dims = operand.dims.clone();
    dims[operand.rank() - 1] = *k;
    Ok(vec![operand.with_dims(&dims[..]), Shape::new(DType::I32, dims)])
}
