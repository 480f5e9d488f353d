//! The same C calls without this crate's work: what an overhead is measured
//! against. Everything that can be prepared is prepared in `new`; `run` makes the
//! calls alone.

use std::ptr::null_mut;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, CStruct, function};
use crate::buffer::Buffer;
use crate::client::Client;
use crate::element_type::HostElement;
use crate::error::{Error, Result};
use crate::host_array::HostArray;
use crate::loaded::LoadedExecutable;

type Entry<A> = unsafe extern "C" fn(*mut A) -> *mut sys::PJRT_Error;

/// A zeroed struct as a C program would pass it: no longer than the header says.
#[inline(always)]
fn zeroed<A: CStruct>() -> A {
    // SAFETY: `CStruct` promises that zero bytes are a valid `A`.
    let mut args: A = unsafe { std::mem::zeroed() };
    // SAFETY: `CStruct` promises that the first field is a `size_t`.
    unsafe { (&raw mut args).cast::<usize>().write(size_of::<A>()) };
    args
}

/// Calls an entry directly.
///
/// # Safety
/// Pointers inside `args` must be valid for what the function does with them.
#[inline(always)]
unsafe fn bare<A: CStruct>(api: Api, entry: Entry<A>, args: &mut A) -> Result<()> {
    // SAFETY: as promised by the caller.
    let error = unsafe { entry(args) };
    match std::ptr::NonNull::new(error) {
        None => Ok(()),
        // SAFETY: a returned error is ours.
        Some(error) => Err(unsafe { api.take_error("a bare call", error) }),
    }
}

/// Executes on one device and frees the outputs.
pub struct Execute<'a> {
    executable: &'a LoadedExecutable,
    arguments: Vec<*mut sys::PJRT_Buffer>,
    outputs: Vec<*mut sys::PJRT_Buffer>,
    execute: Entry<sys::PJRT_LoadedExecutable_Execute_Args>,
    destroy: Entry<sys::PJRT_Buffer_Destroy_Args>,
    _buffers: Vec<&'a Buffer>,
}

impl<'a> Execute<'a> {
    /// Prepares an execution that donates nothing.
    ///
    /// # Errors
    /// Those of a first, checked execution.
    pub fn new(executable: &'a LoadedExecutable, arguments: &[&'a Buffer]) -> Result<Self> {
        executable.execute(arguments)?;
        if !executable.donated_parameters().is_empty() || !executable.signature().donations_known {
            return Err(Error::invalid("a bare execution would donate its arguments"));
        }
        let api = executable.api();
        Ok(Execute {
            executable,
            arguments: arguments.iter().map(|buffer| buffer.raw.as_ptr()).collect(),
            outputs: vec![null_mut(); executable.n_outputs()],
            execute: api.entry(function!(PJRT_LoadedExecutable_Execute))?,
            destroy: api.entry(function!(PJRT_Buffer_Destroy))?,
            _buffers: arguments.to_vec(),
        })
    }

    /// One execution: `PJRT_LoadedExecutable_Execute`, then `PJRT_Buffer_Destroy`
    /// for each output.
    ///
    /// # Errors
    /// Those of the two functions.
    pub fn run(&mut self) -> Result<()> {
        let api = self.executable.api();
        let mut options = zeroed::<sys::PJRT_ExecuteOptions>();
        let mut args = zeroed::<sys::PJRT_LoadedExecutable_Execute_Args>();
        let argument_lists = [self.arguments.as_ptr()];
        let output_lists = [self.outputs.as_mut_ptr()];
        args.executable = self.executable.0.handle.raw.as_ptr();
        args.options = &raw mut options;
        args.argument_lists = argument_lists.as_ptr();
        args.num_devices = 1;
        args.num_args = self.arguments.len();
        args.output_lists = output_lists.as_ptr();
        // SAFETY: the arguments were checked by a first execution and are borrowed;
        // the lists outlive the call.
        unsafe { bare(api, self.execute, &mut args)? };
        for output in &mut self.outputs {
            let mut args = zeroed::<sys::PJRT_Buffer_Destroy_Args>();
            args.buffer = std::mem::replace(output, null_mut());
            // SAFETY: a fresh output, freed once.
            unsafe { bare(api, self.destroy, &mut args)? };
        }
        Ok(())
    }
}

