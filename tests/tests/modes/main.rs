//! One model source in every mode: equal numbers, and no needless compile.

mod counters;
mod values;

use ndarray::ArrayD;
use rectiflow_hlo::{DType, Shape, Tensor};
use rectiflow_runtime::{
    Array, CompileOptions, EagerMode, EagerOptions, Jit, Queue, Read, Runtime, RuntimeOptions,
};
use rectiflow_tests::transformer::{Block, SMALL, step};

/// How the model is run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Eager(EagerMode),
    Compiled,
}

const MODES: [Mode; 4] = [
    Mode::Eager(EagerMode::DeferNever),
    Mode::Eager(EagerMode::DeferNeverAndLaunchBlocking),
    Mode::Eager(EagerMode::DeferAndFuse),
    Mode::Compiled,
];

/// What is compiled as a whole.
type Function = fn(&[Tensor]) -> Vec<Tensor>;

/// A sampler over the small transformer, in one of the modes.
struct Sampler {
    runtime: Runtime,
    queue: Queue,
    blocks: Vec<Block<Array>>,
    compiled: Option<Jit<Function>>,
}

impl Sampler {
    fn new(mode: Mode, options: &RuntimeOptions) -> Sampler {
        let eager = match mode {
            Mode::Eager(mode) => EagerOptions { mode, ..EagerOptions::default() },
            Mode::Compiled => EagerOptions::default(),
        };
        let runtime = Runtime::new(&RuntimeOptions { eager, ..options.clone() }).unwrap();
        let queue = runtime.queue().unwrap().clone();
        let upload = |block: Block<ArrayD<f32>>| {
            let weights = block.weights().map(|weight| queue.from_ndarray(weight).unwrap());
            Block::from_weights(&weights)
        };
        let blocks = SMALL.weights().into_iter().map(upload).collect();
        let traced: Function = traced_step;
        let compiled = (mode == Mode::Compiled)
            .then(|| runtime.jit("step", &CompileOptions::default(), traced));
        Sampler { runtime, queue, blocks, compiled }
    }

    fn step(&self, x: &Array, t: f32, dt: f32) -> Array {
        let [t, dt] = [t, dt].map(|scalar| self.queue.scalar(scalar).unwrap());
        match &self.compiled {
            None => step(&SMALL, &self.blocks, x, &t, &dt),
            Some(compiled) => {
                let mut args = vec![x, &t, &dt];
                args.extend(self.blocks.iter().flat_map(Block::weights));
                compiled.call(&self.queue, &args).unwrap().swap_remove(0)
            }
        }
    }

    /// Runs `n` steps of a schedule that no other number of steps has, and reads the result.
    fn sample(&self, tokens: usize, n: usize) -> ArrayD<f32> {
        let mut x = self.queue.from_ndarray(&SMALL.input(tokens)).unwrap();
        for [t, dt] in schedule(n) {
            x = self.step(&x, t, dt);
        }
        x.to_ndarray().unwrap()
    }

    fn read_step(&self, x: &Array) -> ArrayD<f32> {
        self.step(x, 500.0, -0.5).to_ndarray().unwrap()
    }

    fn compiles(&self) -> u64 {
        self.runtime.stats().compiles
    }
}

/// The step over its input, the two scalars and the weights of all blocks.
fn traced_step(p: &[Tensor]) -> Vec<Tensor> {
    let blocks: Vec<Block<Tensor>> = p[3..].chunks(6).map(Block::from_weights).collect();
    vec![step(&SMALL, &blocks, &p[0], &p[1], &p[2])]
}

/// Times from 1 to 0 and the differences to the next.
fn schedule(n: usize) -> impl Iterator<Item = [f32; 2]> {
    let t = move |i: usize| 1.0 - i as f32 / n as f32;
    (0..n).map(move |i| [1000.0 * t(i), t(i + 1) - t(i)])
}

/// Shapes of the step's parameters.
fn parameters(tokens: i64) -> Vec<Shape> {
    let shape = |dims: Vec<i64>| Shape::new(DType::F32, dims);
    let weights = (0..SMALL.depth).flat_map(|_| SMALL.weight_dims()).map(shape);
    [shape(vec![tokens, SMALL.width]), shape(vec![]), shape(vec![])]
        .into_iter()
        .chain(weights)
        .collect()
}
