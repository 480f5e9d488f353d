//! Arrays in host memory, as sources of device arrays.

use std::sync::Arc;

use crate::element_type::{ElementType, HostElement, as_bytes};
use crate::error::{Error, Result};
use crate::shape::Shape;

/// A borrowed array in host memory: bytes, a shape, and how to walk them.
///
/// Elements narrower than a byte take one byte each; see
/// [`packing`](crate::packing).
#[derive(Debug, Clone)]
pub struct HostArray<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: usize,
    pub(crate) byte_strides: Option<&'a [i64]>,
    pub(crate) shape: Arc<Shape>,
}

impl<'a> HostArray<'a> {
    /// A dense array, outermost dimension first.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless `bytes` is exactly as long as the shape needs.
    pub fn dense(bytes: &'a [u8], element_type: ElementType, dims: &[i64]) -> Result<Self> {
        let shape = Shape::new(element_type, dims)?;
        check_len(&shape, bytes.len())?;
        Ok(HostArray { bytes, offset: 0, byte_strides: None, shape: Arc::new(shape) })
    }

    /// A dense array of Rust elements.
    ///
    /// # Errors
    /// As [`HostArray::dense`].
    pub fn of_slice<T: HostElement>(elements: &'a [T], dims: &[i64]) -> Result<Self> {
        Self::dense(as_bytes(elements), T::ELEMENT_TYPE, dims)
    }

    /// An array whose element at index `i` starts `offset + i . byte_strides`
    /// bytes into `bytes`. Strides may be negative or zero.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if any element would lie outside `bytes`, or there is
    /// not one stride per dimension.
    pub fn strided(
        bytes: &'a [u8],
        element_type: ElementType,
        dims: &[i64],
        byte_strides: &'a [i64],
        offset: usize,
    ) -> Result<Self> {
        let shape = Shape::new(element_type, dims)?;
        check_strides(&shape, bytes.len(), byte_strides, offset)?;
        let byte_strides = Some(byte_strides);
        Ok(HostArray { bytes, offset, byte_strides, shape: Arc::new(shape) })
    }
}

/// Refuses a byte count that is not the shape's.
pub(crate) fn check_len(shape: &Shape, found: usize) -> Result<()> {
    let needed = shape.host_bytes()?;
    if needed == found {
        return Ok(());
    }
    Err(Error::invalid(format!("{shape} takes {needed} bytes, found {found}")))
}

fn check_strides(shape: &Shape, len: usize, strides: &[i64], offset: usize) -> Result<()> {
    let dims = shape.dims();
    if strides.len() != dims.len() {
        return Err(Error::invalid(format!(
            "{shape} needs {} strides, found {}",
            dims.len(),
            strides.len()
        )));
    }
    if dims.contains(&0) {
        return Ok(());
    }
    // 128 bits hold the sum of any 64-bit dimensions times 64-bit strides.
    let (mut first, mut last) = (offset as i128, offset as i128);
    for (dim, stride) in dims.iter().zip(strides) {
        let reach = (*dim as i128 - 1) * *stride as i128;
        first += reach.min(0);
        last += reach.max(0);
    }
    let end = last + shape.element_type().host_bytes() as i128;
    if first < 0 || end > len as i128 {
        return Err(Error::invalid(format!(
            "strides {strides:?} from byte {offset} reach bytes {first}..{end} of {len}"
        )));
    }
    Ok(())
}

/// Rust elements as owned host memory, for transfers that outlive the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Elements<T>(pub Vec<T>);

impl<T: HostElement> AsRef<[u8]> for Elements<T> {
    fn as_ref(&self) -> &[u8] {
        as_bytes(&self.0)
    }
}

impl<T: HostElement> AsMut<[u8]> for Elements<T> {
    fn as_mut(&mut self) -> &mut [u8] {
        const { assert!(T::ANY_BYTES, "not every byte is a valid element of this type") };
        let len = size_of_val(&self.0[..]);
        // SAFETY: plain bytes without padding, and the assertion above says that
        // any bytes written are valid elements.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}
