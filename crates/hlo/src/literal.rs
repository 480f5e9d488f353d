//! Constant values: one number repeated, or dense elements.

mod number;
mod text;

use std::{fmt::Write as _, sync::Arc};

use half::{bf16, f16};

pub use number::Number;
use text::{push_element, push_nested, push_number};

use crate::{DType, Shape, error::Mismatch};

/// The value of a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Literal {
    shape: Shape,
    data: Data,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Data {
    Splat(Number),
    /// Row-major, little endian, [`DType::byte_size`] bytes an element.
    Dense(Arc<[u8]>),
}

/// A Rust type that is an element type.
pub trait Element: Copy {
    /// The element type.
    const DTYPE: DType;
    /// Appends the element's little endian bytes.
    fn push_bytes(self, bytes: &mut Vec<u8>);
}

macro_rules! elements {
    ($($ty:ty = $Variant:ident),*) => {
        $(impl Element for $ty {
            const DTYPE: DType = DType::$Variant;
            fn push_bytes(self, bytes: &mut Vec<u8>) { bytes.extend(self.to_le_bytes()); }
        })*
    };
}
elements!(
    i8 = I8,
    i16 = I16,
    i32 = I32,
    i64 = I64,
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    f16 = F16,
    bf16 = BF16,
    f32 = F32,
    f64 = F64
);

impl Element for bool {
    const DTYPE: DType = DType::Pred;
    fn push_bytes(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

impl Literal {
    /// Every element of `shape` is `value`. An integer is accepted for a float type, and a float
    /// without a fraction for an integer type.
    ///
    /// # Errors
    /// `value` is out of range of the element type, or `shape` has no elements to fill (a tuple).
    pub fn splat(shape: Shape, value: impl Into<Number>) -> Result<Literal, Mismatch> {
        let number = value.into().of_type(shape.dtype)?;
        Ok(Literal { shape, data: Data::Splat(number) })
    }

    /// Elements in row-major order.
    ///
    /// # Errors
    /// The number of elements is not the product of `dims`.
    pub fn from_slice<T: Element>(
        elements: &[T],
        dims: impl Into<Vec<i64>>,
    ) -> Result<Literal, Mismatch> {
        let mut bytes = Vec::with_capacity(elements.len() * T::DTYPE.byte_size());
        elements.iter().for_each(|element| element.push_bytes(&mut bytes));
        Literal::from_bytes(Shape::new(T::DTYPE, dims), bytes)
    }

    /// Elements in row-major order, little endian, [`DType::byte_size`] bytes each (`pred` and
    /// sub-byte types take a byte, the value in its low bits).
    ///
    /// # Errors
    /// The number of bytes is not that of `shape`.
    pub fn from_bytes(shape: Shape, bytes: impl Into<Arc<[u8]>>) -> Result<Literal, Mismatch> {
        let bytes = bytes.into();
        if shape.byte_size() != i64::try_from(bytes.len()).ok() || shape.dtype.bits() == 0 {
            let expected = match shape.byte_size() {
                Some(size) if shape.dtype.bits() > 0 => format!("{size} bytes for {shape}"),
                _ => "a shape that a constant can have".to_string(),
            };
            return Err(Mismatch::new(expected, format!("{} bytes of {shape}", bytes.len())));
        }
        Ok(Literal { shape, data: Data::Dense(bytes) })
    }

    /// Shape of the constant.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number that every element is, if the constant is written so.
    pub fn as_splat(&self) -> Option<Number> {
        match self.data {
            Data::Splat(number) => Some(number),
            Data::Dense(_) => None,
        }
    }

    /// All elements, as [`Literal::from_bytes`] takes them; `None` for a splat of a float type of
    /// less than 16 bits.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let number = match &self.data {
            Data::Dense(bytes) => return Some(bytes.to_vec()),
            Data::Splat(number) => *number,
        };
        let count = usize::try_from(self.shape.element_count()?).ok()?;
        Some(number.to_bytes(self.shape.dtype)?.repeat(count))
    }

    /// Bytes the graph's text must carry: one element for a splat.
    pub(crate) fn stored_bytes(&self) -> usize {
        match &self.data {
            Data::Splat(_) => self.shape.dtype.byte_size(),
            Data::Dense(bytes) => bytes.len(),
        }
    }

    /// MLIR's `dense<..> : tensor<..>`.
    pub(crate) fn mlir(&self) -> String {
        let mut text = String::from("dense<");
        match &self.data {
            Data::Splat(number) => push_number(&mut text, self.shape.dtype, *number),
            Data::Dense(bytes) => self.push_dense(&mut text, bytes),
        }
        let _ = write!(text, "> : {}", self.shape);
        text
    }

    fn push_dense(&self, text: &mut String, bytes: &[u8]) {
        const READABLE: usize = 64;
        let size = self.shape.dtype.byte_size();
        // MLIR packs bits in its hex form, so types below a byte stay readable at any length.
        if self.shape.dtype.bits() >= 8 && bytes.len() / size > READABLE {
            text.push_str("\"0x");
            bytes.iter().for_each(|byte| {
                let _ = write!(text, "{byte:02X}");
            });
            text.push('"');
            return;
        }
        if bytes.is_empty() {
            return; // dense<> is how MLIR writes no elements
        }
        push_nested(text, &self.shape.dims, bytes, &|text, element| {
            push_element(text, self.shape.dtype, element);
        });
    }
}
