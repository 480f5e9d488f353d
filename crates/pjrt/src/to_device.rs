//! From host memory to a device.

use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, Padded, function};
use crate::buffer::Buffer;
use crate::client::{Client, ClientRef};
use crate::element_type::{ElementType, HostElement};
use crate::error::Result;
use crate::event::log_failed;
use crate::host_array::HostArray;
use crate::keep::keep_until_done;
use crate::memory::Placement;

/// How long a plugin may keep reading host memory it was given to own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostSemantics {
    /// Until the copy to the device is finished.
    UntilTransferCompletes,
    /// As long as the array lives: a CPU plugin may use the memory itself
    /// instead of copying it.
    ZeroCopy,
}

impl Client {
    /// Copies Rust elements to the default device. The slice is free again when
    /// this returns; the copy may still be under way.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the number of elements is not that of `dims`, and
    /// what the plugin refuses.
    pub fn buffer_from_slice<T: HostElement>(
        &self,
        elements: &[T],
        dims: &[i64],
    ) -> Result<Buffer> {
        let device = self.default_device()?;
        self.buffer_from_host(&HostArray::of_slice(elements, dims)?, &device)
    }

    /// Copies bytes of any element type to a device or memory. Otherwise as
    /// [`Client::buffer_from_slice`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if `bytes` is not exactly as long as the shape needs,
    /// and what the plugin refuses.
    pub fn buffer_from_bytes<'p>(
        &self,
        bytes: &[u8],
        element_type: ElementType,
        dims: &[i64],
        to: impl Into<Placement<'p>>,
    ) -> Result<Buffer> {
        self.buffer_from_host(&HostArray::dense(bytes, element_type, dims)?, to)
    }

    /// Copies a dense or strided host array to a device or memory. Otherwise as
    /// [`Client::buffer_from_slice`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a place of another client, and what the plugin
    /// refuses.
    pub fn buffer_from_host<'p>(
        &self,
        array: &HostArray<'_>,
        to: impl Into<Placement<'p>>,
    ) -> Result<Buffer> {
        let semantics =
            sys::PJRT_HostBufferSemantics::PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
        // SAFETY: these semantics end the plugin's use of `array` with the call.
        let (buffer, done) = unsafe { from_host(&self.0, array, semantics, to.into())? };
        // The event was complete when the call returned; a failed copy is also
        // the array's own failure, so nothing is lost with it.
        destroy_event(self.api(), done);
        Ok(buffer)
    }

    /// Gives dense host memory to the plugin, which keeps it as long as
    /// `semantics` say and then drops it, on any thread.
    ///
    /// Returns at once. Never copies in `ZeroCopy` if the plugin works on host
    /// memory and accepts the alignment (64 bytes on CPU).
    ///
    /// # Errors
    /// As [`Client::buffer_from_bytes`].
    pub fn buffer_from_owned<'p, O>(
        &self,
        data: O,
        element_type: ElementType,
        dims: &[i64],
        semantics: HostSemantics,
        to: impl Into<Placement<'p>>,
    ) -> Result<Buffer>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        // Boxed first: the bytes must not move with `data` afterwards.
        let data = Box::new(data);
        let array = HostArray::dense((*data).as_ref(), element_type, dims)?;
        let raw = match semantics {
            HostSemantics::UntilTransferCompletes => {
                sys::PJRT_HostBufferSemantics::PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes
            }
            HostSemantics::ZeroCopy => sys::PJRT_HostBufferSemantics::PJRT_HostBufferSemantics_kImmutableZeroCopy,
        };
        // SAFETY: `keep_until_done` holds `data` until the plugin says it is done with it.
        let (buffer, done) = unsafe { from_host(&self.0, &array, raw, to.into())? };
        keep_until_done(&self.0, done, data)?;
        Ok(buffer)
    }

    /// As [`Client::buffer_from_owned`] with `ZeroCopy`, and the plugin may also
    /// write to the memory, when the array is donated to an execution.
    ///
    /// # Errors
    /// As [`Client::buffer_from_bytes`].
    pub fn buffer_from_owned_mut<'p, O>(
        &self,
        data: O,
        element_type: ElementType,
        dims: &[i64],
        to: impl Into<Placement<'p>>,
    ) -> Result<Buffer>
    where
        O: AsMut<[u8]> + Send + 'static,
    {
        let mut data = Box::new(data);
        let array = HostArray::dense((*data).as_mut(), element_type, dims)?;
        let semantics = sys::PJRT_HostBufferSemantics::PJRT_HostBufferSemantics_kMutableZeroCopy;
        // SAFETY: `keep_until_done` holds `data`, unobserved, until the plugin is done with it.
        let (buffer, done) = unsafe { from_host(&self.0, &array, semantics, to.into())? };
        keep_until_done(&self.0, done, data)?;
        Ok(buffer)
    }
}

/// Starts a copy and returns the array and the event that frees its source.
///
/// # Safety
/// The array's bytes must stay as `semantics` demand.
unsafe fn from_host(
    client: &ClientRef,
    array: &HostArray<'_>,
    semantics: sys::PJRT_HostBufferSemantics,
    to: Placement<'_>,
) -> Result<(Buffer, *mut sys::PJRT_Event)> {
    client.plugin.check_type(array.shape.element_type())?;
    let (device, memory) = to.raw(client)?;
    let mut args = Padded::<sys::PJRT_Client_BufferFromHostBuffer_Args>::new();
    args.client = client.raw.as_ptr();
    args.data = array.bytes[array.offset.min(array.bytes.len())..].as_ptr().cast();
    args.type_ = array.shape.element_type().to_pjrt();
    args.dims = array.shape.dims().as_ptr();
    args.num_dims = array.shape.dims().len();
    if let Some(strides) = array.byte_strides {
        args.byte_strides = strides.as_ptr();
        args.num_byte_strides = strides.len();
    }
    args.host_buffer_semantics = semantics;
    args.device = device;
    args.memory = memory;
    let function = function!(PJRT_Client_BufferFromHostBuffer);
    // SAFETY: `HostArray` checked that shape and strides stay inside the bytes;
    // their lifetime is the caller's promise; the place is of this client.
    unsafe { client.api().call(function, &mut args)? };
    let shape = Arc::clone(&array.shape);
    // SAFETY: a fresh buffer of this client with this shape.
    let buffer = unsafe { Buffer::checked(args.buffer, client, shape, function.name)? };
    Ok((buffer, args.done_with_host_buffer))
}

fn destroy_event(api: Api, event: *mut sys::PJRT_Event) {
    if event.is_null() {
        return;
    }
    // SAFETY: the event is ours and not used again.
    let freed = unsafe { api.get(function!(PJRT_Event_Destroy), |a| a.event = event) };
    log_failed("free an event", freed.map(|_| ()));
}
