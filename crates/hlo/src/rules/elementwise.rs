//! Elementwise ops: dims stay, element types follow from the op.

use super::{operands, shapes};
use crate::{
    Class, CompareType, DType, Direction, Shape,
    error::Mismatch,
    op::{Inferred, Inputs},
};

/// All operands have one shape, which is the result's.
pub(crate) fn same(inputs: &Inputs<'_>) -> Inferred {
    same_shape(inputs).map(|shape| vec![shape.clone()])
}

fn same_shape<'a>(inputs: &Inputs<'a>) -> Result<&'a Shape, Mismatch> {
    let Some((first, rest)) = inputs.operands.split_first() else {
        return Err(Mismatch::new("an operand", "none"));
    };
    let equal = rest.iter().all(|shape| shape == first);
    ensure!(equal, "operands of equal dtype, with dims that broadcast", shapes(inputs.operands))?;
    Ok(first)
}

/// As [`same`], but complex elements give their real type.
pub(crate) fn real_part(inputs: &Inputs<'_>) -> Inferred {
    same_shape(inputs).map(|shape| vec![shape.with_dtype(shape.dtype.real())])
}

/// As [`same`], to `pred`.
pub(crate) fn predicate(inputs: &Inputs<'_>) -> Inferred {
    same_shape(inputs).map(|shape| vec![shape.with_dtype(DType::Pred)])
}

pub(crate) fn complex(inputs: &Inputs<'_>) -> Inferred {
    let part = same_shape(inputs)?;
    let dtype = if part.dtype == DType::F64 { DType::C128 } else { DType::C64 };
    Ok(vec![part.with_dtype(dtype)])
}

pub(crate) fn compare(
    inputs: &Inputs<'_>,
    direction: &Direction,
    ty: &Option<CompareType>,
) -> Inferred {
    let shape = same_shape(inputs)?;
    let class = shape.dtype.class();
    let ordered = !matches!(direction, Direction::Eq | Direction::Ne);
    ensure!(!(ordered && class == Class::Complex), "an ordered element type", shape)?;
    let fits = match ty {
        None => true,
        Some(CompareType::TotalOrder) => class == Class::Float,
        Some(CompareType::Float) => matches!(class, Class::Float | Class::Complex),
        Some(CompareType::Signed) => class == Class::Signed,
        Some(CompareType::Unsigned) => matches!(class, Class::Unsigned | Class::Pred),
    };
    ensure!(fits, format!("a comparison type for {}", shape.dtype), format!("{ty:?}"))?;
    predicate(inputs)
}

pub(crate) fn select(inputs: &Inputs<'_>) -> Inferred {
    let [pred, on_true, on_false] = operands(inputs)?;
    ensure!(
        on_true == on_false,
        "two values of equal shape",
        shapes(&[on_true.clone(), on_false.clone()]),
    )?;
    let fits = pred.dims.is_empty() || pred.dims == on_true.dims;
    ensure!(fits, format!("a scalar pred or one of dims {:?}", on_true.dims), pred)?;
    Ok(vec![on_true.clone()])
}

pub(crate) fn clamp(inputs: &Inputs<'_>) -> Inferred {
    let [min, operand, max] = operands(inputs)?;
    for bound in [min, max] {
        let fits =
            bound.dtype == operand.dtype && (bound.dims.is_empty() || bound.dims == operand.dims);
        ensure!(fits, format!("bounds of {operand} or tensor<{}>", operand.dtype), bound)?;
    }
    Ok(vec![operand.clone()])
}

pub(crate) fn convert(inputs: &Inputs<'_>, dtype: &DType) -> Inferred {
    let [operand] = operands(inputs)?;
    ensure!(dtype.bits() > 0, "an element type", dtype)?;
    Ok(vec![operand.with_dtype(*dtype)])
}

pub(crate) fn bitcast_convert(inputs: &Inputs<'_>, dtype: &DType) -> Inferred {
    let [operand] = operands(inputs)?;
    let (from, to) = (operand.dtype.bits(), dtype.bits());
    let complex = |dtype: DType| dtype.class() == Class::Complex;
    let castable = to > 0 && *dtype != DType::Pred && operand.dtype != DType::Pred;
    ensure!(
        castable || *dtype == operand.dtype,
        "types other than pred",
        format!("{operand} to {dtype}"),
    )?;
    ensure!(
        complex(*dtype) == complex(operand.dtype),
        "both types complex or neither",
        format!("{operand} to {dtype}"),
    )?;
    let same_width = !complex(*dtype) || from == to;
    ensure!(same_width, "complex types of one width", format!("{operand} to {dtype}"))?;
    let mut dims = operand.dims.clone();
    if from > to {
        ensure!(from % to == 0, format!("a type whose bits divide {from}"), dtype)?;
        dims.push(i64::from(from / to));
    } else if to > from {
        let ratio = i64::from(to / from);
        let fits = to % from == 0 && dims.pop() == Some(ratio);
        ensure!(fits, format!("a last dim of {ratio} for {dtype}"), operand)?;
    }
    Ok(vec![Shape::new(*dtype, dims)])
}

pub(crate) fn reduce_precision(
    inputs: &Inputs<'_>,
    exponent_bits: &i32,
    mantissa_bits: &i32,
) -> Inferred {
    ensure!(*exponent_bits >= 1, "at least 1 exponent bit", exponent_bits)?;
    ensure!(*mantissa_bits >= 0, "at least 0 mantissa bits", mantissa_bits)?;
    same(inputs)
}
