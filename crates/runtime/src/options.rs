//! What a runtime goes by, all of it explicit.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use rectiflow_pjrt::ClientOptions;

use crate::device::DeviceName;
use crate::eager::EagerOptions;

/// How to make a [`Runtime`](crate::Runtime).
///
/// The defaults take nothing from the environment and keep executables in memory only;
/// [`RuntimeOptions::from_env`] adds what the environment says.
#[derive(Debug, Clone)]
pub struct RuntimeOptions {
    /// Which plugin to run on.
    pub device: DeviceName,
    /// Whether the first use loads the plugin. If not, [`Runtime::load`](crate::Runtime::load)
    /// must have been called.
    pub autoload: bool,
    /// Number of devices that a CPU plugin simulates; its own default if `None`.
    pub device_count: Option<usize>,
    /// Everything else that the plugin's client is told.
    pub client: ClientOptions,
    /// Where executables are kept.
    pub cache: CacheOptions,
    /// How the ops of [`Runtime::queue`](crate::Runtime::queue) run.
    pub eager: EagerOptions,
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        RuntimeOptions {
            device: DeviceName::default(),
            autoload: true,
            device_count: None,
            client: ClientOptions::new(),
            cache: CacheOptions::default(),
            eager: EagerOptions::default(),
        }
    }
}

/// How a [`Cache`](crate::Cache) keeps executables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// The folder to keep them in, beyond this process; `None` keeps them in memory only. It holds
    /// machine code: share it only with those whose programs you would run.
    pub folder: Option<PathBuf>,
    /// Bytes that the folder may hold. The executables unused for longest make room.
    pub disk_cap_bytes: u64,
    /// Executables that are kept in memory; all if `None`.
    pub memory_cap: Option<NonZeroUsize>,
    /// Whether a program that is in neither is an error, instead of being compiled.
    pub cache_only: bool,
}

impl CacheOptions {
    /// Enough for several hundred executables of the size of a diffusion transformer.
    pub const DEFAULT_DISK_CAP_BYTES: u64 = 10_000_000_000;

    /// Keeps executables in this folder too.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        CacheOptions { folder: Some(folder.into()), ..CacheOptions::default() }
    }
}

impl Default for CacheOptions {
    fn default() -> Self {
        CacheOptions {
            folder: None,
            disk_cap_bytes: Self::DEFAULT_DISK_CAP_BYTES,
            memory_cap: None,
            cache_only: false,
        }
    }
}
