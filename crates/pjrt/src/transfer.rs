//! Filling arrays piece by piece.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rectiflow_pjrt_sys as sys;

use crate::api::{Padded, function};
use crate::buffer::Buffer;
use crate::client::{Client, ClientRef, non_null};
use crate::error::{Error, Result};
use crate::event::{Event, log_failed};
use crate::keep::{LeakUnlessRun, keep_until};
use crate::memory::{Memory, Placement};
use crate::shape::Shape;

/// Arrays reserved in one memory, filled in pieces that need not fit host
/// memory at once. An array can be retrieved, and passed to executions, before
/// its last piece has arrived.
///
/// Dropping it with pieces missing makes those arrays fail.
pub struct TransferManager {
    raw: NonNull<sys::PJRT_AsyncHostToDeviceTransferManager>,
    client: ClientRef,
    slots: Vec<Slot>,
}

// SAFETY: PJRT transfer managers are thread-safe; what this crate tracks beside
// them is behind a mutex.
unsafe impl Send for TransferManager {}
// SAFETY: as above.
unsafe impl Sync for TransferManager {}

struct Slot {
    shape: Arc<Shape>,
    state: Mutex<State>,
}

/// Misuse of a transfer manager aborts inside plugins, so it is ruled out here.
#[derive(Default)]
struct State {
    complete: bool,
    retrieved: bool,
}

impl Client {
    /// Reserves arrays to be filled piece by piece.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a memory of another client, and what the plugin
    /// refuses.
    pub fn transfer_manager(&self, shapes: &[Shape], memory: &Memory) -> Result<TransferManager> {
        let (_, raw_memory) = Placement::from(memory).raw(&self.0)?;
        for shape in shapes {
            self.plugin().check_type(shape.element_type())?;
        }
        let spec = |shape: &Shape| sys::PJRT_ShapeSpec {
            // An element of an array: its size is the stride, so no padding here.
            struct_size: size_of::<sys::PJRT_ShapeSpec>(),
            extension_start: std::ptr::null_mut(),
            dims: shape.dims().as_ptr(),
            num_dims: shape.dims().len(),
            element_type: shape.element_type().to_pjrt(),
        };
        let mut specs: Vec<_> = shapes.iter().map(spec).collect();
        let function = function!(PJRT_Client_CreateBuffersForAsyncHostToDevice);
        // SAFETY: the shapes outlive the call, the memory is of this client.
        let args = unsafe {
            self.api().get(function, |args| {
                args.client = self.0.raw.as_ptr();
                args.shape_specs = specs.as_mut_ptr();
                args.num_shape_specs = specs.len();
                args.memory = raw_memory;
            })?
        };
        let raw = non_null(args.transfer_manager, function.name)?;
        let slot = |shape: &Shape| Slot { shape: Arc::new(shape.clone()), state: Mutex::default() };
        let slots = shapes.iter().map(slot).collect();
        Ok(TransferManager { raw, client: Arc::clone(&self.0), slots })
    }
}

impl TransferManager {
    /// Number of arrays.
    pub fn n_buffers(&self) -> usize {
        self.slots.len()
    }

    /// Bytes the array takes on the device.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an index that does not exist.
    pub fn buffer_bytes(&self, index: usize) -> Result<usize> {
        self.slot(index)?;
        let function = function!(PJRT_AsyncHostToDeviceTransferManager_BufferSize);
        // SAFETY: `raw` is live, the index exists.
        let args = unsafe {
            self.client.api().get(function, |args| {
                args.transfer_manager = self.raw.as_ptr();
                args.buffer_index = index as i32;
            })?
        };
        Ok(args.buffer_size)
    }

    /// The array, which may still be incomplete. Each can be taken once.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an index that does not exist, or was taken.
    pub fn retrieve(&self, index: usize) -> Result<Buffer> {
        let slot = self.slot(index)?;
        let mut state = slot.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.retrieved {
            return Err(Error::invalid(format!("array {index} was already retrieved")));
        }
        let function = function!(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer);
        // SAFETY: `raw` is live, the index exists.
        let args = unsafe {
            self.client.api().get(function, |args| {
                args.transfer_manager = self.raw.as_ptr();
                args.buffer_index = index as i32;
            })?
        };
        state.retrieved = true;
        let shape = Arc::clone(&slot.shape);
        // SAFETY: a fresh buffer of this client with this shape.
        unsafe { Buffer::checked(args.buffer_out, &self.client, shape, function.name) }
    }

