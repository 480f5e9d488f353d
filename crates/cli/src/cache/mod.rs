//! `rectiflow cache`: the folder of executables.

mod list;
mod why;

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use bytesize::ByteSize;
use clap::Subcommand;
use rectiflow_runtime::{DeviceName, Disk, RuntimeOptions, Swept};

use crate::console::Console;

#[derive(Subcommand)]
pub(crate) enum CacheCommand {
    /// List the executables, the last used first
    Ls(list::ListArguments),
    /// Remove damaged files, and the executables unused for longest until the rest fits
    Gc {
        /// Bytes that may stay, such as 10GB or 512MiB
        #[arg(long, value_name = "BYTES", default_value = DEFAULT_CAP)]
        cap: ByteSize,
    },
    /// Remove all executables
    Clear,
    /// Say whether a program is cached, or how it differs from the nearest that is
    Why(why::WhyArguments),
}

/// The runtime's, as people write it.
const DEFAULT_CAP: &str = "10GB";

pub(crate) fn execute(command: &CacheCommand, console: &Console) -> Result<()> {
    match command {
        CacheCommand::Ls(arguments) => list::list(&disk(u64::MAX)?, arguments),
        CacheCommand::Gc { cap } => {
            let disk = disk(cap.as_u64())?;
            swept(disk.gc()?, &disk, console)
        }
        CacheCommand::Clear => {
            let disk = disk(u64::MAX)?;
            swept(disk.clear()?, &disk, console)
        }
        CacheCommand::Why(arguments) => why::why(arguments, console),
    }
}

/// The folder that `rectiflow run` keeps its executables in.
fn disk(cap_bytes: u64) -> Result<Disk> {
    let folder = RuntimeOptions::from_env(DeviceName::Cpu)?.cache.folder;
    let folder =
        folder.context("there is no folder to keep executables in; set RECTIFLOW_CACHE")?;
    Ok(Disk::new(folder, cap_bytes))
}

fn swept(swept: Swept, disk: &Disk, console: &Console) -> Result<()> {
    if console.is_quiet {
        return Ok(());
    }
    let left = disk.ls()?.entries;
    let bytes = left.iter().map(|entry| entry.bytes).sum();
    writeln!(
        io::stdout(),
        "removed {} and {}; {} of {} stay in {}",
        count(swept.executables, "executable"),
        size(swept.bytes),
        count(left.len(), "executable"),
        size(bytes),
        disk.folder().display()
    )?;
    Ok(())
}

fn size(bytes: u64) -> String {
    ByteSize::b(bytes).display().si().to_string()
}

fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rectiflow_runtime::CacheOptions;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        let bytes = |text: &str| text.parse::<ByteSize>().unwrap().as_u64();
        assert_eq!(bytes(DEFAULT_CAP), CacheOptions::DEFAULT_DISK_CAP_BYTES);
        assert_eq!([bytes("512MiB"), bytes("1000"), bytes("0")], [512 << 20, 1000, 0]);
        assert_eq!(size(10_000_000_000), "10.0 GB");
    }
}
