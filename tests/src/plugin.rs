//! The CPU plugin, installed at first use, and a run of a module on it.

use std::{
    process::Command,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result, ensure};
use rectiflow_hlo::{DType, Module, Shape};
use rectiflow_pjrt::{
    Buffer, Client, ClientOptions, CompileOptions, ElementType, ExecuteOptions, Plugin, Program,
};
use xla_build::Platform;

use crate::Value;

/// A client of `n_devices` CPU devices. Tests of one process share one client for each count,
/// since each starts threads of its own.
pub fn cpu_client(n_devices: usize) -> Result<Client> {
    static CLIENTS: Mutex<Vec<(usize, Client)>> = Mutex::new(Vec::new());
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, client)) = clients.iter().find(|(n, _)| *n == n_devices) {
        return Ok(client.clone());
    }
    let path = xla_build::find_or_install(Platform::Cpu)?;
    let plugin = Plugin::load(&path)?;
    let client = plugin.client(&ClientOptions::new().cpu_device_count(n_devices as i64))?;
    clients.push((n_devices, client.clone()));
    Ok(client)
}

/// The PJRT element type of a dtype.
pub fn element_type(dtype: DType) -> Result<ElementType> {
    let named = ElementType::ALL.iter().find(|ty| ty.name() == dtype.mlir());
    named.copied().with_context(|| format!("no PJRT type is called {dtype}"))
}

/// The dtype of a PJRT element type.
pub fn dtype(ty: ElementType) -> Result<DType> {
    let named = DType::ALL.iter().find(|dtype| dtype.mlir() == ty.name());
    named.copied().with_context(|| format!("no dtype is called {}", ty.name()))
}

/// How the CPU plugin is asked to compile. Left to itself it takes minima and maxima that lose NaN.
pub fn options() -> CompileOptions {
    CompileOptions::new().flag("xla_cpu_enable_fast_min_max", false)
}

/// Compiles and runs a module on one device.
pub fn run(module: &Module, inputs: &[Value]) -> Result<Vec<Value>> {
    let mut results = run_on(1, module, &[inputs.to_vec()], &options())?;
    Ok(results.swap_remove(0))
}

/// Compiles and runs a module on `n_devices` devices, with inputs and results for each.
pub fn run_on(
    n_devices: usize,
    module: &Module,
    inputs: &[Vec<Value>],
    options: &CompileOptions,
) -> Result<Vec<Vec<Value>>> {
    let client = cpu_client(n_devices)?;
    let executable = client.compile(&Program::stablehlo(module.to_string()), options)?;
    let devices = client.addressable_devices()?;
    ensure!(inputs.len() == n_devices, "inputs for {n_devices} devices");
    let arguments = inputs.iter().zip(&devices).map(|(values, device)| {
        let upload = |value: &Value| -> Result<Buffer> {
            let ty = element_type(value.shape.dtype)?;
            Ok(client.buffer_from_bytes(&value.bytes, ty, &value.shape.dims, device)?)
        };
        values.iter().map(upload).collect::<Result<Vec<Buffer>>>()
    });
    let arguments = arguments.collect::<Result<Vec<_>>>()?;
    let borrowed: Vec<Vec<&Buffer>> = arguments.iter().map(|row| row.iter().collect()).collect();
    let rows: Vec<&[&Buffer]> = borrowed.iter().map(Vec::as_slice).collect();
    let results = executable.execute_sharded(&rows, &ExecuteOptions::new())?;
    results.iter().map(|row| row.iter().map(download).collect()).collect()
}

fn download(buffer: &Buffer) -> Result<Value> {
    let shape = Shape::new(dtype(buffer.element_type())?, buffer.dims());
    Ok(Value::from_bytes(shape, buffer.to_bytes()?))
}

/// Environment of a process that compiles with libtpu where no TPU is. Without it libtpu asks the
/// network about its host, and lets one process at a time load it.
pub const COMPILE_ONLY: [&str; 2] = ["TPU_SKIP_MDS_QUERY", "ALLOW_MULTIPLE_LIBTPU_LOAD"];

/// Runs a test of this executable again, in a process with [`COMPILE_ONLY`] set, and passes its
/// output on.
///
/// # Errors
/// The test failed there, or did not print `expected`.
pub fn again_for_tpu(test: &str, expected: &str) -> Result<()> {
    let child = Command::new(std::env::current_exe()?)
        .args(["--exact", test, "--nocapture"])
        .envs(COMPILE_ONLY.map(|name| (name, "1")))
        .output()?;
    let [text, log] =
        [child.stdout, child.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{text}");
    ensure!(child.status.success() && text.contains(expected), "{text}{log}");
    Ok(())
}