    /// Copies `data` to `offset` bytes into the array, in the array's device
    /// layout. `is_last` completes the array. Does not block; the event tells when
    /// the piece has arrived. The memory is dropped then, on any thread.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the piece reaches outside the array, or the array is
    /// already complete.
    pub fn transfer<O>(&self, index: usize, data: O, offset: usize, is_last: bool) -> Result<Event>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        // Boxed first: the bytes must not move with `data` afterwards.
        let data = Box::new(data);
        let bytes = (*data).as_ref();
        let size = self.buffer_bytes(index)?;
        if offset.checked_add(bytes.len()).is_none_or(|end| end > size) {
            return Err(Error::invalid(format!(
                "{} bytes at {offset} reach outside array {index} of {size} bytes",
                bytes.len()
            )));
        }
        let slot = self.slot(index)?;
        let mut state = slot.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.complete {
            return Err(Error::invalid(format!("array {index} is already complete")));
        }
        let mut args =
            Padded::<sys::PJRT_AsyncHostToDeviceTransferManager_TransferData_Args>::new();
        args.transfer_manager = self.raw.as_ptr();
        args.buffer_index = index as i32;
        args.data = bytes.as_ptr().cast();
        args.offset = offset as i64;
        args.transfer_size = bytes.len() as i64;
        args.is_last_transfer = is_last;
        let function = function!(PJRT_AsyncHostToDeviceTransferManager_TransferData);
        // SAFETY: the piece lies inside the array; `keep_until` holds the bytes
        // until the event says that they were copied.
        unsafe { self.client.api().call(function, &mut args)? };
        state.complete = is_last;
        // Dropping `data` runs the caller's code, perhaps right here, and that may use this manager.
        drop(state);
        let data = LeakUnlessRun::new(data);
        let raw = non_null(args.done_with_h2d_transfer, function.name)?;
        // SAFETY: a fresh event of this client.
        let event = unsafe { Event::new(raw, Arc::clone(&self.client), function.name) };
        keep_until(&event, data)?;
        Ok(event)
    }

    /// Gives up on an array: whatever uses it fails with `error`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the array does not exist or is complete.
    pub fn fail(&self, index: usize, error: &Error) -> Result<()> {
        let slot = self.slot(index)?;
        let mut state = slot.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.complete {
            return Err(Error::invalid(format!("array {index} is already complete")));
        }
        let message = error.to_string();
        let function = function!(PJRT_AsyncHostToDeviceTransferManager_SetBufferError);
        // SAFETY: `raw` is live, the index exists, the message outlives the call.
        unsafe {
            self.client.api().get(function, |args| {
                args.transfer_manager = self.raw.as_ptr();
                args.buffer_index = index as i32;
                args.error_code = error.code().to_pjrt();
                args.error_message = message.as_ptr().cast();
                args.error_message_size = message.len();
            })?;
        }
        state.complete = true;
        Ok(())
    }

    fn slot(&self, index: usize) -> Result<&Slot> {
        let n = self.slots.len();
        self.slots
            .get(index)
            .ok_or_else(|| Error::invalid(format!("there is no array {index} among {n}")))
    }
}

impl Drop for TransferManager {
    fn drop(&mut self) {
        let abandoned = "the transfer was abandoned before its last piece";
        let error = Error::with_code(crate::ErrorCode::Cancelled, abandoned);
        for index in 0..self.slots.len() {
            let state = self.slots[index].state.get_mut().unwrap_or_else(PoisonError::into_inner);
            if !state.complete {
                log_failed("abandon a transfer", self.fail(index, &error));
            }
        }
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_AsyncHostToDeviceTransferManager_Destroy);
        // SAFETY: owned by `self` and not used again.
        let freed = unsafe { self.client.api().get(function, |a| a.transfer_manager = raw) };
        log_failed("destroy a transfer manager", freed.map(|_| ()));
    }
}

impl fmt::Debug for TransferManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransferManager").field("n_buffers", &self.n_buffers()).finish()
    }
}
