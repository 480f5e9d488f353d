//! Clients.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function, slice, string};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::log_failed;
use crate::key_value::Callbacks;
use crate::memory::Memory;
use crate::options::ClientOptions;
use crate::plugin::Plugin;
use crate::topology::Topology;
use crate::value::c_values;

/// A connection to the devices of one platform. Cheap to clone.
///
/// Everything made from a client keeps it alive, so there is no order in which
/// handles must be dropped.
#[derive(Clone)]
pub struct Client(pub(crate) ClientRef);

pub(crate) type ClientRef = Arc<ClientInner>;

pub(crate) struct ClientInner {
    pub(crate) raw: NonNull<sys::PJRT_Client>,
    pub(crate) plugin: Plugin,
    /// First addressable device; where arrays go unless told otherwise.
    default_device: Option<NonNull<sys::PJRT_Device>>,
    /// Called by the plugin for as long as the client exists.
    _callbacks: Option<Box<Callbacks>>,
}

// SAFETY: PJRT clients are thread-safe; `raw` and `default_device` are constant
// until the last owner drops them.
unsafe impl Send for ClientInner {}
// SAFETY: as above.
unsafe impl Sync for ClientInner {}

impl ClientInner {
    pub(crate) fn api(&self) -> Api {
        self.plugin.api()
    }
}

impl Plugin {
    /// Creates a client. Blocks until the devices are ready; with several
    /// processes, until all of them have arrived.
    ///
    /// # Errors
    /// Those of `PJRT_Client_Create`, among them refused options, and
    /// `INVALID_ARGUMENT` for a count out of range.
    pub fn client(&self, options: &ClientOptions) -> Result<Client> {
        options.check()?;
        let values = c_values(&options.values);
        let callbacks = options.store.clone().map(|store| Box::new(Callbacks::new(store)));
        // SAFETY: `values` outlives the call; the callbacks' box is kept by the
        // client, which is destroyed before it.
        let args = unsafe {
            self.api().get(function!(PJRT_Client_Create), |args| {
                args.create_options = values.as_ptr();
                args.num_options = values.len();
                if let Some(callbacks) = &callbacks {
                    callbacks.fill(args);
                }
            })?
        };
        let raw = non_null(args.client, "PJRT_Client_Create")?;
        let plugin = self.clone();
        let mut inner = ClientInner { raw, plugin, default_device: None, _callbacks: callbacks };
        inner.default_device = inner.addressable()?.first().copied();
        Ok(Client(Arc::new(inner)))
    }
}

impl ClientInner {
    fn addressable(&self) -> Result<Vec<NonNull<sys::PJRT_Device>>> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the list lives as long as the client.
        unsafe {
            let function = function!(PJRT_Client_AddressableDevices);
            let args = self.api().get(function, |args| args.client = raw)?;
            non_null_list(args.addressable_devices, args.num_addressable_devices)
        }
    }
}

impl Client {
    /// The plugin this client belongs to.
    pub fn plugin(&self) -> &Plugin {
        &self.0.plugin
    }

    /// `cpu`, `tpu`, `cuda`, ...
    ///
    /// # Errors
    /// Those of `PJRT_Client_PlatformName`.
    pub fn platform_name(&self) -> Result<String> {
        let raw = self.0.raw.as_ptr();
        // SAFETY: `raw` is live; the name lives as long as the client.
        unsafe {
            let args = self.api().get(function!(PJRT_Client_PlatformName), |a| a.client = raw)?;
            Ok(string(args.platform_name, args.platform_name_size))
        }
    }

    /// The platform's own version text.
    ///
    /// # Errors
    /// Those of `PJRT_Client_PlatformVersion`.
    pub fn platform_version(&self) -> Result<String> {
        let raw = self.0.raw.as_ptr();
        // SAFETY: `raw` is live; the text lives as long as the client.
        unsafe {
            let args =
                self.api().get(function!(PJRT_Client_PlatformVersion), |a| a.client = raw)?;
            Ok(string(args.platform_version, args.platform_version_size))
        }
    }

    /// Index of this process in its job; 0 when it is alone.
    ///
    /// # Errors
    /// Those of `PJRT_Client_ProcessIndex`.
    pub fn process_index(&self) -> Result<i32> {
        let raw = self.0.raw.as_ptr();
        // SAFETY: `raw` is live.
        let args =
            unsafe { self.api().get(function!(PJRT_Client_ProcessIndex), |a| a.client = raw)? };
        Ok(args.process_index)
    }

