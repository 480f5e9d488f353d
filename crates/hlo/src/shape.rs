//! Shapes: an element type and dimensions, or a tuple of shapes.

use std::fmt;

use crate::DType;

/// A dtype and its dims, as in HLO. A rank 0 shape is a scalar; a dim may be zero.
///
/// Tuples and tokens are shapes too ([`Shape::tuple`], [`Shape::token`]); they have no dims.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Element type.
    pub dtype: DType,
    /// Dimensions, outermost first; never negative in a recorded graph.
    pub dims: Vec<i64>,
    /// The members when `dtype` is [`DType::Tuple`], else empty.
    pub elements: Vec<Shape>,
}

impl Shape {
    /// An array of `dtype` with `dims`.
    pub fn new(dtype: DType, dims: impl Into<Vec<i64>>) -> Shape {
        Shape { dtype, dims: dims.into(), elements: Vec::new() }
    }

    /// A scalar.
    pub fn scalar(dtype: DType) -> Shape {
        Shape::new(dtype, [])
    }

    /// A tuple.
    pub fn tuple(elements: impl Into<Vec<Shape>>) -> Shape {
        Shape { dtype: DType::Tuple, dims: Vec::new(), elements: elements.into() }
    }

    /// A token.
    pub fn token() -> Shape {
        Shape::scalar(DType::Token)
    }

    /// Number of dims.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Number of elements; `None` when the product of the dims does not fit in an `i64`.
    pub fn element_count(&self) -> Option<i64> {
        if self.dims.contains(&0) {
            return Some(0);
        }
        self.dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d))
    }

    /// Bytes of a dense host array of this shape, sub-byte elements taking one byte each; `None`
    /// when it does not fit in an `i64`.
    pub fn byte_size(&self) -> Option<i64> {
        self.element_count()?.checked_mul(self.dtype.byte_size() as i64)
    }

    /// The same dims with another element type.
    pub fn with_dtype(&self, dtype: DType) -> Shape {
        Shape::new(dtype, self.dims.clone())
    }

    /// The same element type with other dims.
    pub fn with_dims(&self, dims: impl Into<Vec<i64>>) -> Shape {
        Shape::new(self.dtype, dims)
    }
}

/// MLIR's spelling: `tensor<2x3xf32>`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::Token => f.write_str("!stablehlo.token"),
            DType::Tuple => {
                f.write_str("tuple<")?;
                for (i, element) in self.elements.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str(">")
            }
            dtype => {
                f.write_str("tensor<")?;
                for dim in &self.dims {
                    write!(f, "{dim}x")?;
                }
                write!(f, "{dtype}>")
            }
        }
    }
}
