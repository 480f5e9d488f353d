//! Executables that are ready to run.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function};
use crate::client::{Client, ClientRef, non_null_list};
use crate::compile::executable_of;
use crate::device::Device;
use crate::error::Result;
use crate::event::log_failed;
use crate::executable::Executable;
use crate::form::Output;
use crate::shape::Shape;
use crate::signature::Signature;

/// A compiled program loaded onto its devices. Cheap to clone; runs from any
/// number of threads at once.
#[derive(Clone)]
pub struct LoadedExecutable(pub(crate) Arc<LoadedInner>);

/// Everything an execution needs to know is read here once, so that running
/// costs one C call and the allocation of its results.
pub(crate) struct LoadedInner {
    pub(crate) handle: Arc<Handle>,
    pub(crate) executable: Executable,
    pub(crate) devices: Vec<NonNull<sys::PJRT_Device>>,
    pub(crate) n_outputs: usize,
    /// Parameter shapes and donations, read at the first execution.
    pub(crate) signature: OnceLock<Signature>,
    /// What the outputs are, learned from the first execution's arrays.
    pub(crate) outputs: OnceLock<Vec<Output>>,
}

// SAFETY: PJRT loaded executables are thread-safe; the client they run on, which
// also owns `devices`, is kept alive by `handle`.
unsafe impl Send for LoadedInner {}
// SAFETY: as above.
unsafe impl Sync for LoadedInner {}

impl LoadedExecutable {
    /// # Safety
    /// `raw` must be a live executable of `client` that nobody else frees.
    pub(crate) unsafe fn new(
        raw: NonNull<sys::PJRT_LoadedExecutable>,
        client: &ClientRef,
    ) -> Result<Self> {
        let handle = Arc::new(Handle { raw, client: Arc::clone(client) });
        let executable = executable_of(&handle)?;
        let function = function!(PJRT_LoadedExecutable_AddressableDevices);
        // SAFETY: `raw` is live; the list lives as long as it and is copied.
        let devices = unsafe {
            let args = client.api().get(function, |a| a.executable = raw.as_ptr())?;
            non_null_list(args.addressable_devices, args.num_addressable_devices)?
        };
        let n_outputs = executable.n_outputs()?;
        Ok(LoadedExecutable(Arc::new(LoadedInner {
            handle,
            executable,
            devices,
            n_outputs,
            signature: OnceLock::new(),
            outputs: OnceLock::new(),
        })))
    }

    /// The compiled program itself: name, shapes, statistics, serialization.
    pub fn executable(&self) -> &Executable {
        &self.0.executable
    }

    /// The client it is loaded on.
    pub fn client(&self) -> Client {
        Client(Arc::clone(&self.0.handle.client))
    }

    /// The devices of this process it runs on, in the order of argument lists.
    pub fn devices(&self) -> Vec<Device> {
        self.0.devices.iter().map(|raw| Device::new(*raw, &self.0.handle.client)).collect()
    }

    /// Devices of this process it runs on.
    pub fn n_devices(&self) -> usize {
        self.0.devices.len()
    }

    /// Arrays it returns on each device.
    pub fn n_outputs(&self) -> usize {
        self.0.n_outputs
    }

    /// Shapes of the parameters on each device; `None` where the plugin does not
    /// tell. An entry is `None` for a parameter of dynamic size, and for a tuple.
    pub fn parameter_shapes(&self) -> Option<&[Option<Shape>]> {
        self.signature().parameters.as_deref()
    }

    /// Indices of the parameters the program may take over: they must be passed
    /// by value for it to do so.
    pub fn donated_parameters(&self) -> Vec<usize> {
        self.signature().donated.iter().map(|index| *index as usize).collect()
    }

    pub(crate) fn signature(&self) -> &Signature {
        self.0.signature.get_or_init(|| Signature::of(&self.0.executable, &self.client()))
    }

    pub(crate) fn api(&self) -> Api {
        self.0.handle.client.api()
    }
}

/// Owns the C object, and the client it must not outlive.
pub(crate) struct Handle {
    pub(crate) raw: NonNull<sys::PJRT_LoadedExecutable>,
    pub(crate) client: ClientRef,
}

// SAFETY: PJRT loaded executables may be used and destroyed from any thread; the
// client they run on is kept alive by `client`.
unsafe impl Send for Handle {}
// SAFETY: as above; no function used on `&Handle` mutates the executable.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_LoadedExecutable_Destroy);
        // SAFETY: owned by `self` and not used again. Executions in flight hold
        // their own reference inside the plugin.
        let freed = unsafe { self.client.api().get(function, |a| a.executable = raw) };
        log_failed("destroy a loaded executable", freed.map(|_| ()));
    }
}

impl fmt::Debug for LoadedExecutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedExecutable")
            .field("name", &self.0.executable.name())
            .field("n_devices", &self.n_devices())
            .finish_non_exhaustive()
    }
}
