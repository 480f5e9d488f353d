//! The binary `rectiflow`: runs compiled programs, looks after the cache of executables, and says
//! what each plugin can do.
//!
//! It is the one crate that prints: on stdout the answer, on stderr all else. It refuses to hold any
//! logic of compiling, caching or running: that is the libraries'.

mod arguments;
mod cache;
mod console;
mod plugins;
mod report;
mod run;
mod session;
mod table;
mod whole_file;

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    // A wrong command line ends here, with status 2.
    let arguments = Arguments::parse();
    console::start_log(&arguments.verbosity);
    match execute(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has enough of it, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rectiflow: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(arguments: &Arguments) -> Result<()> {
    let console = console::Console::new(&arguments.verbosity);
    match &arguments.command {
        Command::Run(arguments) => run::run(arguments, &console),
        Command::Cache(command) => cache::execute(command, &console),
        Command::Plugins(arguments) => plugins::list(arguments, &console),
        Command::ProbePlugin(arguments) => plugins::probe(arguments),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
