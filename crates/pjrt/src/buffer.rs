//! Arrays on a device.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function, slice};
use crate::client::{Client, ClientRef, non_null};
use crate::device::Device;
use crate::element_type::ElementType;
use crate::error::Result;
use crate::event::{Event, log_failed};
use crate::form::Form;
use crate::memory::{Memory, Placement};
use crate::shape::Shape;

/// An array in a memory of a client.
///
/// The array may still be on its way: it can be used at once, and a failure of
/// the work that produces it appears wherever its contents are needed. The
/// handle is owned, not cloned, so that donating it (see
/// [`Argument`](crate::Argument)) ends its use at compile time. It keeps the
/// client alive.
///
/// ```compile_fail,E0382
/// # use rectiflow_pjrt::{Buffer, LoadedExecutable, Result};
/// fn donate(step: &LoadedExecutable, state: Buffer) -> Result<Vec<Buffer>> {
///     let next = step.execute_donating([state.into()])?;
///     println!("{:?}", state.dims()); // the program owns `state` now
///     Ok(next)
/// }
/// ```
///
/// A buffer cannot be donated while it is borrowed for another execution:
///
/// ```compile_fail,E0505
/// # use rectiflow_pjrt::{Argument, Buffer, LoadedExecutable, Result};
/// fn donate(step: &LoadedExecutable, state: Buffer) -> Result<Vec<Buffer>> {
///     let borrowed = Argument::from(&state);
///     step.execute_donating([Argument::from(state), borrowed])
/// }
/// ```
pub struct Buffer {
    pub(crate) raw: NonNull<sys::PJRT_Buffer>,
    pub(crate) client: ClientRef,
    pub(crate) shape: Arc<Shape>,
    pub(crate) form: Form,
}