    /// All devices of the job, those of other processes included.
    ///
    /// # Errors
    /// Those of `PJRT_Client_Devices`.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let raw = self.0.raw.as_ptr();
        // SAFETY: `raw` is live; the list lives as long as the client.
        let devices = unsafe {
            let args = self.api().get(function!(PJRT_Client_Devices), |a| a.client = raw)?;
            non_null_list(args.devices, args.num_devices)?
        };
        Ok(devices.into_iter().map(|raw| Device::new(raw, &self.0)).collect())
    }

    /// The devices this process can use.
    ///
    /// # Errors
    /// Those of `PJRT_Client_AddressableDevices`.
    pub fn addressable_devices(&self) -> Result<Vec<Device>> {
        let devices = self.0.addressable()?;
        Ok(devices.into_iter().map(|raw| Device::new(raw, &self.0)).collect())
    }

    /// The first addressable device.
    ///
    /// # Errors
    /// `NOT_FOUND` if this process has none.
    pub fn default_device(&self) -> Result<Device> {
        let none = "this client has no addressable device";
        let raw = self
            .0
            .default_device
            .ok_or_else(|| Error::with_code(crate::ErrorCode::NotFound, none))?;
        Ok(Device::new(raw, &self.0))
    }

    /// The memories this process can use.
    ///
    /// # Errors
    /// Those of `PJRT_Client_AddressableMemories`.
    pub fn memories(&self) -> Result<Vec<Memory>> {
        let raw = self.0.raw.as_ptr();
        // SAFETY: `raw` is live; the list lives as long as the client.
        let memories = unsafe {
            let function = function!(PJRT_Client_AddressableMemories);
            let args = self.api().get(function, |a| a.client = raw)?;
            non_null_list(args.addressable_memories, args.num_addressable_memories)?
        };
        Ok(memories.into_iter().map(|raw| Memory::new(raw, &self.0)).collect())
    }

    /// The devices this client runs on, as a compile target.
    ///
    /// # Errors
    /// Those of `PJRT_Client_TopologyDescription`.
    pub fn topology(&self) -> Result<Topology> {
        let raw = self.0.raw.as_ptr();
        // SAFETY: `raw` is live; the topology lives as long as the client.
        let args = unsafe {
            self.api().get(function!(PJRT_Client_TopologyDescription), |a| a.client = raw)?
        };
        let topology = non_null(args.topology, "PJRT_Client_TopologyDescription")?;
        Ok(Topology::of_client(topology, &self.0))
    }

    /// Device ids the platform prefers for a job of this size: one row of
    /// `partitions` ids per replica.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there are more slots than devices.
    pub fn default_device_assignment(
        &self,
        replicas: usize,
        partitions: usize,
    ) -> Result<Vec<Vec<i32>>> {
        let slots = replicas
            .checked_mul(partitions)
            .filter(|slots| (1..=i32::MAX as usize).contains(slots))
            .ok_or_else(|| {
                Error::invalid(format!("no assignment of {replicas} x {partitions} devices"))
            })?;
        let n_devices = self.devices()?.len();
        if slots > n_devices {
            return Err(Error::invalid(format!(
                "{replicas} replicas of {partitions} partitions need {slots} devices, \
                 found {n_devices}"
            )));
        }
        let mut ids = vec![0i32; slots];
        // SAFETY: `raw` is live, `ids` holds as many slots as are stated.
        unsafe {
            self.api().get(function!(PJRT_Client_DefaultDeviceAssignment), |args| {
                args.client = self.0.raw.as_ptr();
                args.num_replicas = replicas as i32;
                args.num_partitions = partitions as i32;
                args.default_assignment_size = slots;
                args.default_assignment = ids.as_mut_ptr();
            })?;
        }
        Ok(ids.chunks(partitions).map(<[i32]>::to_vec).collect())
    }

    pub(crate) fn api(&self) -> Api {
        self.0.api()
    }
}

impl Drop for ClientInner {
    fn drop(&mut self) {
        let raw = self.raw.as_ptr();
        // SAFETY: everything made from the client holds a reference to `self`, so
        // nothing uses it any more.
        let freed = unsafe { self.api().get(function!(PJRT_Client_Destroy), |a| a.client = raw) };
        log_failed("destroy a client", freed.map(|_| ()));
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("plugin", &self.0.plugin).finish_non_exhaustive()
    }
}

/// A handle the plugin promised to fill in.
pub(crate) fn non_null<T>(raw: *mut T, function: &'static str) -> Result<NonNull<T>> {
    NonNull::new(raw).ok_or_else(|| {
        let message = "it reported success and returned nothing".to_owned();
        Error::plugin(function, crate::ErrorCode::Internal, message)
    })
}

/// Copies a list of handles.
///
/// # Safety
/// `list` must be null or point to `len` pointers.
pub(crate) unsafe fn non_null_list<T>(list: *const *mut T, len: usize) -> Result<Vec<NonNull<T>>> {
    // SAFETY: as promised by the caller.
    let list = unsafe { slice(list, len) };
    list.iter().map(|raw| non_null(*raw, "a list of handles")).collect()
}
