//! Descriptions of devices, present or merely compiled for.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function, slice, string};
use crate::client::ClientRef;
use crate::error::Result;
use crate::loaded::Handle;
use crate::memory::MemoryDescription;
use crate::plugin::Plugin;
use crate::topology::TopologyRef;
use crate::value::{NamedValue, read_values};

/// What keeps a description or an executable alive.
#[derive(Clone)]
pub(crate) enum Owner {
    Client(ClientRef),
    Topology(TopologyRef),
    Loaded(Arc<Handle>),
}

impl Owner {
    pub(crate) fn plugin(&self) -> &Plugin {
        match self {
            Owner::Client(client) => &client.plugin,
            Owner::Topology(topology) => topology.plugin(),
            Owner::Loaded(loaded) => &loaded.client.plugin,
        }
    }
}

/// Describes a device, present or merely compiled for. Cheap to clone.
#[derive(Clone)]
pub struct DeviceDescription {
    pub(crate) raw: NonNull<sys::PJRT_DeviceDescription>,
    pub(crate) owner: Owner,
}

// SAFETY: a description belongs to its owner, lives as long, and is constant.
unsafe impl Send for DeviceDescription {}
// SAFETY: as above.
unsafe impl Sync for DeviceDescription {}

impl DeviceDescription {
    /// The id that device assignments use.
    ///
    /// # Errors
    /// Those of `PJRT_DeviceDescription_Id`.
    pub fn id(&self) -> Result<i32> {
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_DeviceDescription_Id);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.device_description = raw)? }.id)
    }

    /// Index of the process the device belongs to.
    ///
    /// # Errors
    /// Those of `PJRT_DeviceDescription_ProcessIndex`.
    pub fn process_index(&self) -> Result<i32> {
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_DeviceDescription_ProcessIndex);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.device_description = raw)? }.process_index)
    }

    /// The vendor's name of this kind of device, such as `TPU v6 lite`.
    ///
    /// # Errors
    /// Those of `PJRT_DeviceDescription_Kind`.
    pub fn kind(&self) -> Result<String> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let function = function!(PJRT_DeviceDescription_Kind);
            let args = self.api().get(function, |a| a.device_description = raw)?;
            Ok(string(args.device_kind, args.device_kind_size))
        }
    }

    /// A full description for logs.
    ///
    /// # Errors
    /// Those of `PJRT_DeviceDescription_DebugString`.
    pub fn debug_text(&self) -> Result<String> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let function = function!(PJRT_DeviceDescription_DebugString);
            let args = self.api().get(function, |a| a.device_description = raw)?;
            Ok(string(args.debug_string, args.debug_string_size))
        }
    }

    /// A short description for people.
    ///
    /// # Errors
    /// Those of `PJRT_DeviceDescription_ToString`.
    pub fn text(&self) -> Result<String> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let function = function!(PJRT_DeviceDescription_ToString);
            let args = self.api().get(function, |a| a.device_description = raw)?;
            Ok(string(args.to_string, args.to_string_size))
        }
    }

    /// Platform-specific facts, such as `coords` on TPU.
    ///
    /// # Errors
    /// Those of `PJRT_DeviceDescription_Attributes`.
    pub fn attributes(&self) -> Result<Vec<NamedValue>> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so are the values it owns.
        unsafe {
            let function = function!(PJRT_DeviceDescription_Attributes);
            let args = self.api().get(function, |a| a.device_description = raw)?;
            read_values(args.attributes, args.num_attributes)
        }
    }

    /// The memories such a device has, without having the device.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the plugin lacks the memory descriptions extension.
    pub fn memories(&self) -> Result<Vec<MemoryDescription>> {
        let table = self.owner.plugin().extension::<sys::PJRT_MemoryDescriptions_Extension>()?;
        let name = "PJRT_DeviceDescription_MemoryDescriptions";
        let function = function!(
            sys::PJRT_MemoryDescriptions_Extension,
            PJRT_DeviceDescription_MemoryDescriptions,
            name
        );
        // SAFETY: `raw` is live, and so is the list it owns.
        let (list, default) = unsafe {
            let args = table.get(function, |a| a.device_description = self.raw.as_ptr())?;
            let list = slice(args.memory_descriptions, args.num_memory_descriptions);
            (list, args.default_memory_index)
        };
        let describe = |(i, raw): (usize, &*const sys::PJRT_MemoryDescription)| {
            // SAFETY: each element lives as long as the description.
            unsafe { MemoryDescription::read(&table, *raw, i == default) }
        };
        list.iter().enumerate().map(describe).collect()
    }

    fn api(&self) -> Api {
        self.owner.plugin().api()
    }
}

impl fmt::Debug for DeviceDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "DeviceDescription({error})"),
        }
    }
}
