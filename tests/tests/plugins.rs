//! Every golden program compiles on the CPU plugin, and for a TPU where libtpu is installed.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use rectiflow_pjrt::{CompileOptions, Plugin, Program};
use rectiflow_tests::plugin;
use xla_build::Platform;

/// What the golden programs are compiled for: as many devices as the widest of them names.
const N_DEVICES: usize = 8;
const TOPOLOGY: &str = "v6e:2x4";

/// Names and texts of the golden files, in order.
fn golden_programs() -> Result<Vec<(String, String)>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        programs.push((name, std::fs::read_to_string(path)?));
    }
    programs.sort();
    Ok(programs)
}

/// Collectives name replicas or devices, so those must be there.
fn options(name: &str) -> CompileOptions {
    let options = CompileOptions::new();
    match name {
        "sharding_constraint" => options.partitions(N_DEVICES),
        "all_gather" => options.partitions(2),
        "all_reduce" => options.replicas(4),
        "reduce_scatter" | "all_to_all" | "collective_permute" => options.replicas(2),
        _ => options,
    }
}

fn compile_all(compile: impl Fn(&Program, &CompileOptions) -> Result<()>) -> Result<usize> {
    let programs = golden_programs()?;
    let mut problems = Vec::new();
    for (name, text) in &programs {
        let outcome = compile(&Program::stablehlo(text.clone()), &options(name));
        match (name.as_str(), outcome) {
            // Its target is registered nowhere, so being refused by that name is right.
            ("custom_call", Err(error)) if format!("{error:#}").contains("rms_norm") => {}
            ("custom_call", _) => problems.push("custom_call: not refused by its target".into()),
            (_, Ok(())) => {}
            (_, Err(error)) => problems.push(format!("{name}: {error:#}")),
        }
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(programs.len())
}

#[test]
fn golden_programs_compile_on_the_cpu_plugin() -> Result<()> {
    let client = plugin::cpu_client(N_DEVICES)?;
    let n = compile_all(|program, options| Ok(client.compile(program, options).map(drop)?))?;
    println!("{n} golden programs compiled");
    Ok(())
}

/// libtpu must find its settings in the environment when it is loaded, so the test runs itself
/// again in a process that has them.
#[test]
fn golden_programs_compile_for_tpu() -> Result<()> {
    let Some(found) = xla_build::find(Platform::Tpu)? else {
        println!("skipped: libtpu is not installed; run `cargo run -p xla-build -- install tpu`");
        return Ok(());
    };
    if plugin::COMPILE_ONLY.iter().any(|name| std::env::var_os(name).is_none()) {
        return plugin::again_for_tpu(
            "golden_programs_compile_for_tpu",
            "golden programs compiled",
        );
    }
    let plugin = Plugin::load(&found.path)?;
    let topology = plugin.topology(TOPOLOGY, &[])?;
    let n = compile_all(|program, options| {
        Ok(plugin.compile(program, &topology, options).map(drop)?)
    })?;
    println!("{n} golden programs compiled for {TOPOLOGY}");
    Ok(())
}
