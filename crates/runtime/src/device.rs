//! Devices: by what name they are asked for, and what they say of themselves.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use rectiflow_pjrt as pjrt;
use xla_build::{Finder, Platform, Silent};

use crate::error::{Code, Error, Result};

/// Which plugin a [`Runtime`](crate::Runtime) runs on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum DeviceName {
    /// The processor itself. Its plugin is installed at first use.
    #[default]
    Cpu,
    /// Google TPUs.
    Tpu,
    /// NVIDIA GPUs.
    Cuda,
    /// Whatever the plugin in this file drives.
    Plugin(PathBuf),
}

impl FromStr for DeviceName {
    type Err = Error;

    /// `cpu`, `tpu`, `cuda`, or the path of a plugin, which has a `/` or ends in `.so`.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cpu" => Ok(DeviceName::Cpu),
            "tpu" => Ok(DeviceName::Tpu),
            "cuda" => Ok(DeviceName::Cuda),
            path if path.contains('/') || path.ends_with(".so") => {
                Ok(DeviceName::Plugin(path.into()))
            }
            other => Err(Error::new(
                Code::UnknownDevice,
                format!(
                    "unknown device `{other}`; expected cpu, tpu, cuda, or the path of a PJRT \
                     plugin (a plugin in the current folder is ./NAME)"
                ),
            )),
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceName::Cpu => f.pad("cpu"),
            DeviceName::Tpu => f.pad("tpu"),
            DeviceName::Cuda => f.pad("cuda"),
            DeviceName::Plugin(path) => path.display().fmt(f),
        }
    }
}

impl DeviceName {
    /// The plugin's file; installs the CPU plugin if there is none.
    pub(crate) fn plugin_path(&self) -> Result<PathBuf> {
        let platform = match self {
            DeviceName::Plugin(path) => return Ok(path.clone()),
            DeviceName::Cpu => Platform::Cpu,
            DeviceName::Tpu => Platform::Tpu,
            // The newer one, unless only the older one is there.
            DeviceName::Cuda => match xla_build::find(Platform::Cuda12) {
                Ok(Some(found)) if !matches!(xla_build::find(Platform::Cuda13), Ok(Some(_))) => {
                    return Ok(found.path);
                }
                _ => Platform::Cuda13,
            },
        };
        Finder::from_env()
            .and_then(|finder| finder.find_or_install(platform, &mut Silent))
            .map_err(|e| Error::because(Code::NoPlugin, format!("no plugin for device {self}"), e))
    }
}

/// What a device of a runtime is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The id that device assignments use.
    pub id: i32,
    /// The vendor's name of this kind of device, such as `TPU v6 lite`.
    pub kind: String,
    /// Whether this process can use it.
    pub is_addressable: bool,
    /// Kinds of memory it can use; the default one first. Empty for devices of other processes.
    pub memory_kinds: Vec<String>,
    /// Bytes that may be allocated on it, where the plugin tells.
    pub memory_bytes: Option<u64>,
}

impl DeviceInfo {
    pub(crate) fn of(device: &pjrt::Device) -> pjrt::Result<Self> {
        let is_addressable = device.is_addressable()?;
        let mut memory_kinds = Vec::new();
        let mut memory_bytes = None;
        if is_addressable {
            let default = device.default_memory()?;
            memory_kinds.push(default.kind()?);
            for memory in device.memories()?.into_iter().filter(|memory| *memory != default) {
                memory_kinds.push(memory.kind()?);
            }
            // Unimplemented where there is no allocator, as on CPU: then nothing is known.
            memory_bytes = device.allocator_stats().ok().and_then(|stats| stats.limit_bytes);
        }
        Ok(DeviceInfo {
            id: device.id()?,
            kind: device.description()?.kind()?,
            is_addressable,
            memory_kinds,
            memory_bytes: memory_bytes.and_then(|bytes| u64::try_from(bytes).ok()),
        })
    }
}
