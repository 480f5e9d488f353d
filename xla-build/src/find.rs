//! The order in which plugins are looked for.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::check::check_plugin;
use crate::error::{Code, Error, Result};
use crate::manifest::{Purpose, Row};
use crate::platform::Platform;
use crate::progress::Progress;
use crate::settings::Settings;

/// Where a plugin was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The path given to [`Finder::explicit`].
    Explicit,
    /// The environment variable of this name.
    Variable(&'static str),
    /// The cache folder.
    Cache,
    /// An installed Python wheel.
    Python,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Origin::Explicit => "path",
            Origin::Variable(name) => name,
            Origin::Cache => "cache",
            Origin::Python => "python",
        })
    }
}

/// A plugin on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The library.
    pub path: PathBuf,
    /// How it was found.
    pub origin: Origin,
}

/// Finds and installs plugins by given settings.
#[derive(Debug, Clone)]
pub struct Finder {
    settings: Settings,
    explicit: Option<PathBuf>,
}

impl Finder {
    /// A finder with the settings of the environment.
    ///
    /// # Errors
    /// When no cache folder can be named.
    pub fn from_env() -> Result<Finder> {
        Ok(Finder::new(Settings::from_env()?))
    }

    /// A finder with given settings.
    pub fn new(settings: Settings) -> Finder {
        Finder { settings, explicit: None }
    }

    /// Uses this library and looks nowhere else.
    #[must_use]
    pub fn explicit(mut self, path: impl Into<PathBuf>) -> Finder {
        self.explicit = Some(path.into());
        self
    }

    /// What this finder goes by.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Finds a plugin; `None` when there is none on this machine.
    ///
    /// # Errors
    /// When the explicit path or a path variable names a file that is missing or cannot be a
    /// plugin for this machine, or the installed one cannot. A Python package that cannot is
    /// passed over, since nobody asked for it.
    pub fn find(&self, platform: Platform) -> Result<Option<Found>> {
        if let Some(path) = &self.explicit {
            return self.named(path, Origin::Explicit, "the plugin's path").map(Some);
        }
        if let Some((variable, path)) = self.variable(platform) {
            return self.named(path, Origin::Variable(variable), variable).map(Some);
        }
        if let Ok(row) = self.row(Purpose::Plugin(platform))
            && let Some(installed) = self.installed(row)
        {
            // A cache folder may be shared with an older system, in a container for one.
            check_plugin(&installed.path, self.settings.machine, self.settings.glibc).map_err(
                |cause| {
                    let message = format!(
                        "the installed {platform} plugin cannot be used; `xla-build install \
                         {platform}` replaces it if it is damaged"
                    );
                    Error::new(cause.code(), message).because(cause)
                },
            )?;
            return Ok(Some(Found { path: installed.path, origin: Origin::Cache }));
        }
        Ok(self.in_python(platform).map(|path| Found { path, origin: Origin::Python }))
    }

    /// Finds a plugin, and installs the CPU plugin when there is none.
    ///
    /// # Errors
    /// See [`find_or_install`](crate::find_or_install).
    pub fn find_or_install(
        &self,
        platform: Platform,
        progress: &mut dyn Progress,
    ) -> Result<PathBuf> {
        let chosen = self.explicit.is_some() || self.variable(platform).is_some();
        match self.find(platform) {
            Ok(Some(found)) => return Ok(found.path),
            Ok(None) => {}
            // What installed itself repairs itself; what suits another system is no damage.
            Err(error)
                if platform == Platform::Cpu && !chosen && error.code() == Code::NotAPlugin => {}
            Err(error) => return Err(error),
        }
        // First: where nothing is pinned, advice to install it would lead nowhere.
        let row = self.row(Purpose::Plugin(platform))?;
        if platform == Platform::Cpu {
            return self.install_row(row, progress);
        }
        let message = format!(
            "no {platform} plugin on this machine; run `xla-build install {platform}` \
             ({} {}, licence: {}), or set {} to the path of one",
            row.package,
            row.version,
            row.licence,
            if platform == Platform::Tpu { "TPU_LIBRARY_PATH" } else { "PJRT_PLUGIN_LIBRARY_PATH" }
        );
        Err(Error::new(Code::NotInstalled, message))
    }

    /// The row of the manifest for this machine.
    ///
    /// # Errors
    /// [`Code::Unsupported`] when nothing is pinned for it.
    pub fn row(&self, purpose: Purpose) -> Result<&Row> {
        let rows = &self.settings.manifest;
        let machine = self.settings.machine;
        rows.iter().find(|r| r.purpose == purpose && r.machine.suits(machine)).ok_or_else(|| {
            let what = match purpose {
                Purpose::Plugin(platform) => format!("{platform} plugin"),
                Purpose::Headers => "set of headers".to_owned(),
                Purpose::Libclang => "libclang".to_owned(),
            };
            let machine = machine.map_or("this kind of machine".to_owned(), |m| m.to_string());
            let message = format!(
                "no {what} is pinned for {machine}; set PJRT_PLUGIN_LIBRARY_PATH to the path of \
                 a plugin of your own"
            );
            Error::new(Code::Unsupported, message)
        })
    }

    fn named(&self, path: &Path, origin: Origin, source: &str) -> Result<Found> {
        // A bare name means a file here; the loader would look for it elsewhere.
        let path = std::path::absolute(path).map_err(|e| Error::read(path, e))?;
        match check_plugin(&path, self.settings.machine, self.settings.glibc) {
            Ok(()) => Ok(Found { path, origin }),
            Err(e) => {
                let message = format!("{source} names no plugin that can be used; correct it");
                Err(Error::new(e.code(), message).because(e))
            }
        }
    }

    fn in_python(&self, platform: Platform) -> Option<PathBuf> {
        let folders = self.settings.site_packages.iter();
        let paths = folders.flat_map(|f| libraries_in_wheels(platform).iter().map(|l| f.join(l)));
        let usable =
            |p: &PathBuf| check_plugin(p, self.settings.machine, self.settings.glibc).is_ok();
        paths.filter(|p| p.is_file()).find(usable)
    }
}

/// The libraries inside the wheels that people install, pinned here or not.
fn libraries_in_wheels(platform: Platform) -> &'static [&'static str] {
    match platform {
        Platform::Cpu => &[
            "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
            "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
        ],
        Platform::Tpu => &["libtpu/libtpu.so"],
        Platform::Cuda12 => &["jax_plugins/xla_cuda12/xla_cuda_plugin.so"],
        Platform::Cuda13 => &["jax_plugins/xla_cuda13/xla_cuda_plugin.so"],
    }
}
