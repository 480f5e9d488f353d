//! Arrays without contents yet: uninitialized, failed, and aliases.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::function;
use crate::buffer::Buffer;
use crate::client::{Client, ClientRef, non_null};
use crate::element_type::ElementType;
use crate::error::{Error, Result};
use crate::event::log_failed;
use crate::form::Form;
use crate::memory::{Memory, Placement};
use crate::order::MinorToMajor;
use crate::shape::Shape;

impl Client {
    /// Reserves an array whose contents are unspecified until it is donated to
    /// an execution that writes it.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a bad shape, `UNIMPLEMENTED` on older plugins.
    pub fn uninitialized_buffer<'p>(
        &self,
        element_type: ElementType,
        dims: &[i64],
        to: impl Into<Placement<'p>>,
    ) -> Result<Buffer> {
        self.plugin().check_type(element_type)?;
        let shape = Arc::new(Shape::new(element_type, dims)?);
        let (device, memory) = to.into().raw(&self.0)?;
        let function = function!(PJRT_Client_CreateUninitializedBuffer);
        // SAFETY: the shape outlives the call, the place is of this client.
        let args = unsafe {
            self.api().get(function, |args| {
                args.client = self.0.raw.as_ptr();
                args.shape_dims = shape.dims().as_ptr();
                args.shape_num_dims = shape.dims().len();
                args.shape_element_type = shape.element_type().to_pjrt();
                args.device = device;
                args.memory = memory;
            })?
        };
        // SAFETY: a fresh buffer of this client with this shape.
        unsafe { Buffer::checked(args.buffer, &self.0, shape, function.name) }
    }

    /// An array that stands for a failure: whatever uses it fails with `error`.
    /// Takes no device memory.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` on older plugins.
    pub fn error_buffer(
        &self,
        error: &Error,
        element_type: ElementType,
        dims: &[i64],
        memory: &Memory,
    ) -> Result<Buffer> {
        self.plugin().check_type(element_type)?;
        let shape = Arc::new(Shape::new(element_type, dims)?);
        let (_, raw_memory) = Placement::from(memory).raw(&self.0)?;
        let message = error.to_string();
        let function = function!(PJRT_Client_CreateErrorBuffer);
        // SAFETY: message and shape outlive the call, the memory is of this client.
        let args = unsafe {
            self.api().get(function, |args| {
                args.client = self.0.raw.as_ptr();
                args.error_code = error.code().to_pjrt();
                args.error_message = message.as_ptr().cast();
                args.error_message_size = message.len();
                args.shape_dims = shape.dims().as_ptr();
                args.shape_num_dims = shape.dims().len();
                args.shape_element_type = shape.element_type().to_pjrt();
                args.memory = raw_memory;
            })?
        };
        // SAFETY: a fresh buffer of this client with this shape.
        unsafe { Buffer::checked(args.buffer, &self.0, shape, function.name) }
    }

    /// An array that becomes another one later. It can be passed to executions at
    /// once; they wait until [`AliasFulfiller::fulfill`] is called.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` on plugins without alias buffers.
    pub fn alias_buffer(
        &self,
        element_type: ElementType,
        dims: &[i64],
        memory: &Memory,
    ) -> Result<(Buffer, AliasFulfiller)> {
        self.plugin().check_type(element_type)?;
        let shape = Arc::new(Shape::new(element_type, dims)?);
        let (_, raw_memory) = Placement::from(memory).raw(&self.0)?;
        // Some plugins compute the alias's size from its layout and want one.
        let order = MinorToMajor::of_rank(dims.len());
        let mut layout = order.layout();
        let function = function!(PJRT_Client_CreateAliasBuffer);
        // SAFETY: shape and layout outlive the call, the memory is of this client.
        let args = unsafe {
            self.api().get(function, |args| {
                args.client = self.0.raw.as_ptr();
                args.memory = raw_memory;
                args.shape_dims = shape.dims().as_ptr();
                args.shape_num_dims = shape.dims().len();
                args.shape_element_type = shape.element_type().to_pjrt();
                args.shape_layout = layout.as_mut_ptr();
            })?
        };
        let client = Arc::clone(&self.0);
        // SAFETY: a fresh buffer of this client with this shape.
        let buffer = unsafe {
            Buffer::checked(args.alias_buffer, &client, Arc::clone(&shape), function.name)?
        };
        let callback = non_null(args.fulfill_alias_buffer_cb, function.name)?;
        Ok((buffer, AliasFulfiller { callback: Some(callback), client, shape }))
    }
}

