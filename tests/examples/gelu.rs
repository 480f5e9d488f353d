//! Records `gelu(x @ w + b)`, prints its StableHLO, compiles it, runs it, prints the result.

use rectiflow_hlo::{DType, Graph, Shape};
use rectiflow_pjrt::{ClientOptions, CompileOptions, Plugin, Program};
use xla_build::Platform;

fn main() -> anyhow::Result<()> {
    let graph = Graph::new();
    let x = graph.parameter("x", Shape::new(DType::F32, [2, 3]));
    let w = graph.parameter("w", Shape::new(DType::F32, [3, 2]));
    let b = graph.parameter("b", Shape::new(DType::F32, [2]));
    let module = graph.finish(&[&(x.matmul(&w) + b).gelu()])?;
    println!("{module}");

    let plugin = Plugin::load(xla_build::find_or_install(Platform::Cpu)?)?;
    let client = plugin.client(&ClientOptions::new())?;
    let program = Program::stablehlo(module.to_string());
    let executable = client.compile(&program, &CompileOptions::new())?;
    let x = client.buffer_from_slice(&[1f32, 2.0, 3.0, -1.0, -2.0, -3.0], &[2, 3])?;
    let w = client.buffer_from_slice(&[0.1f32, 0.2, 0.3, 0.4, 0.5, 0.6], &[3, 2])?;
    let b = client.buffer_from_slice(&[0.5f32, -0.5], &[2])?;
    println!("{:?}", executable.execute(&[&x, &w, &b])?[0].to_vec::<f32>()?);
    Ok(())
}
