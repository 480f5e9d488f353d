//! `gelu(x @ up) @ down` on 4 CPU devices: `up` split by columns, `down` by rows, one all-reduce.
//! Prints the greatest difference from the same program on one device.

use anyhow::Result;
use ndarray::{Array2, Axis};
use rectiflow_hlo::{DType, Graph, Mesh, Module, Shape, Sharding, Tensor};
use rectiflow_pjrt::{
    Buffer, Client, ClientOptions, CompileOptions, Device, ExecuteOptions, Plugin, Program,
};
use rectiflow_tests::opcodes::opcodes;
use xla_build::Platform;

const N_DEVICES: usize = 4;

fn mlp(graph: &Graph) -> (Tensor, Tensor, Tensor) {
    let x = graph.parameter("x", Shape::new(DType::F32, [8, 64]));
    let up = graph.parameter("up", Shape::new(DType::F32, [64, 256]));
    let down = graph.parameter("down", Shape::new(DType::F32, [256, 64]));
    let y = x.matmul(&up).gelu().matmul(&down);
    (up, down, y)
}

fn sharded() -> Result<Module> {
    let graph = Graph::new();
    let mesh = Mesh::new("mesh", [("model", N_DEVICES as i64)]);
    graph.mesh(&mesh);
    let (up, down, y) = mlp(&graph);
    graph.shard_parameter(&up, Sharding::new(&mesh, [&[][..], &["model"]]));
    graph.shard_parameter(&down, Sharding::new(&mesh, [&["model"][..], &[]]));
    graph.shard_result(0, Sharding::replicated(&mesh, 2));
    Ok(graph.finish(&[&y])?)
}

fn whole() -> Result<Module> {
    let graph = Graph::new();
    let (_, _, y) = mlp(&graph);
    Ok(graph.finish(&[&y])?)
}

fn upload(client: &Client, array: &Array2<f32>, device: &Device) -> Result<Buffer> {
    let (rows, columns) = array.dim();
    let bytes: Vec<u8> = array.iter().flat_map(|x| x.to_le_bytes()).collect();
    let ty = rectiflow_pjrt::ElementType::F32;
    Ok(client.buffer_from_bytes(&bytes, ty, &[rows as i64, columns as i64], device)?)
}

/// Numbers between -1 and 1.
fn filled(rows: usize, columns: usize, step: f32) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * columns + j) as f32 * step).sin())
}

fn main() -> Result<()> {
    let plugin = Plugin::load(xla_build::find_or_install(Platform::Cpu)?)?;
    let client = plugin.client(&ClientOptions::new().cpu_device_count(N_DEVICES as i64))?;
    let devices = client.addressable_devices()?;
    let (x, up, down) = (filled(8, 64, 0.7), filled(64, 256, 1.3), filled(256, 64, 2.1));

    let module = sharded()?;
    println!("{module}");
    let options = CompileOptions::new().partitions(N_DEVICES);
    let executable = client.compile(&Program::stablehlo(module.to_string()), &options)?;
    let optimized = executable.executable().optimized_program()?;
    let reduces = opcodes(&optimized)?.iter().filter(|op| op.starts_with("all-reduce")).count();
    println!("all-reduces in the compiled program: {reduces}");

    // Each device gets its own columns of `up` and its own rows of `down`.
    let width = 256 / N_DEVICES;
    let mut arguments = Vec::new();
    for (i, device) in devices.iter().enumerate() {
        let own = ndarray::Slice::from(i * width..(i + 1) * width);
        let up = up.slice_axis(Axis(1), own).to_owned();
        let down = down.slice_axis(Axis(0), own).to_owned();
        arguments.push([&x, &up, &down].map(|array| upload(&client, array, device)));
    }
    let arguments = arguments.into_iter().map(|row| row.into_iter().collect());
    let arguments = arguments.collect::<Result<Vec<Vec<Buffer>>>>()?;
    let borrowed: Vec<Vec<&Buffer>> = arguments.iter().map(|row| row.iter().collect()).collect();
    let rows: Vec<&[&Buffer]> = borrowed.iter().map(Vec::as_slice).collect();
    let results = executable.execute_sharded(&rows, &ExecuteOptions::new())?;

    let program = Program::stablehlo(whole()?.to_string());
    let executable = client.compile(&program, &CompileOptions::new())?;
    let whole = [&x, &up, &down].map(|array| upload(&client, array, &devices[0]));
    let whole = whole.into_iter().collect::<Result<Vec<Buffer>>>()?;
    let expected = executable.execute(&whole.iter().collect::<Vec<_>>())?[0].to_vec::<f32>()?;
    for (device, result) in devices.iter().zip(&results) {
        let got = result[0].to_vec::<f32>()?;
        let difference = got.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!("{device:?}: greatest difference from the whole program {difference:e}");
    }
    Ok(())
}
