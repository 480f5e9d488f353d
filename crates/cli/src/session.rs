//! A runtime as the command line and the environment ask for it.

use anyhow::{Context as _, Result};
use rectiflow_runtime::{DeviceName, Runtime, RuntimeOptions};
use xla_build::manifest::Purpose;
use xla_build::{Finder, Glibc, Machine, Platform};

use crate::console::Console;

/// Whether a program that is not in the cache may be compiled.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Compiling {
    Allowed,
    Forbidden,
}

/// Loads the plugin of a device and creates its client; installs the CPU plugin at first use.
pub(crate) fn start(
    device: &DeviceName,
    compiling: Compiling,
    console: Console,
) -> Result<Runtime> {
    let mut device = device.clone();
    match &mut device {
        DeviceName::Cpu => install_if_missing(console)?,
        DeviceName::Plugin(path) => {
            // Reading the file tells more of what is wrong with it than the loader does.
            xla_build::check_plugin(path, Machine::host(), Glibc::running())
                .with_context(|| format!("cannot use device {}", path.display()))?;
            // A bare name means a file here; the loader would look for it elsewhere.
            *path = std::path::absolute(&path)?;
        }
        DeviceName::Tpu | DeviceName::Cuda => {}
    }
    let starting = format!("starting {device}");
    let mut options = RuntimeOptions::from_env(device)?;
    options.cache.cache_only = compiling == Compiling::Forbidden;
    let runtime = Runtime::new(&options)?;
    console.while_shown(&starting, || runtime.load())?;
    Ok(runtime)
}

/// The runtime would install it too, but without a word for minutes.
fn install_if_missing(console: Console) -> Result<()> {
    let finder = Finder::from_env()?;
    let mut progress = console.installation();
    if let (Ok(None), Ok(row)) =
        (finder.find(Platform::Cpu), finder.row(Purpose::Plugin(Platform::Cpu)))
    {
        let megabytes = row.size.div_ceil(1_000_000);
        progress.note(&format!(
            "installing {} {} (licence: {}, {megabytes} MB to download)",
            row.package, row.version, row.licence
        ));
    }
    finder.find_or_install(Platform::Cpu, &mut *progress)?;
    Ok(())
}