/// Copies host memory to the default device and frees the array.
pub struct ToDevice<'a> {
    client: &'a Client,
    array: HostArray<'a>,
    device: *mut sys::PJRT_Device,
    copy: Entry<sys::PJRT_Client_BufferFromHostBuffer_Args>,
    destroy_event: Entry<sys::PJRT_Event_Destroy_Args>,
    destroy: Entry<sys::PJRT_Buffer_Destroy_Args>,
}

impl<'a> ToDevice<'a> {
    /// Prepares the copy of a one-dimensional array.
    ///
    /// # Errors
    /// Those of [`Client::default_device`].
    pub fn new<T: HostElement>(client: &'a Client, elements: &'a [T]) -> Result<Self> {
        let api = client.api();
        Ok(ToDevice {
            client,
            array: HostArray::of_slice(elements, &[elements.len() as i64])?,
            device: client.default_device()?.raw.as_ptr(),
            copy: api.entry(function!(PJRT_Client_BufferFromHostBuffer))?,
            destroy_event: api.entry(function!(PJRT_Event_Destroy))?,
            destroy: api.entry(function!(PJRT_Buffer_Destroy))?,
        })
    }

    /// One copy, with the semantics of
    /// [`Client::buffer_from_slice`](crate::Client::buffer_from_slice).
    ///
    /// # Errors
    /// Those of the functions called.
    pub fn run(&mut self) -> Result<()> {
        let api = self.client.api();
        let mut args = zeroed::<sys::PJRT_Client_BufferFromHostBuffer_Args>();
        args.client = self.client.0.raw.as_ptr();
        args.data = self.array.bytes.as_ptr().cast();
        args.type_ = self.array.shape.element_type().to_pjrt();
        args.dims = self.array.shape.dims().as_ptr();
        args.num_dims = 1;
        args.host_buffer_semantics =
            sys::PJRT_HostBufferSemantics::PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
        args.device = self.device;
        // SAFETY: the array and the client are borrowed.
        unsafe { bare(api, self.copy, &mut args)? };
        let mut event = zeroed::<sys::PJRT_Event_Destroy_Args>();
        event.event = args.done_with_host_buffer;
        let mut buffer = zeroed::<sys::PJRT_Buffer_Destroy_Args>();
        buffer.buffer = args.buffer;
        // SAFETY: both are fresh, and freed once.
        unsafe {
            bare(api, self.destroy_event, &mut event)?;
            bare(api, self.destroy, &mut buffer)
        }
    }
}

/// Copies an array to host memory that is reused.
pub struct ToHost<'a> {
    buffer: &'a Buffer,
    memory: Vec<u8>,
    copy: Entry<sys::PJRT_Buffer_ToHostBuffer_Args>,
    wait: Entry<sys::PJRT_Event_Await_Args>,
    destroy_event: Entry<sys::PJRT_Event_Destroy_Args>,
}

impl<'a> ToHost<'a> {
    /// Prepares the copy.
    ///
    /// # Errors
    /// Those of a first, checked copy.
    pub fn new(buffer: &'a Buffer) -> Result<Self> {
        let api = buffer.api();
        Ok(ToHost {
            buffer,
            memory: buffer.to_bytes()?,
            copy: api.entry(function!(PJRT_Buffer_ToHostBuffer))?,
            wait: api.entry(function!(PJRT_Event_Await))?,
            destroy_event: api.entry(function!(PJRT_Event_Destroy))?,
        })
    }

    /// One copy, in the device's own layout, waited for.
    ///
    /// # Errors
    /// Those of the functions called.
    pub fn run(&mut self) -> Result<()> {
        let api = self.buffer.api();
        let mut args = zeroed::<sys::PJRT_Buffer_ToHostBuffer_Args>();
        args.src = self.buffer.raw.as_ptr();
        args.dst = self.memory.as_mut_ptr().cast();
        args.dst_size = self.memory.len();
        // SAFETY: the memory is as long as the array and outlives the wait.
        unsafe { bare(api, self.copy, &mut args)? };
        let mut wait = zeroed::<sys::PJRT_Event_Await_Args>();
        wait.event = args.event;
        let mut destroy = zeroed::<sys::PJRT_Event_Destroy_Args>();
        destroy.event = args.event;
        // SAFETY: the event is fresh, and freed once, after the wait.
        unsafe {
            let waited = bare(api, self.wait, &mut wait);
            bare(api, self.destroy_event, &mut destroy)?;
            waited
        }
    }

    /// What the last run copied.
    pub fn bytes(&self) -> &[u8] {
        &self.memory
    }
}
