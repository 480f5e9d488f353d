//! Memories.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function, string};
use crate::client::{ClientRef, non_null_list};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::extension::Table;

/// A memory of a client's devices. Cheap to clone; keeps the client alive.
#[derive(Clone)]
pub struct Memory {
    pub(crate) raw: NonNull<sys::PJRT_Memory>,
    pub(crate) client: ClientRef,
}

// SAFETY: a memory belongs to its client, lives as long, and is constant.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(raw: NonNull<sys::PJRT_Memory>, client: &ClientRef) -> Self {
        Memory { raw, client: Arc::clone(client) }
    }

    /// The id, unique among the client's memories.
    ///
    /// # Errors
    /// Those of `PJRT_Memory_Id`.
    pub fn id(&self) -> Result<i32> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function!(PJRT_Memory_Id), |a| a.memory = raw)? }.id)
    }

    /// `device`, `pinned_host`, `unpinned_host`, ...
    ///
    /// # Errors
    /// Those of `PJRT_Memory_Kind`.
    pub fn kind(&self) -> Result<String> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let args = self.api().get(function!(PJRT_Memory_Kind), |a| a.memory = raw)?;
            Ok(string(args.kind, args.kind_size))
        }
    }

    /// The platform's number for the kind.
    ///
    /// # Errors
    /// Those of `PJRT_Memory_Kind_Id`.
    pub fn kind_id(&self) -> Result<i32> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function!(PJRT_Memory_Kind_Id), |a| a.memory = raw)? }.kind_id)
    }

    /// A short description for people.
    ///
    /// # Errors
    /// Those of `PJRT_Memory_ToString`.
    pub fn text(&self) -> Result<String> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let args = self.api().get(function!(PJRT_Memory_ToString), |a| a.memory = raw)?;
            Ok(string(args.to_string, args.to_string_size))
        }
    }

    /// The devices that can use this memory.
    ///
    /// # Errors
    /// Those of `PJRT_Memory_AddressableByDevices`.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the list lives as long as the client.
        let devices = unsafe {
            let function = function!(PJRT_Memory_AddressableByDevices);
            let args = self.api().get(function, |a| a.memory = raw)?;
            non_null_list(args.devices, args.num_devices)?
        };
        Ok(devices.into_iter().map(|raw| Device::new(raw, &self.client)).collect())
    }

    fn api(&self) -> Api {
        self.client.api()
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}
impl Eq for Memory {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "Memory({error})"),
        }
    }
}

/// A memory that a kind of device has, whether or not one is present.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryDescription {
    /// `device`, `pinned_host`, ...
    pub kind: String,
    /// The platform's number for the kind.
    pub kind_id: i32,
    /// Whether arrays live here unless told otherwise.
    pub is_default: bool,
}

impl MemoryDescription {
    /// # Safety
    /// `raw` must be a live memory description of the plugin `table` belongs to.
    pub(crate) unsafe fn read(
        table: &Table<sys::PJRT_MemoryDescriptions_Extension>,
        raw: *const sys::PJRT_MemoryDescription,
        is_default: bool,
    ) -> Result<Self> {
        let name = "PJRT_MemoryDescription_Kind";
        let function =
            function!(sys::PJRT_MemoryDescriptions_Extension, PJRT_MemoryDescription_Kind, name);
        // SAFETY: as promised by the caller; the text lives as long as `raw`.
        unsafe {
            let args = table.get(function, |a| a.memory_description = raw)?;
            let kind = string(args.kind, args.kind_size);
            Ok(MemoryDescription { kind, kind_id: args.kind_id, is_default })
        }
    }
}

/// Where an array goes: a device's default memory, or a given memory.
///
/// Made from `&Device` or `&Memory`.
#[derive(Clone, Copy, Debug)]
pub enum Placement<'a> {
    /// The default memory of a device.
    Device(&'a Device),
    /// A memory of any kind.
    Memory(&'a Memory),
}

impl<'a> From<&'a Device> for Placement<'a> {
    fn from(device: &'a Device) -> Self {
        Placement::Device(device)
    }
}
impl<'a> From<&'a Memory> for Placement<'a> {
    fn from(memory: &'a Memory) -> Self {
        Placement::Memory(memory)
    }
}

impl Placement<'_> {
    fn client(&self) -> &ClientRef {
        match self {
            Placement::Device(device) => &device.client,
            Placement::Memory(memory) => &memory.client,
        }
    }

    /// The device and memory pointers of a C call, after checking that they
    /// belong to the client that is about to use them.
    pub(crate) fn raw(
        &self,
        client: &ClientRef,
    ) -> Result<(*mut sys::PJRT_Device, *mut sys::PJRT_Memory)> {
        if !Arc::ptr_eq(self.client(), client) {
            return Err(Error::invalid("the device or memory belongs to another client"));
        }
        Ok(match self {
            Placement::Device(device) => (device.raw.as_ptr(), std::ptr::null_mut()),
            Placement::Memory(memory) => (std::ptr::null_mut(), memory.raw.as_ptr()),
        })
    }
}
