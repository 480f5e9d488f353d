//! Devices of a client.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function};
use crate::client::{Client, ClientRef, non_null, non_null_list};
use crate::device_description::{DeviceDescription, Owner};
use crate::error::Result;
use crate::memory::Memory;

/// A device of a client. Cheap to clone; keeps the client alive.
#[derive(Clone)]
pub struct Device {
    pub(crate) raw: NonNull<sys::PJRT_Device>,
    pub(crate) client: ClientRef,
}

// SAFETY: a device belongs to its client, lives as long, and is constant;
// PJRT allows queries from any thread.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    pub(crate) fn new(raw: NonNull<sys::PJRT_Device>, client: &ClientRef) -> Self {
        Device { raw, client: Arc::clone(client) }
    }

    /// The client the device belongs to.
    pub fn client(&self) -> Client {
        Client(Arc::clone(&self.client))
    }

    /// Id, kind and place of the device.
    ///
    /// # Errors
    /// Those of `PJRT_Device_GetDescription`.
    pub fn description(&self) -> Result<DeviceDescription> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the description lives as long as the client.
        let args =
            unsafe { self.api().get(function!(PJRT_Device_GetDescription), |a| a.device = raw)? };
        let raw = non_null(args.device_description, "PJRT_Device_GetDescription")?;
        Ok(DeviceDescription { raw, owner: Owner::Client(Arc::clone(&self.client)) })
    }

    /// The id that device assignments use, unique across the job.
    ///
    /// # Errors
    /// As [`Device::description`].
    pub fn id(&self) -> Result<i32> {
        self.description()?.id()
    }

    /// Whether this process can use the device.
    ///
    /// # Errors
    /// Those of `PJRT_Device_IsAddressable`.
    pub fn is_addressable(&self) -> Result<bool> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live.
        let args =
            unsafe { self.api().get(function!(PJRT_Device_IsAddressable), |a| a.device = raw)? };
        Ok(args.is_addressable)
    }

    /// The number the hardware gives the device, or -1.
    ///
    /// # Errors
    /// Those of `PJRT_Device_LocalHardwareId`.
    pub fn local_hardware_id(&self) -> Result<i32> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live.
        let args =
            unsafe { self.api().get(function!(PJRT_Device_LocalHardwareId), |a| a.device = raw)? };
        Ok(args.local_hardware_id)
    }

    /// The memories the device can use.
    ///
    /// # Errors
    /// Those of `PJRT_Device_AddressableMemories`.
    pub fn memories(&self) -> Result<Vec<Memory>> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the list lives as long as the client.
        let memories = unsafe {
            let function = function!(PJRT_Device_AddressableMemories);
            let args = self.api().get(function, |a| a.device = raw)?;
            non_null_list(args.memories, args.num_memories)?
        };
        Ok(memories.into_iter().map(|raw| Memory::new(raw, &self.client)).collect())
    }

    /// The memory arrays on this device live in unless told otherwise.
    ///
    /// # Errors
    /// Those of `PJRT_Device_DefaultMemory`.
    pub fn default_memory(&self) -> Result<Memory> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the memory lives as long as the client.
        let args =
            unsafe { self.api().get(function!(PJRT_Device_DefaultMemory), |a| a.device = raw)? };
        Ok(Memory::new(non_null(args.memory, "PJRT_Device_DefaultMemory")?, &self.client))
    }

    /// The memory of this device with the given kind, such as `pinned_host`.
    ///
    /// # Errors
    /// As [`Device::memories`].
    pub fn memory(&self, kind: &str) -> Result<Option<Memory>> {
        for memory in self.memories()? {
            if memory.kind()? == kind {
                return Ok(Some(memory));
            }
        }
        Ok(None)
    }

    /// What the allocator of the device says about itself.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` on platforms without one, such as CPU.
    pub fn allocator_stats(&self) -> Result<AllocatorStats> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live.
        let args =
            unsafe { self.api().get(function!(PJRT_Device_MemoryStats), |a| a.device = raw)? };
        let set = |is_set: bool, value: i64| is_set.then_some(value);
        Ok(AllocatorStats {
            bytes_in_use: args.bytes_in_use,
            peak_bytes_in_use: set(args.peak_bytes_in_use_is_set, args.peak_bytes_in_use),
            n_allocs: set(args.num_allocs_is_set, args.num_allocs),
            largest_alloc_bytes: set(args.largest_alloc_size_is_set, args.largest_alloc_size),
            limit_bytes: set(args.bytes_limit_is_set, args.bytes_limit),
            reserved_bytes: set(args.bytes_reserved_is_set, args.bytes_reserved),
            largest_free_bytes: set(
                args.largest_free_block_bytes_is_set,
                args.largest_free_block_bytes,
            ),
            pool_bytes: set(args.pool_bytes_is_set, args.pool_bytes),
            peak_pool_bytes: set(args.peak_pool_bytes_is_set, args.peak_pool_bytes),
        })
    }

    /// Starts the peaks of [`Device::allocator_stats`] anew.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where there is no allocator, or the plugin is too old.
    pub fn clear_allocator_stats(&self) -> Result<()> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live.
        unsafe { self.api().get(function!(PJRT_Device_ClearMemoryStats), |a| a.device = raw)? };
        Ok(())
    }

    fn api(&self) -> Api {
        self.client.api()
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}
impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.description().and_then(|d| d.text()) {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "Device({error})"),
        }
    }
}

/// Allocator statistics of a device; `None` where the platform does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllocatorStats {
    /// Bytes handed out now.
    pub bytes_in_use: i64,
    /// Most bytes handed out at once.
    pub peak_bytes_in_use: Option<i64>,
    /// Allocations made.
    pub n_allocs: Option<i64>,
    /// Largest single allocation.
    pub largest_alloc_bytes: Option<i64>,
    /// Most bytes users may allocate.
    pub limit_bytes: Option<i64>,
    /// Bytes set aside.
    pub reserved_bytes: Option<i64>,
    /// Largest free block.
    pub largest_free_bytes: Option<i64>,
    /// Bytes held by the allocator, free ones included.
    pub pool_bytes: Option<i64>,
    /// Most bytes held at once.
    pub peak_pool_bytes: Option<i64>,
}
