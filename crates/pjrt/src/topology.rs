//! Topologies: what to compile for, with or without the hardware.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function, slice, string};
use crate::client::{ClientRef, non_null, non_null_list};
use crate::device_description::{DeviceDescription, Owner};
use crate::error::{Error, Result};
use crate::event::log_failed;
use crate::plugin::Plugin;
use crate::value::{NamedValue, c_values, read_values};

/// A set of devices and how they are connected. Cheap to clone.
#[derive(Clone)]
pub struct Topology {
    pub(crate) raw: NonNull<sys::PJRT_TopologyDescription>,
    pub(crate) owner: Owner,
}

// SAFETY: a topology is constant and lives as long as its owner.
unsafe impl Send for Topology {}
// SAFETY: as above.
unsafe impl Sync for Topology {}

pub(crate) type TopologyRef = Arc<TopologyInner>;

/// A topology made without a client, which therefore must be freed.
pub(crate) struct TopologyInner {
    raw: NonNull<sys::PJRT_TopologyDescription>,
    plugin: Plugin,
}

// SAFETY: a topology is constant until its last owner frees it.
unsafe impl Send for TopologyInner {}
// SAFETY: as above.
unsafe impl Sync for TopologyInner {}

impl TopologyInner {
    pub(crate) fn plugin(&self) -> &Plugin {
        &self.plugin
    }
}

impl Plugin {
    /// Describes hardware that need not be present, such as `v6e:2x2`.
    ///
    /// # Errors
    /// Those of `PJRT_TopologyDescription_Create`: an unknown name, or a plugin
    /// that knows only the hardware it runs on. `INVALID_ARGUMENT` for a name of
    /// the form `kind:2x2` with an extent that is not positive, or more than a
    /// million devices.
    pub fn topology(&self, name: &str, options: &[NamedValue]) -> Result<Topology> {
        check_extents(name)?;
        let values = c_values(options);
        // SAFETY: the name and the values outlive the call.
        let args = unsafe {
            self.api().get(function!(PJRT_TopologyDescription_Create), |args| {
                args.topology_name = name.as_ptr().cast();
                args.topology_name_size = name.len();
                args.create_options = values.as_ptr();
                args.num_options = values.len();
            })?
        };
        self.own(args.topology, "PJRT_TopologyDescription_Create")
    }

    /// Restores a topology from [`Topology::serialize`].
    ///
    /// # Errors
    /// Those of `PJRT_TopologyDescription_Deserialize`.
    pub fn deserialize_topology(&self, serialized: &[u8]) -> Result<Topology> {
        // SAFETY: `serialized` outlives the call.
        let args = unsafe {
            self.api().get(function!(PJRT_TopologyDescription_Deserialize), |args| {
                args.serialized_topology = serialized.as_ptr().cast();
                args.serialized_topology_size = serialized.len();
            })?
        };
        self.own(args.topology, "PJRT_TopologyDescription_Deserialize")
    }

    fn own(&self, raw: *mut sys::PJRT_TopologyDescription, from: &'static str) -> Result<Topology> {
        let raw = non_null(raw, from)?;
        let inner = Arc::new(TopologyInner { raw, plugin: self.clone() });
        Ok(Topology { raw, owner: Owner::Topology(inner) })
    }
}

/// Plugins divide by an extent of 0, which ends the process, and describe any
/// number of devices until the memory is full. Other names are theirs to judge.
fn check_extents(name: &str) -> Result<()> {
    let Some((_, extents)) = name.rsplit_once(':') else { return Ok(()) };
    let extents: Vec<i64> = match extents.split('x').map(|n| n.trim().parse()).collect() {
        Ok(extents) => extents,
        Err(_) => return Ok(()),
    };
    if let Some(extent) = extents.iter().find(|extent| **extent < 1) {
        return Err(Error::invalid(format!(
            "topology {name} has an extent of {extent}, expected 1 or more"
        )));
    }
    let n = extents.iter().try_fold(1i64, |n, extent| n.checked_mul(*extent));
    if n.is_none_or(|n| n > MOST_DEVICES) {
        return Err(Error::invalid(format!(
            "topology {name} has more than {MOST_DEVICES} devices"
        )));
    }
    Ok(())
}

