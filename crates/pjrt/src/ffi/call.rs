//! One call of a handler, and the C entry point it comes through.

use std::ffi::CString;
use std::ptr::{NonNull, null_mut};

use rectiflow_pjrt_sys as sys;

use super::Handler;
use super::array::{Array, ArrayMut};
use super::attributes::Attributes;
use crate::api::slice;
use crate::caught::caught;
use crate::error::{Error, Result};

/// One call of a handler: what it was given, and what it must fill.
///
/// The parts are fields so that arguments can be read while results are written.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallFrame<'a> {
    /// The operands of the custom call.
    pub arguments: Vec<Array<'a>>,
    /// Its results, to be written.
    pub results: Vec<ArrayMut<'a>>,
    /// Its `backend_config`.
    pub attributes: Attributes<'a>,
}

impl<'a> CallFrame<'a> {
    /// An argument by position.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is none.
    pub fn argument(&self, index: usize) -> Result<Array<'a>> {
        let n = self.arguments.len();
        let missing = || Error::invalid(format!("there is no argument {index} among {n}"));
        self.arguments.get(index).copied().ok_or_else(missing)
    }

    /// A result by position. To hold several at once, use the field.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is none.
    pub fn result(&mut self, index: usize) -> Result<&mut ArrayMut<'a>> {
        let n = self.results.len();
        let missing = || Error::invalid(format!("there is no result {index} among {n}"));
        self.results.get_mut(index).ok_or_else(missing)
    }

    /// # Safety
    /// `frame` must be live for `'a`, as XLA passes it to a handler.
    unsafe fn read(frame: &'a sys::XLA_FFI_CallFrame) -> Result<Self> {
        let mut results = Vec::with_capacity(frame.rets.size.max(0) as usize);
        // SAFETY: the lists have `size` entries; each is a buffer, which the kind
        // is checked to say.
        unsafe {
            let kinds = slice(frame.rets.types.cast_const(), results.capacity());
            let data = slice(frame.rets.rets.cast_const(), results.capacity());
            for (kind, data) in kinds.iter().zip(data) {
                if *kind != sys::XLA_FFI_RetType::XLA_FFI_RetType_BUFFER {
                    return Err(Error::invalid(format!("a result has unknown kind {}", kind.0)));
                }
                results.push(ArrayMut::read(&*data.cast::<sys::XLA_FFI_Buffer>(), &results)?);
            }
        }
        let mut arguments = Vec::with_capacity(frame.args.size.max(0) as usize);
        // SAFETY: as above.
        unsafe {
            let kinds = slice(frame.args.types.cast_const(), arguments.capacity());
            let data = slice(frame.args.args.cast_const(), arguments.capacity());
            for (kind, data) in kinds.iter().zip(data) {
                if *kind != sys::XLA_FFI_ArgType::XLA_FFI_ArgType_BUFFER {
                    return Err(Error::invalid(format!("an argument has unknown kind {}", kind.0)));
                }
                arguments.push(Array::read(&*data.cast::<sys::XLA_FFI_Buffer>(), &results)?);
            }
        }
        // SAFETY: the attributes are part of the frame.
        let attributes = unsafe { Attributes::new(&raw const frame.attrs) };
        Ok(CallFrame { arguments, results, attributes })
    }
}

/// The C function registered for handler `F`.
///
/// # Safety
/// XLA calls it with a live call frame. A value of `F` must exist, and `F` must
/// have no size; `Plugin::register_ffi` is the only one to name this function,
/// and checks both.
pub(crate) unsafe extern "C" fn entry<F: Handler>(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: a reference to a type without size points to nothing; see above for
    // why an `F` exists.
    let handler: &F = unsafe { NonNull::dangling().as_ref() };
    // SAFETY: XLA passes a live frame, for the duration of this call.
    let frame = unsafe { &*frame };
    // SAFETY: the frame is as XLA passes it.
    if unsafe { answer_metadata(frame) } {
        return null_mut();
    }
    if frame.stage != sys::XLA_FFI_ExecutionStage::XLA_FFI_ExecutionStage_EXECUTE {
        return null_mut();
    }
    // A panic must not unwind into XLA.
    let outcome = caught("the handler", || {
        // SAFETY: the frame is as XLA passes it.
        handler(&mut unsafe { CallFrame::read(frame)? })
    });
    match outcome {
        Ok(()) => null_mut(),
        // SAFETY: the frame's API is live.
        Err(error) => unsafe { report(frame, &error) },
    }
}

/// At registration XLA calls a handler once, only to ask which API it speaks.
///
/// # Safety
/// `frame` must be as XLA passes it.
unsafe fn answer_metadata(frame: &sys::XLA_FFI_CallFrame) -> bool {
    let mut next = frame.extension_start;
    // SAFETY: a well-formed chain; a metadata extension holds a writable struct.
    unsafe {
        while let Some(extension) = next.as_ref() {
            let metadata = sys::XLA_FFI_InternalExtension_Type::XLA_FFI_Extension_Metadata;
            if extension.type_ == metadata {
                let metadata = (*next.cast::<sys::XLA_FFI_Metadata_Extension>()).metadata;
                let version = &raw mut (*metadata).api_version;
                (*version).major_version = sys::XLA_FFI_API_MAJOR as i32;
                (*version).minor_version = spoken_minor_version(frame);
                (*metadata).traits = 0;
                return true;
            }
            next = extension.next;
        }
    }
    false
}

/// An older XLA refuses handlers newer than itself. Nothing used here is newer
/// than the oldest it accepts, so the handler claims XLA's own version.
///
/// # Safety
/// `frame.api` must be null or live.
unsafe fn spoken_minor_version(frame: &sys::XLA_FFI_CallFrame) -> i32 {
    // SAFETY: as promised by the caller.
    let theirs = unsafe { frame.api.as_ref() }.map(|api| api.api_version.minor_version);
    theirs.unwrap_or(i32::MAX).min(sys::XLA_FFI_API_MINOR as i32)
}

/// # Safety
/// `frame.api` must be live.
unsafe fn report(frame: &sys::XLA_FFI_CallFrame, error: &Error) -> *mut sys::XLA_FFI_Error {
    let text = error.to_string().replace('\0', " ");
    let message = CString::new(text).unwrap_or_default();
    // SAFETY: as promised by the caller; `Error_Create` is the table's first entry.
    let Some(create) = (unsafe { (*frame.api).XLA_FFI_Error_Create }) else {
        tracing::error!(%error, "XLA gave no way to report a handler's error");
        return null_mut();
    };
    let mut args = sys::XLA_FFI_Error_Create_Args {
        struct_size: size_of::<sys::XLA_FFI_Error_Create_Args>(),
        extension_start: null_mut(),
        message: message.as_ptr(),
        errc: sys::XLA_FFI_Error_Code(error.code().raw()),
    };
    // SAFETY: the message outlives the call, which copies it.
    unsafe { create(&raw mut args) }
}
