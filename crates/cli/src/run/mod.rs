//! `rectiflow run`: one program, once or several times, on one device.

mod bytecode;
mod dtype;
mod fit;
mod input;
mod minifloat;
mod npy;
mod output;
pub(crate) mod program;
mod show;

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use rectiflow_pjrt::{self as pjrt, Buffer, Client, HostArray, LoadedExecutable};
use rectiflow_runtime::Request;

use crate::arguments::{CompileArguments, ReportArguments};
use crate::console::Console;
use crate::report::{Phases, Report};
use crate::session::{self, Compiling};
use crate::whole_file::WholeFile;
use input::Input;
use program::ProgramFile;

/// Runs FILE: StableHLO as text or bytecode, or a serialized HloModuleProto; its content tells.
///
/// Parameters are numbered from 0 in the order of the program, and so are results.
#[derive(clap::Args)]
pub(crate) struct RunArguments {
    /// The program
    file: PathBuf,
    /// A .safetensors file with tensors named 0, 1, ..., or one .npy file for each parameter in
    /// order; repeatable, but not both kinds together
    #[arg(long = "input", value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Write the results to a .safetensors file, as tensors named 0, 1, ..., instead of printing
    /// them
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Execute this many times; the report has the time of each
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: NonZeroUsize,
    /// Fail rather than compile a program that is not in the cache
    #[arg(long)]
    cache_only: bool,
    #[command(flatten)]
    compile: CompileArguments,
    #[command(flatten)]
    report: ReportArguments,
}

pub(crate) fn run(arguments: &RunArguments, console: &Console) -> Result<()> {
    let output = arguments.output.as_deref().map(WholeFile::at).transpose()?;
    let report = arguments.report.report.as_deref().map(WholeFile::at).transpose()?;
    let mut phases = Phases::default();
    let (program, inputs) = phases.time("read files", || -> Result<_> {
        Ok((ProgramFile::read(&arguments.file)?, input::read(&arguments.inputs)?))
    })?;
    let compiling = if arguments.cache_only { Compiling::Forbidden } else { Compiling::Allowed };
    let runtime = phases
        .time("start device", || session::start(&arguments.compile.device, compiling, *console))?;
    let options = arguments.compile.options();
    let request = Request { name: &program.name, program: &program.program, options: &options };
    let executable = phases.time("compile or load", || {
        let shown = format!("compiling {}", program.name);
        console.while_shown(&shown, || runtime.get_or_compile(&request))
    })?;
    let inputs = fit::fit(&program.name, executable.parameter_shapes(), inputs)?;
    let client = runtime.client()?;
    let parameters = phases.time("copy to device", || upload(client, inputs))?;
    let (results, seconds) = phases.time("execute", || {
        let shown = format!("running {}", program.name);
        console.while_shown(&shown, || execute(&executable, &parameters, arguments.repeat))
    })?;
    phases.time("write results", || match &output {
        Some(file) => output::write(&results, file),
        None if console.is_quiet => Ok(()),
        None => show::show(&results, &mut io::stdout().lock()),
    })?;
    match report {
        Some(file) => {
            Report::new(runtime.stats(), phases).with("execution_seconds", seconds).write(&file)
        }
        None => Ok(()),
    }
}

/// Takes the inputs, so that they are in host memory no longer than needed.
fn upload(client: &Client, inputs: Vec<Input>) -> Result<Vec<Buffer>> {
    let device = client.default_device()?;
    let copy = |input: &Input| -> pjrt::Result<Buffer> {
        let (element_type, strides) = (input.known_type(), input.byte_strides());
        let array = HostArray::strided(input.bytes(), element_type, &input.dims, &strides, 0)?;
        client.buffer_from_host(&array, &device)
    };
    let buffers = inputs.iter().enumerate().map(|(i, input)| {
        copy(input).with_context(|| format!("cannot copy parameter {i} to the device"))
    });
    buffers.collect()
}

/// Results of the last execution, and the seconds that each took until its results were there.
fn execute(
    executable: &LoadedExecutable,
    parameters: &[Buffer],
    repeat: NonZeroUsize,
) -> Result<(Vec<Buffer>, Vec<f64>)> {
    let borrowed: Vec<&Buffer> = parameters.iter().collect();
    let mut seconds = Vec::with_capacity(repeat.get());
    let mut results = Vec::new();
    for i in 0..repeat.get() {
        // The results before these make room first.
        results.clear();
        let start = Instant::now();
        let run = || -> pjrt::Result<Vec<Buffer>> {
            let results = executable.execute(&borrowed)?;
            results.iter().try_for_each(|result| result.ready()?.wait())?;
            Ok(results)
        };
        results = run().with_context(|| format!("execution {} failed", i + 1))?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    if results.len() != executable.n_outputs() {
        bail!("expected {} results, found {}", executable.n_outputs(), results.len());
    }
    Ok((results, seconds))
}
