//! Finds and installs PJRT plugins and headers from a pinned manifest.
//!
//! [`find`] looks and never changes anything; [`find_or_install`] also installs the CPU plugin at
//! first use; [`install`] installs any pinned plugin. Every file it installs comes from a wheel whose
//! SHA-256 is in the [`manifest`], so neither a mirror nor an index can substitute another. A path
//! that you name, or a Python package that is there already, is checked to be a plugin and no more.
//!
//! A plugin is looked for in this order: an explicit path, `PJRT_PLUGIN_LIBRARY_PATH` and (for
//! the TPU, before it) `TPU_LIBRARY_PATH`, the cache folder, installed Python wheels. No plugin is
//! loaded here: what can be checked by reading the file is checked, the rest is the loader's.
//!
//! What this crate refuses to do: run Python, execute code from a wheel, install anything but the
//! CPU plugin without being asked, and pass on a proprietary plugin.
//!
//! ```no_run
//! let plugin = xla_build::find_or_install(xla_build::Platform::Cpu)?;
//! println!("load {}", plugin.display());
//! # Ok::<(), xla_build::Error>(())
//! ```

mod check;
mod download;
mod error;
mod find;
mod http;
mod index;
mod install;
pub mod manifest;
mod platform;
mod progress;
mod record;
mod settings;
mod staging;
mod unpack;
mod url;
mod variable;

#[cfg(feature = "bindgen")]
pub mod bindings;

use std::path::PathBuf;

pub use check::{Glibc, check_plugin};
pub use error::{Code, Error};
pub use find::{Finder, Found, Origin};
pub use platform::{Machine, Platform};
pub use progress::{Bar, Progress, Silent};
pub use record::Installed;
pub use settings::{Proxy, Settings, cache_root};

/// Finds a plugin with the settings of the environment; `None` when there is none on this machine.
///
/// Reads folders and file headers, downloads nothing and writes nothing.
///
/// # Errors
/// When a path variable names a file that is missing or that cannot be a plugin for this machine,
/// or when no cache folder can be named.
pub fn find(platform: Platform) -> Result<Option<Found>, Error> {
    Finder::from_env()?.find(platform)
}

/// Finds a plugin, and installs the CPU plugin when there is none.
///
/// Blocks while it downloads, with a progress bar when stderr is a terminal.
///
/// # Errors
/// As [`find`] and [`install`]; for the other platforms, when there is none, an error of
/// [`Code::NotInstalled`] that names the command to run.
pub fn find_or_install(platform: Platform) -> Result<PathBuf, Error> {
    Finder::from_env()?.find_or_install(platform, &mut Bar::stderr())
}

/// Installs the pinned plugin into the cache folder and returns the library's path.
///
/// Downloads nothing when it is already there. Blocks, also while another process installs the
/// same plugin; then that one's result is used.
///
/// # Errors
/// The network, the index, the file's hash, the cache folder or the machine may not be as they
/// must be; [`Error::code`] tells which. Nothing half-installed is left behind; an unfinished
/// download is kept and resumed by the next call.
pub fn install(platform: Platform, progress: &mut dyn Progress) -> Result<PathBuf, Error> {
    Finder::from_env()?.install(platform, progress)
}
