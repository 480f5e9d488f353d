//! `rectiflow cache why`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Result;
use rectiflow_runtime::Request;

use crate::arguments::CompileArguments;
use crate::console::Console;
use crate::run::program::ProgramFile;
use crate::session::{self, Compiling};

#[derive(clap::Args)]
pub(crate) struct WhyArguments {
    /// The program, as `rectiflow run` takes it
    file: PathBuf,
    #[command(flatten)]
    compile: CompileArguments,
}

/// Compiles nothing; loads the plugin, since its build is part of the key.
pub(super) fn why(arguments: &WhyArguments, console: &Console) -> Result<()> {
    let file = ProgramFile::read(&arguments.file)?;
    let runtime = session::start(&arguments.compile.device, Compiling::Forbidden, *console)?;
    let options = arguments.compile.options();
    let request = Request { name: &file.name, program: &file.program, options: &options };
    let why = runtime.cache()?.why(&request);
    let mut out = io::stdout().lock();
    let state = if why.is_cached { "hit" } else { "miss" };
    writeln!(out, "{state}: `{}` (key {:.12})", why.name, why.key)?;
    match &why.nearest {
        _ if why.is_cached => {}
        None => writeln!(out, "the cache is empty")?,
        Some(nearest) => {
            let (name, key) = (&nearest.name, &nearest.key);
            writeln!(out, "nearest: `{name}` (key {key:.12}), which differs in")?;
            for difference in &nearest.differences {
                writeln!(out, "  {difference}")?;
            }
        }
    }
    Ok(())
}
