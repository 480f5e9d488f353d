//! `xla-build`: installs, lists and verifies PJRT plugins, and regenerates the bindings.

mod commands;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version, about = "Installs, lists and verifies pinned PJRT plugins and headers")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Download, verify and unpack a pinned file into the cache folder, and print its path
    Install {
        /// cpu, tpu, cuda12, cuda13, or headers
        what: commands::What,
    },
    /// Show what is pinned, what is installed, and which plugin would be used now
    List,
    /// Read what is installed again and compare it with what was installed
    Verify,
    /// Regenerate the bindings of rectiflow-pjrt-sys from the pinned headers
    Bindgen {
        /// Only compare; fail when the file differs
        #[arg(long)]
        check: bool,
        /// The file to write or compare; the default is right in the workspace's root
        #[arg(long, default_value = "crates/pjrt-sys/src/bindings.rs")]
        output: PathBuf,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Install { what } => commands::install(what),
        Command::List => commands::list(),
        Command::Verify => commands::verify(),
        Command::Bindgen { check, output } => commands::bindgen(check, &output),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xla-build: {error:#}");
            ExitCode::FAILURE
        }
    }
}