const MOST_DEVICES: i64 = 1 << 20;

impl Topology {
    pub(crate) fn of_client(
        raw: NonNull<sys::PJRT_TopologyDescription>,
        client: &ClientRef,
    ) -> Self {
        Topology { raw, owner: Owner::Client(Arc::clone(client)) }
    }

    /// `cpu`, `tpu`, `cuda`, ...
    ///
    /// # Errors
    /// Those of `PJRT_TopologyDescription_PlatformName`.
    pub fn platform_name(&self) -> Result<String> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let function = function!(PJRT_TopologyDescription_PlatformName);
            let args = self.api().get(function, |a| a.topology = raw)?;
            Ok(string(args.platform_name, args.platform_name_size))
        }
    }

    /// The platform's own version text.
    ///
    /// # Errors
    /// Those of `PJRT_TopologyDescription_PlatformVersion`.
    pub fn platform_version(&self) -> Result<String> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let function = function!(PJRT_TopologyDescription_PlatformVersion);
            let args = self.api().get(function, |a| a.topology = raw)?;
            Ok(string(args.platform_version, args.platform_version_size))
        }
    }

    /// Descriptions of all devices.
    ///
    /// # Errors
    /// Those of `PJRT_TopologyDescription_GetDeviceDescriptions`.
    pub fn devices(&self) -> Result<Vec<DeviceDescription>> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the list lives as long as it.
        let list = unsafe {
            let function = function!(PJRT_TopologyDescription_GetDeviceDescriptions);
            let args = self.api().get(function, |a| a.topology = raw)?;
            non_null_list(args.descriptions, args.num_descriptions)?
        };
        let describe = |raw| DeviceDescription { raw, owner: self.owner.clone() };
        Ok(list.into_iter().map(describe).collect())
    }

    /// Platform-specific facts.
    ///
    /// # Errors
    /// Those of `PJRT_TopologyDescription_Attributes`.
    pub fn attributes(&self) -> Result<Vec<NamedValue>> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live, and so are the values it owns.
        unsafe {
            let function = function!(PJRT_TopologyDescription_Attributes);
            let args = self.api().get(function, |a| a.topology = raw)?;
            read_values(args.attributes, args.num_attributes)
        }
    }

    /// A number that is equal for equal topologies.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` on older plugins.
    pub fn fingerprint(&self) -> Result<u64> {
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_TopologyDescription_Fingerprint);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.topology = raw)? }.fingerprint)
    }

    /// Bytes for cache keys and for [`Plugin::deserialize_topology`].
    ///
    /// # Errors
    /// Those of `PJRT_TopologyDescription_Serialize`.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let raw = self.raw.as_ptr();
        // SAFETY: `raw` is live; the bytes live until the deleter runs.
        unsafe {
            let function = function!(PJRT_TopologyDescription_Serialize);
            let args = self.api().get(function, |a| a.topology = raw)?;
            let bytes = slice(args.serialized_bytes.cast(), args.serialized_bytes_size).to_vec();
            if let Some(free) = args.serialized_topology_deleter {
                free(args.serialized_topology);
            }
            Ok(bytes)
        }
    }

    /// The plugin the topology belongs to.
    pub fn plugin(&self) -> &Plugin {
        self.owner.plugin()
    }

    fn api(&self) -> Api {
        self.plugin().api()
    }
}

impl Drop for TopologyInner {
    fn drop(&mut self) {
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_TopologyDescription_Destroy);
        // SAFETY: this is the last owner; descriptions hold a reference too.
        let freed = unsafe { self.plugin.api().get(function, |a| a.topology = raw) };
        log_failed("destroy a topology", freed.map(|_| ()));
    }
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topology").field("plugin", self.plugin()).finish_non_exhaustive()
    }
}