// SAFETY: PJRT buffers may be used and freed from any thread, also while an
// execution reads them; the client they belong to is kept alive by `client`.
unsafe impl Send for Buffer {}
// SAFETY: as above; no function used on `&Buffer` mutates the array.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// # Safety
    /// `raw` must be a live buffer of `client` with this shape, which nobody
    /// else frees.
    pub(crate) unsafe fn new(
        raw: NonNull<sys::PJRT_Buffer>,
        client: &ClientRef,
        shape: Arc<Shape>,
    ) -> Self {
        Buffer { raw, client: Arc::clone(client), shape, form: Form::default() }
    }

    /// Wraps what a C call returned.
    ///
    /// # Safety
    /// As [`Buffer::new`], or null.
    pub(crate) unsafe fn checked(
        raw: *mut sys::PJRT_Buffer,
        client: &ClientRef,
        shape: Arc<Shape>,
        function: &'static str,
    ) -> Result<Self> {
        let raw = non_null(raw, function)?;
        // SAFETY: as promised by the caller.
        Ok(unsafe { Self::new(raw, client, shape) })
    }

    pub(crate) fn with_form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The size of each dimension, outermost first.
    pub fn dims(&self) -> &[i64] {
        self.shape.dims()
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.shape.element_type()
    }

    /// Element type and dimensions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The client the array belongs to.
    pub fn client(&self) -> Client {
        Client(Arc::clone(&self.client))
    }

    /// The device the array is on.
    ///
    /// # Errors
    /// Those of `PJRT_Buffer_Device`.
    pub fn device(&self) -> Result<Device> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the device lives as long as the client.
        let args = unsafe { self.api().get(function!(PJRT_Buffer_Device), |a| a.buffer = raw)? };
        Ok(Device::new(non_null(args.device, "PJRT_Buffer_Device")?, &self.client))
    }

    /// The memory the array is in.
    ///
    /// # Errors
    /// Those of `PJRT_Buffer_Memory`.
    pub fn memory(&self) -> Result<Memory> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the memory lives as long as the client.
        let args = unsafe { self.api().get(function!(PJRT_Buffer_Memory), |a| a.buffer = raw)? };
        Ok(Memory::new(non_null(args.memory, "PJRT_Buffer_Memory")?, &self.client))
    }

    /// Bytes the array takes on the device, padding included.
    ///
    /// # Errors
    /// Those of `PJRT_Buffer_OnDeviceSizeInBytes`; on some platforms, the
    /// failure of the work that produces the array.
    pub fn on_device_bytes(&self) -> Result<usize> {
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_Buffer_OnDeviceSizeInBytes);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.buffer = raw)? }.on_device_size_in_bytes)
    }

    /// An event that becomes ready when the array's contents do, and carries
    /// the error if they never will.
    ///
    /// # Errors
    /// Those of `PJRT_Buffer_ReadyEvent` itself.
    pub fn ready(&self) -> Result<Event> {
        let raw = self.raw.as_ptr();
        let args = unsafe {
            // SAFETY: `raw` is live.
            self.api().get(function!(PJRT_Buffer_ReadyEvent), |a| a.buffer = raw)?
        };
        let event = non_null(args.event, "PJRT_Buffer_ReadyEvent")?;
        // SAFETY: a fresh event of this client.
        Ok(unsafe { Event::new(event, Arc::clone(&self.client), "PJRT_Buffer_ReadyEvent") })
    }

    /// Copies the array to another device or memory of the same client. Returns
    /// before the copy is finished.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a place of another client, and where the plugin
    /// refuses a copy onto the place the array is in.
    pub fn copy_to<'p>(&self, to: impl Into<Placement<'p>>) -> Result<Buffer> {
        let to = to.into();
        let raw = self.raw.as_ptr();
        let (device, memory) = to.raw(&self.client)?;
        // SAFETY: buffer and destination are live and of one client.
        let copied = unsafe {
            match to {
                Placement::Device(_) => {
                    let copy = function!(PJRT_Buffer_CopyToDevice);
                    let fill = |a: &mut sys::PJRT_Buffer_CopyToDevice_Args| {
                        a.buffer = raw;
                        a.dst_device = device;
                    };
                    self.api().get(copy, fill)?.dst_buffer
                }
                Placement::Memory(_) => {
                    let copy = function!(PJRT_Buffer_CopyToMemory);
                    let fill = |a: &mut sys::PJRT_Buffer_CopyToMemory_Args| {
                        a.buffer = raw;
                        a.dst_memory = memory;
                    };
                    self.api().get(copy, fill)?.dst_buffer
                }
            }
        };
        let shape = Arc::clone(&self.shape);
        // SAFETY: a fresh buffer of this client with the same shape.
        let copy = unsafe { Buffer::checked(copied, &self.client, shape, "PJRT_Buffer_CopyTo")? };
        Ok(copy.with_form(self.form.clone()))
    }

    pub(crate) fn api(&self) -> Api {
        self.client.api()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: owned by `self` and not used again.
        unsafe { destroy(self.api(), self.raw) };
    }
}

/// # Safety
/// `raw` must be live and owned by the caller. Work in flight that uses the
/// array holds its own reference inside the plugin.
pub(crate) unsafe fn destroy(api: Api, raw: NonNull<sys::PJRT_Buffer>) {
    let function = function!(PJRT_Buffer_Destroy);
    // SAFETY: as promised by the caller.
    let freed = unsafe { api.get(function, |a| a.buffer = raw.as_ptr()) };
    log_failed("free a buffer", freed.map(|_| ()));
}

/// Asks a buffer for its shape.
///
/// # Safety
/// `raw` must be a live buffer of the plugin.
pub(crate) unsafe fn shape_of(api: Api, raw: NonNull<sys::PJRT_Buffer>) -> Result<Shape> {
    let raw = raw.as_ptr();
    // SAFETY: as promised by the caller.
    let element_type =
        unsafe { api.get(function!(PJRT_Buffer_ElementType), |a| a.buffer = raw)? }.type_;
    // SAFETY: the list lives as long as the buffer and is copied.
    let dims = unsafe {
        let args = api.get(function!(PJRT_Buffer_Dimensions), |a| a.buffer = raw)?;
        slice(args.dims, args.num_dims)
    };
    Ok(Shape::trusted(ElementType::from_pjrt(element_type)?, dims))
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({})", self.shape)
    }
}
