//! Element types, as graphs and as plugins name them.

use rectiflow_hlo::{DType, Shape};
use rectiflow_pjrt::{self as pjrt, ElementType};

use crate::error::{Code, Error, Result};

/// PJRT's name for a dtype. Both spell their types as MLIR does.
///
/// # Errors
/// [`Code::Array`] for tokens and tuples, which are no arrays.
pub(crate) fn element_type(dtype: DType) -> Result<ElementType> {
    let named = ElementType::ALL.iter().find(|ty| ty.name() == dtype.mlir());
    named.copied().ok_or_else(|| {
        Error::new(Code::Array, format!("an array of {dtype} cannot be on a device"))
    })
}

/// The dtype of a plugin's array.
///
/// # Errors
/// [`Code::Array`] for a type that graphs do not know.
pub(crate) fn dtype(element_type: ElementType) -> Result<DType> {
    let named = DType::ALL.iter().find(|dtype| dtype.mlir() == element_type.name());
    named.copied().ok_or_else(|| {
        let message = format!("an array of {element_type} cannot be used in a graph");
        Error::new(Code::Array, message)
    })
}

/// The shape of a plugin's array.
///
/// # Errors
/// As [`dtype`].
pub(crate) fn shape(shape: &pjrt::Shape) -> Result<Shape> {
    Ok(Shape::new(dtype(shape.element_type())?, shape.dims()))
}
