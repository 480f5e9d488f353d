//! Element type and dimensions of an array.

use std::fmt;

use crate::element_type::ElementType;
use crate::error::{Error, Result};

/// Element type and dimensions of a dense array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    element_type: ElementType,
    dims: Box<[i64]>,
}

impl Shape {
    /// A shape with checked dimensions.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if a dimension is negative, or the array's bytes do
    /// not fit the address space.
    pub fn new(element_type: ElementType, dims: &[i64]) -> Result<Self> {
        host_bytes(element_type, dims)?;
        Ok(Shape { element_type, dims: dims.into() })
    }

    /// For shapes a plugin reports.
    pub(crate) fn trusted(element_type: ElementType, dims: &[i64]) -> Self {
        Shape { element_type, dims: dims.into() }
    }

    /// The element type.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The size of each dimension, outermost first.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Bytes of a dense copy in host memory.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if they do not fit the address space.
    pub fn host_bytes(&self) -> Result<usize> {
        host_bytes(self.element_type, &self.dims)
    }
}

/// Bytes of a dense host array; refuses negative and overflowing dimensions.
pub(crate) fn host_bytes(element_type: ElementType, dims: &[i64]) -> Result<usize> {
    let mut bytes = element_type.host_bytes() as i64;
    for dim in dims {
        let next = if *dim < 0 { None } else { bytes.checked_mul(*dim) };
        bytes = next.ok_or_else(|| {
            Error::invalid(format!("dimensions {dims:?} of {element_type} are not a valid shape"))
        })?;
    }
    Ok(bytes as usize)
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.element_type, self.dims)
    }
}