/// The other end of an alias buffer. Dropping it fails the alias with
/// `CANCELLED`, so that nothing waits forever.
pub struct AliasFulfiller {
    callback: Option<NonNull<sys::PJRT_FulfillAliasBufferCallback>>,
    client: ClientRef,
    shape: Arc<Shape>,
}

// SAFETY: the callback may be run from any thread, once; `&self` offers nothing.
unsafe impl Send for AliasFulfiller {}
// SAFETY: as above.
unsafe impl Sync for AliasFulfiller {}

impl AliasFulfiller {
    /// Makes the alias stand for `buffer`, whose memory it takes over. A buffer
    /// that is computed from the alias will never be ready.
    ///
    /// ```compile_fail,E0382
    /// # use rectiflow_pjrt::{AliasFulfiller, Buffer, Result};
    /// fn fulfill(fulfiller: AliasFulfiller, array: Buffer) -> Result<Vec<u8>> {
    ///     fulfiller.fulfill(array)?;
    ///     array.to_bytes() // the alias owns the memory now
    /// }
    /// ```
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if shape or client differ, the buffer has a dimension
    /// order of its own or a dynamic size, or it is the alias itself or a copy of
    /// it; the alias fails then, too.
    pub fn fulfill(mut self, buffer: Buffer) -> Result<()> {
        // No other buffer shares this allocation, which is held here.
        if Arc::ptr_eq(&buffer.shape, &self.shape) {
            return Err(Error::invalid("an alias cannot stand for itself or its copy"));
        }
        let same_client = Arc::ptr_eq(&buffer.client, &self.client);
        if !same_client || *buffer.shape != *self.shape {
            let message = format!("an alias of {} cannot stand for {}", self.shape, buffer.shape);
            return Err(Error::invalid(message));
        }
        // The alias was passed on as an ordinary array; nothing would notice another one later.
        if buffer.form != Form::default() {
            let message = format!("an alias of {} cannot stand for {}", self.shape, buffer.form);
            return Err(Error::invalid(message));
        }
        self.finish(Ok(&buffer))
    }

    /// Makes the alias fail.
    ///
    /// # Errors
    /// Those of `PJRT_Client_FulfillAliasBuffer`.
    pub fn fail(mut self, error: &Error) -> Result<()> {
        self.finish(Err(error))
    }

    fn finish(&mut self, outcome: Result<&Buffer, &Error>) -> Result<()> {
        // Taken, because the plugin frees the callback when it runs.
        let Some(callback) = self.callback.take() else { return Ok(()) };
        let message = outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
        // SAFETY: the callback is unused so far; buffer and message outlive the call.
        let finished = unsafe {
            self.client.api().get(function!(PJRT_Client_FulfillAliasBuffer), |args| {
                args.client = self.client.raw.as_ptr();
                args.fulfill_alias_buffer_cb = callback.as_ptr();
                match outcome {
                    Ok(buffer) => args.buffer = buffer.raw.as_ptr(),
                    Err(error) => {
                        args.status_code = error.code().to_pjrt();
                        args.error_message = message.as_ptr().cast();
                        args.error_message_size = message.len();
                    }
                }
            })
        };
        match (finished, outcome) {
            // Some plugins answer a failure with that failure.
            (Err(echo), Err(_)) if echo.plugin_message() == Some(&message) => Ok(()),
            (finished, _) => finished.map(|_| ()),
        }
    }
}

impl Drop for AliasFulfiller {
    fn drop(&mut self) {
        let message = "the alias was never fulfilled";
        let error = Error::with_code(crate::ErrorCode::Cancelled, message);
        log_failed("cancel an alias buffer", self.finish(Err(&error)));
    }
}

impl fmt::Debug for AliasFulfiller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AliasFulfiller({})", self.shape)
    }
}
