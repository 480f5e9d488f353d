//! Every feature of this crate on the CPU plugin.

mod compile;
mod device_arrays;
mod donation;
mod element_types;
mod events;
mod execute;
mod ffi;
mod lifetimes;
mod platform;
mod sharded;
mod to_device;
mod to_host;
mod transfer;

use std::sync::OnceLock;

use rectiflow_pjrt::{Client, ClientOptions, CompileOptions, ErrorCode, LoadedExecutable, Plugin};
use rectiflow_pjrt::{Program, Result};

/// The CPU plugin that this project installs, or `PJRT_PLUGIN_LIBRARY_PATH`.
fn plugin() -> &'static Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let path = xla_build::find_or_install(xla_build::Platform::Cpu).expect("a CPU plugin");
        Plugin::load(path).expect("the CPU plugin loads")
    })
}

/// One client of four devices, shared by all tests that do not need their own.
fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        plugin().client(&ClientOptions::new().cpu_device_count(4)).expect("a client")
    })
}

/// Compiles the body of `@main` for one device.
fn compile(signature: &str, body: &str) -> LoadedExecutable {
    let program = Program::stablehlo(format!("func.func @main{signature} {{ {body} }}"));
    client().compile(&program, &CompileOptions::new()).expect("the program compiles")
}

/// `x + x` over eight elements.
fn double() -> LoadedExecutable {
    compile(
        "(%x: tensor<8xf32>) -> tensor<8xf32>",
        "%0 = stablehlo.add %x, %x : tensor<8xf32> return %0 : tensor<8xf32>",
    )
}

/// The position a skipped test prints, so that it is never silent.
fn skipped(test: &str, why: impl std::fmt::Display) {
    eprintln!("skipped {test}: {why}");
}

/// The answer, or `None` and a printed line where this plugin does not have the
/// feature. The 0.81 plugin says `NOT_FOUND` where it means that.
fn if_implemented<T>(test: &str, answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_unimplemented() || error.code() == ErrorCode::NotFound => {
            skipped(test, error);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
