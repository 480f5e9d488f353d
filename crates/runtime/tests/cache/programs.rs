//! Small programs, and caches to compile them in.

use std::path::Path;

use rectiflow_hlo::{DType, Graph, Shape};
use rectiflow_pjrt::{LoadedExecutable, Program};
use rectiflow_runtime::{CacheOptions, CompileOptions, Request, Result, Runtime, RuntimeOptions};

/// Adds `n` to four numbers.
pub(crate) fn add(n: u32) -> Program {
    Program::stablehlo(format!(
        "module {{ func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
           %n = stablehlo.constant dense<{n}.0> : tensor<4xf32>
           %r = stablehlo.add %a, %n : tensor<4xf32>
           return %r : tensor<4xf32> }} }}"
    ))
}

/// Adds `n` to four numbers, by way of a long constant, so that writing it takes a while.
pub(crate) fn add_large(n: u32) -> Program {
    let words = 1 << 16;
    let constant = format!("{:08x}", n.swap_bytes()) + &"01".repeat((words - 1) * 4);
    Program::stablehlo(format!(
        "module {{ func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
           %i = stablehlo.constant dense<0> : tensor<i32>
           %big = stablehlo.constant dense<\"0x{constant}\"> : tensor<{words}xi32>
           %w = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi32>
           %p = stablehlo.slice %w [0:1] : (tensor<4xi32>) -> tensor<1xi32>
           %s = stablehlo.reshape %p : (tensor<1xi32>) -> tensor<i32>
           %x = stablehlo.dynamic_slice %big, %s, sizes = [1] : (tensor<{words}xi32>, tensor<i32>) -> tensor<1xi32>
           %f = stablehlo.convert %x : (tensor<1xi32>) -> tensor<1xf32>
           %n = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>
           %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<4xf32>
           %r = stablehlo.add %a, %b : tensor<4xf32>
           return %r : tensor<4xf32> }} }}"
    ))
}

/// As [`add`], recorded, with names and on a line that are the caller's.
#[track_caller]
pub(crate) fn recorded(name: &str, scope: &str) -> rectiflow_hlo::Module {
    let graph = Graph::new();
    let x = graph.parameter(name, Shape::new(DType::F32, [4]));
    let scope = graph.scope(scope);
    let y = x.clone() + x;
    drop(scope);
    graph.finish(&[&y]).expect("it is a valid graph")
}

/// Runs a program of this file, and says whether it added `n`.
pub(crate) fn is_right(runtime: &Runtime, executable: &LoadedExecutable, n: u32) -> bool {
    let input = [0f32, 1.0, 2.0, 3.0];
    let run = || -> std::result::Result<Vec<f32>, Box<dyn std::error::Error>> {
        let x = runtime.client()?.buffer_from_slice(&input, &[4])?;
        Ok(executable.execute(&[&x])?[0].to_vec()?)
    };
    run().unwrap_or_else(|error| panic!("{error}")) == input.map(|x| x + n as f32)
}

/// A runtime with nothing in memory yet.
pub(crate) fn runtime(cache: CacheOptions) -> Runtime {
    Runtime::new(&RuntimeOptions { cache, ..RuntimeOptions::default() }).expect("valid options")
}

pub(crate) fn in_folder(folder: &Path) -> Runtime {
    runtime(CacheOptions::in_folder(folder))
}

/// Gets [`add`], and checks that it adds.
pub(crate) fn get(runtime: &Runtime, n: u32) -> Result<()> {
    get_with(runtime, n, &CompileOptions::default())
}

pub(crate) fn get_with(runtime: &Runtime, n: u32, options: &CompileOptions) -> Result<()> {
    let request = Request { name: &format!("add {n}"), program: &add(n), options };
    let executable = runtime.get_or_compile(&request)?;
    assert!(is_right(runtime, &executable, n), "add {n} is wrong");
    Ok(())
}

/// Files in a folder with this extension.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    found.sort();
    found
}
