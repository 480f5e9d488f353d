//! Shape rules, by family: from the shapes of the operands to those of the results.

/// `Err` with both sides unless the first is true; they are written only then, since rules are on
/// the path of every eager op.
macro_rules! ensure {
    ($holds:expr, $expected:expr, $found:expr $(,)?) => {
        if $holds { Ok(()) } else { Err($crate::Mismatch::new($expected, $found.to_string())) }
    };
}

pub(crate) mod collective;
pub(crate) mod contract;
pub(crate) mod control;
pub(crate) mod elementwise;
pub(crate) mod index;
pub(crate) mod reduce;
pub(crate) mod shape;

use crate::{DTypes, Shape, attribute::list, error::Mismatch, op::Inputs};

type Check = Result<(), Mismatch>;

/// The first operand's element type is one that the row allows.
pub(crate) fn check_dtype(inputs: &Inputs<'_>, dtypes: DTypes) -> Check {
    match inputs.operands.first() {
        Some(shape) => ensure!(dtypes.contains(shape.dtype), dtypes.to_string(), shape)?,
        None => return Ok(()),
    }
    // Rules compare the other operands with the first, or know their types; only tuples and tokens
    // would pass unseen.
    inputs.operands.iter().try_for_each(|shape| {
        let fits = shape.dtype.bits() > 0 || dtypes.contains(shape.dtype);
        ensure!(fits, "operands with elements", shape)
    })
}

/// The operands, if there are exactly `N`.
fn operands<'a, const N: usize>(inputs: &Inputs<'a>) -> Result<&'a [Shape; N], Mismatch> {
    inputs
        .operands
        .try_into()
        .map_err(|_| Mismatch::new(format!("{N} operands"), inputs.operands.len().to_string()))
}

fn shapes(shapes: &[Shape]) -> String {
    format!("({})", list(shapes))
}

/// `dim` is a dim of `shape`.
fn ensure_dim(dim: i64, shape: &Shape) -> Check {
    let rank = shape.rank();
    ensure!((0..rank as i64).contains(&dim), format!("a dim from 0 to before {rank}"), dim)
}

/// `dims` are dims of `shape`, none twice.
fn ensure_distinct_dims(dims: &[i64], shape: &Shape) -> Check {
    dims.iter().try_for_each(|&dim| ensure_dim(dim, shape))?;
    let distinct = dims.iter().enumerate().all(|(i, dim)| !dims[..i].contains(dim));
    ensure!(distinct, "each dim once", format!("{dims:?}"))
}

/// An attribute with one number per dim.
fn ensure_per_dim(name: &str, numbers: &[i64], rank: usize) -> Check {
    ensure!(
        numbers.len() == rank,
        format!("{rank} {name}, one for each dim"),
        format!("{numbers:?}"),
    )
}

/// Regions of the op, if there are exactly `N`, none using values from outside.
fn closed_regions<'a, const N: usize>(
    inputs: &Inputs<'a>,
) -> Result<&'a [crate::op::RegionType; N], Mismatch> {
    let regions: &[crate::op::RegionType; N] = inputs
        .regions
        .try_into()
        .map_err(|_| Mismatch::new(format!("{N} regions"), inputs.regions.len().to_string()))?;
    let captures: usize = regions.iter().map(|region| region.captures).sum();
    ensure!(
        captures == 0,
        "a body that uses only its own parameters",
        format!("{captures} values from outside"),
    )?;
    Ok(regions)
}

/// A body on pairs of scalars: for operands of dtypes t1.., parameters (t1.., t1..) and results t1...
fn ensure_combiner(inputs: &Inputs<'_>, values: &[Shape]) -> Check {
    let [body] = closed_regions::<1>(inputs)?;
    let scalars: Vec<Shape> = values.iter().map(|v| Shape::scalar(v.dtype)).collect();
    ensure!(
        body.results == scalars,
        format!("a body that returns {}", shapes(&scalars)),
        shapes(&body.results),
    )
}
