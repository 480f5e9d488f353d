//! A step of a two-block transformer in each mode, and a start with its programs on disk against
//! one that compiles them.
//!
//! `cargo bench -p rectiflow-benches --bench modes`

use anyhow::Result;
use rectiflow_benches::Comparison;
use rectiflow_hlo::{DType, Shape, Tensor};
use rectiflow_pjrt::Program;
use rectiflow_runtime::{
    Array, Cache, CacheOptions, CompileOptions, EagerMode, EagerOptions, Queue, Read, Request,
    Runtime, RuntimeOptions, Traced,
};
use rectiflow_tests::transformer::{Block, Config, step};

const CONFIG: Config = Config { width: 256, heads: 4, depth: 2 };
const TOKENS: usize = 64;

/// The model on a queue, with one input.
struct Model {
    queue: Queue,
    blocks: Vec<Block<Array>>,
    x: Array,
}

impl Model {
    fn new(runtime: &Runtime, mode: EagerMode) -> Result<Model> {
        let queue = runtime.new_queue(&EagerOptions { mode, ..EagerOptions::default() })?;
        let mut blocks = Vec::new();
        for block in CONFIG.weights() {
            let weights: Result<Vec<Array>, _> =
                block.weights().into_iter().map(|weight| queue.from_ndarray(weight)).collect();
            blocks.push(Block::from_weights(&weights?));
        }
        let x = queue.from_ndarray(&CONFIG.input(TOKENS))?;
        Ok(Model { queue, blocks, x })
    }

    fn step(&self, t: f32) -> Result<()> {
        let [t, dt] = [self.queue.scalar(t)?, self.queue.scalar(-0.1f32)?];
        Ok(step(&CONFIG, &self.blocks, &self.x, &t, &dt).wait()?)
    }
}

fn traced() -> Result<Traced> {
    let shape = |dims: Vec<i64>| Shape::new(DType::F32, dims);
    let mut shapes = vec![shape(vec![TOKENS as i64, CONFIG.width]), shape(vec![]), shape(vec![])];
    let weights = (0..CONFIG.depth).flat_map(|_| CONFIG.weight_dims()).map(shape);
    shapes.extend(weights);
    Ok(Traced::new("step", &shapes, |p| {
        let blocks: Vec<Block<Tensor>> = p[3..].chunks(6).map(Block::from_weights).collect();
        vec![step(&CONFIG, &blocks, &p[0], &p[1], &p[2])]
    })?)
}

fn compare_modes(runtime: &Runtime) -> Result<()> {
    let [never, fused] =
        [EagerMode::DeferNever, EagerMode::DeferAndFuse].map(|mode| Model::new(runtime, mode));
    let (never, fused) = (never?, fused?);
    for model in [&never, &fused] {
        (0..3).try_for_each(|_| model.step(1.0))?;
    }
    let mut t = 0.0;
    let comparison = Comparison::run(
        200,
        || never.step(500.0),
        || {
            t += 1.0;
            fused.step(t)
        },
    )?;
    comparison.print_as("a step of two blocks", "DeferNever", "DeferAndFuse");
    let compiled = traced()?.lower().compile(runtime, &CompileOptions::default())?;
    let [t, dt] = [never.queue.scalar(500f32)?, never.queue.scalar(-0.1f32)?];
    let mut args = vec![&never.x, &t, &dt];
    args.extend(never.blocks.iter().flat_map(Block::weights));
    let call = || Ok(compiled.call(&never.queue, &args)?[0].wait()?);
    let comparison = Comparison::run(200, || never.step(500.0), call)?;
    comparison.print_as("a step of two blocks", "DeferNever", "compiled");
    Ok(())
}

/// One program of the step, from an empty folder and from one that has it.
fn compare_starts(runtime: &Runtime) -> Result<()> {
    let program = Program::stablehlo(traced()?.module().to_string());
    let options = CompileOptions::default();
    let request = Request { name: "step", program: &program, options: &options };
    let client = runtime.client()?;
    let full = tempfile::tempdir()?;
    let get = |folder: &std::path::Path| -> Result<()> {
        let cache = Cache::new(client, &CacheOptions::in_folder(folder))?;
        cache.get_or_compile(&request)?;
        Ok(())
    };
    get(full.path())?;
    let cold = || {
        let empty = tempfile::tempdir()?;
        // The note of the plugin's digest stays: only the executable is missing.
        get(empty.path())
    };
    Comparison::run(10, cold, || get(full.path()))?.print_as("start", "cold", "from disk");
    Ok(())
}

fn main() -> Result<()> {
    let runtime = Runtime::new(&RuntimeOptions::default())?;
    compare_modes(&runtime)?;
    compare_starts(&runtime)
}
