//! Arrays a handler reads and writes.

use std::marker::PhantomData;
use std::ptr::NonNull;

use rectiflow_pjrt_sys as sys;

use crate::api::slice;
use crate::element_type::{ElementType, HostElement};
use crate::error::{Error, Result};

/// Type, dimensions and place of an array, checked once.
#[derive(Debug, Clone, Copy)]
struct View<'a> {
    element_type: ElementType,
    dims: &'a [i64],
    data: NonNull<u8>,
    n_bytes: usize,
}

impl<'a> View<'a> {
    /// # Safety
    /// `buffer` must be a live XLA FFI buffer whose data lives as long as `'a`.
    unsafe fn read(buffer: &sys::XLA_FFI_Buffer) -> Result<Self> {
        let element_type = ElementType::from_hlo(buffer.dtype.0 as i32)
            .ok_or_else(|| Error::invalid(format!("unknown element type {}", buffer.dtype.0)))?;
        // SAFETY: `dims` holds `rank` values.
        let dims = unsafe { slice(buffer.dims.cast_const(), buffer.rank.max(0) as usize) };
        let n_bytes = device_bytes(element_type, dims)?;
        let data = match NonNull::new(buffer.data.cast::<u8>()) {
            Some(data) => data,
            // Aligned for any element, and never dereferenced.
            None if n_bytes == 0 => NonNull::<u128>::dangling().cast(),
            None => return Err(Error::invalid("an array has no memory")),
        };
        Ok(View { element_type, dims, data, n_bytes })
    }

    /// Whether two arrays share a byte.
    fn overlaps(&self, other: &View<'_>) -> bool {
        let (a, b) = (self.data.as_ptr() as usize, other.data.as_ptr() as usize);
        a < b + other.n_bytes && b < a + self.n_bytes
    }

    /// The number of elements of type `T`, if that is what the array holds.
    fn n_elements<T: HostElement>(&self) -> Result<usize> {
        if T::ELEMENT_TYPE != self.element_type {
            return Err(Error::invalid(format!(
                "an array of {} cannot be used as {}",
                self.element_type,
                T::ELEMENT_TYPE
            )));
        }
        if !self.data.cast::<T>().is_aligned() {
            return Err(Error::invalid("an array is not aligned to its elements"));
        }
        Ok(self.n_bytes / size_of::<T>())
    }
}

/// Bytes in device memory, where narrow elements are packed.
fn device_bytes(element_type: ElementType, dims: &[i64]) -> Result<usize> {
    let n = crate::shape::host_bytes(ElementType::S8, dims)?;
    // Six-bit elements do not divide a byte, so each takes one.
    if element_type.is_sub_byte() && element_type.bits() != 6 {
        return Ok((n as u128 * element_type.bits() as u128).div_ceil(8) as usize);
    }
    crate::shape::host_bytes(element_type, dims)
}

/// An argument of a call.
#[derive(Debug, Clone, Copy)]
pub struct Array<'a> {
    view: View<'a>,
    /// The result that shares its memory, when the program aliases them.
    shared_with: Option<usize>,
}

impl<'a> Array<'a> {
    /// # Safety
    /// As [`View::read`], and nobody may write the data for `'a`, except through
    /// `results`.
    pub(crate) unsafe fn read(
        buffer: &sys::XLA_FFI_Buffer,
        results: &[ArrayMut<'_>],
    ) -> Result<Self> {
        // SAFETY: as promised by the caller.
        let view = unsafe { View::read(buffer)? };
        let shared_with = results.iter().position(|result| result.view.overlaps(&view));
        Ok(Array { view, shared_with })
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.view.element_type
    }

    /// The size of each dimension, outermost first.
    pub fn dims(&self) -> &'a [i64] {
        self.view.dims
    }

    /// The array's bytes, dense, with elements narrower than a byte packed.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` if the program lets a result overwrite this
    /// argument: the data is then in that result, before it is written.
    pub fn bytes(&self) -> Result<&'a [u8]> {
        self.check_unshared()?;
        // SAFETY: the memory holds `n_bytes` for `'a`, and no result overlaps it.
        Ok(unsafe { std::slice::from_raw_parts(self.view.data.as_ptr(), self.view.n_bytes) })
    }

    /// The array's elements.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if `T` is not the element type or a boolean is neither
    /// 0 nor 1; otherwise as [`Array::bytes`].
    pub fn elements<T: HostElement>(&self) -> Result<&'a [T]> {
        let n = self.view.n_elements::<T>()?;
        let bytes = self.bytes()?;
        if !T::ANY_BYTES && bytes.iter().any(|byte| *byte > 1) {
            return Err(Error::invalid("a boolean is neither 0 nor 1"));
        }
        // SAFETY: type and alignment were checked, the bytes are valid elements.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), n) })
    }

    fn check_unshared(&self) -> Result<()> {
        let Some(result) = self.shared_with else { return Ok(()) };
        let message = format!("the argument shares its memory with result {result}");
        Err(Error::with_code(crate::ErrorCode::FailedPrecondition, message))
    }
}

/// A result of a call, to be written. Holds unspecified values before, or those
/// of an argument that the program aliases with it.
#[derive(Debug)]
pub struct ArrayMut<'a> {
    view: View<'a>,
    _exclusive: PhantomData<&'a mut [u8]>,
}

impl<'a> ArrayMut<'a> {
    /// # Safety
    /// As [`View::read`], and the data must be writable.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` if it shares memory with an earlier result.
    pub(crate) unsafe fn read(
        buffer: &sys::XLA_FFI_Buffer,
        earlier: &[ArrayMut<'_>],
    ) -> Result<Self> {
        // SAFETY: as promised by the caller.
        let view = unsafe { View::read(buffer)? };
        if earlier.iter().any(|result| result.view.overlaps(&view)) {
            let message = "two results share memory";
            return Err(Error::with_code(crate::ErrorCode::FailedPrecondition, message));
        }
        Ok(ArrayMut { view, _exclusive: PhantomData })
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.view.element_type
    }

    /// The size of each dimension, outermost first.
    pub fn dims(&self) -> &'a [i64] {
        self.view.dims
    }

    /// The array's bytes, dense, with elements narrower than a byte packed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory holds `n_bytes`, no other result shares it, and
        // arguments that do refuse to be read.
        unsafe { std::slice::from_raw_parts_mut(self.view.data.as_ptr(), self.view.n_bytes) }
    }

    /// The array's elements.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if `T` is not the element type, or is `bool`, whose
    /// unspecified values Rust cannot hold: write those as bytes.
    pub fn elements_mut<T: HostElement>(&mut self) -> Result<&mut [T]> {
        if !T::ANY_BYTES {
            return Err(Error::invalid("booleans are written as bytes"));
        }
        let n = self.view.n_elements::<T>()?;
        // SAFETY: type and alignment were checked, any bytes are valid elements;
        // otherwise as `bytes_mut`.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.view.data.as_ptr().cast(), n) })
    }
}
