//! From a recorded graph to numbers, through the real plugins.

use anyhow::Result;
use rectiflow_hlo::{DType, Graph, Mesh, Module, Shape, Sharding};
use rectiflow_pjrt::{CompileOptions, Plugin, Program};
use rectiflow_tests::{Bound, Value, difference, opcodes::opcodes, plugin};
use xla_build::Platform;

const N_DEVICES: i64 = 4;
const ROWS: i64 = 8;
const WIDTH: i64 = 64;
const HIDDEN: i64 = 256;

/// `gelu(x @ up) @ down`, the weights split over 4 devices if `sharded`: the first by columns, the
/// second by rows, so that one sum over the devices is all they must exchange.
fn mlp(sharded: bool) -> Result<Module> {
    let graph = Graph::new();
    let x = graph.parameter("x", Shape::new(DType::F32, [ROWS, WIDTH]));
    let up = graph.parameter("up", Shape::new(DType::F32, [WIDTH, HIDDEN]));
    let down = graph.parameter("down", Shape::new(DType::F32, [HIDDEN, WIDTH]));
    let y = x.matmul(&up).gelu().matmul(&down);
    if sharded {
        let mesh = Mesh::new("mesh", [("model", N_DEVICES)]);
        graph.mesh(&mesh);
        graph.shard_parameter(&up, Sharding::new(&mesh, [&[][..], &["model"]]));
        graph.shard_parameter(&down, Sharding::new(&mesh, [&["model"][..], &[]]));
        graph.shard_result(0, Sharding::replicated(&mesh, 2));
    }
    Ok(graph.finish(&[&y])?)
}

/// Numbers between -1 and 1.
fn waves(n: i64, step: f32) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * step).sin()).collect()
}

struct Weights {
    x: Vec<f32>,
    up: Vec<f32>,
    down: Vec<f32>,
}

impl Weights {
    fn new() -> Weights {
        let down = waves(HIDDEN * WIDTH, 2.1);
        Weights { x: waves(ROWS * WIDTH, 0.7), up: waves(WIDTH * HIDDEN, 1.3), down }
    }

    /// Arguments of device number `i`: `x`, its columns of `up`, its rows of `down`.
    fn part(&self, i: i64) -> Vec<Value> {
        let width = HIDDEN / N_DEVICES;
        let columns = (0..WIDTH).flat_map(|row| {
            let start = (row * HIDDEN + i * width) as usize;
            self.up[start..start + width as usize].to_vec()
        });
        let rows = (i * width * WIDTH) as usize..((i + 1) * width * WIDTH) as usize;
        vec![
            Value::of([ROWS, WIDTH], &self.x),
            Value::of([WIDTH, width], &columns.collect::<Vec<_>>()),
            Value::of([width, WIDTH], &self.down[rows]),
        ]
    }

    fn whole(&self) -> Vec<Value> {
        vec![
            Value::of([ROWS, WIDTH], &self.x),
            Value::of([WIDTH, HIDDEN], &self.up),
            Value::of([HIDDEN, WIDTH], &self.down),
        ]
    }

    /// The MLP in `f64`.
    fn expected(&self) -> Value {
        let hidden = product(&self.x, &self.up, [ROWS, WIDTH, HIDDEN]);
        let gelu = |x: f64| 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2));
        let hidden: Vec<f64> = hidden.into_iter().map(gelu).collect();
        let y = product(&hidden, &self.down, [ROWS, HIDDEN, WIDTH]);
        Value::from_reals(Shape::new(DType::F32, [ROWS, WIDTH]), &y)
    }
}

/// `a @ b` for `[n, k]` and `[k, m]`, in `f64`.
fn product<T: Copy + Into<f64>>(a: &[T], b: &[f32], [n, k, m]: [i64; 3]) -> Vec<f64> {
    let at = |i: i64, j: i64| -> f64 {
        (0..k).map(|l| a[(i * k + l) as usize].into() * f64::from(b[(l * m + j) as usize])).sum()
    };
    (0..n * m).map(|ij| at(ij / m, ij % m)).collect()
}

/// f32 sums of 256 products of numbers below 1 in size: 1e-5 is some 80 units in the last place of
/// 1, far below any wrong term.
const BOUND: Bound = Bound::Close(1e-5);

#[test]
fn tensor_parallel_mlp_equals_the_whole() -> Result<()> {
    let weights = Weights::new();
    let whole = plugin::run(&mlp(false)?, &weights.whole())?;
    assert_eq!(difference(&whole, &[weights.expected()], BOUND), None);

    let arguments: Vec<Vec<Value>> = (0..N_DEVICES).map(|i| weights.part(i)).collect();
    let options = CompileOptions::new().partitions(N_DEVICES as usize);
    let results = plugin::run_on(N_DEVICES as usize, &mlp(true)?, &arguments, &options)?;
    assert_eq!(results.len(), N_DEVICES as usize);
    for result in &results {
        assert_eq!(difference(result, &[weights.expected()], BOUND), None);
        assert_eq!(difference(result, &whole, BOUND), None);
    }
    Ok(())
}

#[test]
fn tensor_parallel_mlp_has_one_all_reduce() -> Result<()> {
    let client = plugin::cpu_client(N_DEVICES as usize)?;
    let options = CompileOptions::new().partitions(N_DEVICES as usize);
    let executable = client.compile(&Program::stablehlo(mlp(true)?.to_string()), &options)?;
    let opcodes = opcodes(&executable.executable().optimized_program()?)?;
    let exchanges =
        ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"];
    let exchanging: Vec<_> = opcodes.iter().filter(|op| exchanges.contains(&op.as_str())).collect();
    assert_eq!(exchanging, ["all-reduce"]);
    Ok(())
}

/// The text that ran above, for 4 TPUs, without a TPU. libtpu must find its settings in the
/// environment when it is loaded, so the test runs itself again in a process that has them.
#[test]
fn the_same_text_compiles_for_tpu() -> Result<()> {
    let Some(found) = xla_build::find(Platform::Tpu)? else {
        println!("skipped: libtpu is not installed; run `cargo run -p xla-build -- install tpu`");
        return Ok(());
    };
    if plugin::COMPILE_ONLY.iter().any(|name| std::env::var_os(name).is_none()) {
        return plugin::again_for_tpu("the_same_text_compiles_for_tpu", "compiled for v6e:2x2");
    }
    let plugin = Plugin::load(&found.path)?;
    let topology = plugin.topology("v6e:2x2", &[])?;
    let options = CompileOptions::new().partitions(N_DEVICES as usize);
    let program = Program::stablehlo(mlp(true)?.to_string());
    let executable = plugin.compile(&program, &topology, &options)?;
    let shapes = executable.output_shapes()?;
    assert_eq!(shapes[0].dims(), [ROWS, WIDTH]);
    assert_eq!(executable.n_partitions()?, N_DEVICES as usize);
    println!("compiled for v6e:2x2: {} bytes of code, {shapes:?}", executable.code_bytes()?);
    Ok(())
}
