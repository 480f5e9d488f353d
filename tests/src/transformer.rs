//! A diffusion transformer of two blocks, written once against `rectiflow-hlo`, and the same in
//! `f64` on the host.
//!
//! The block is that of DiT with adaLN-Zero (Peebles and Xie, arXiv:2212.09748), with RMS norm of
//! queries and keys as FLUX.1 has it.

mod reference;

use ndarray::{ArrayD, Axis, IxDyn};
use rectiflow_hlo::{Shape, Tensor};

pub use reference::step as reference_step;

/// Width, heads and blocks.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// Width of the residual stream.
    pub width: i64,
    /// Attention heads.
    pub heads: i64,
    /// Blocks.
    pub depth: usize,
}

/// Two blocks, small enough for `f64` on the host.
pub const SMALL: Config = Config { width: 24, heads: 3, depth: 2 };

const EPSILON: f64 = 1e-6;

/// Weights of one block.
#[derive(Debug, Clone)]
pub struct Block<T> {
    /// Modulation, `[width, 6 width]`.
    pub modulation: T,
    /// Queries, keys and values, `[width, 3 width]`.
    pub qkv: T,
    /// Scale of normalised queries, then of keys, `[2, width / heads]`.
    pub qk_norm: T,
    /// Output projection, `[width, width]`.
    pub out: T,
    /// First layer of the MLP, `[width, 4 width]`.
    pub up: T,
    /// Second layer of the MLP, `[4 width, width]`.
    pub down: T,
}

impl<T> Block<T> {
    /// The weights in a fixed order.
    pub fn weights(&self) -> [&T; 6] {
        let Block { modulation, qkv, qk_norm, out, up, down } = self;
        [modulation, qkv, qk_norm, out, up, down]
    }

    /// A block of weights in that order.
    pub fn from_weights(weights: &[T]) -> Block<T>
    where
        T: Clone,
    {
        let [modulation, qkv, qk_norm, out, up, down] = weights else {
            panic!("expected 6 weights, found {}", weights.len())
        };
        let [modulation, qkv, qk_norm, out, up, down] =
            [modulation, qkv, qk_norm, out, up, down].map(T::clone);
        Block { modulation, qkv, qk_norm, out, up, down }
    }
}

impl Config {
    /// Dims of a block's weights.
    pub fn weight_dims(&self) -> [Vec<i64>; 6] {
        let d = self.width;
        [
            vec![d, 6 * d],
            vec![d, 3 * d],
            vec![2, d / self.heads],
            vec![d, d],
            vec![d, 4 * d],
            vec![4 * d, d],
        ]
    }

    /// Weights from a fixed sequence, scaled so that activations stay near 1.
    pub fn weights(&self) -> Vec<Block<ArrayD<f32>>> {
        let mut state = 1u64;
        let mut weight = |dims: &Vec<i64>| {
            let dims: Vec<usize> = dims.iter().map(|&dim| dim as usize).collect();
            let scale = 1.0 / (dims[0] as f32).sqrt();
            ArrayD::from_shape_simple_fn(IxDyn(&dims), || scale * noise(&mut state))
        };
        let block = |_| Block::from_weights(&self.weight_dims().each_ref().map(&mut weight));
        (0..self.depth).map(block).collect()
    }

    /// An input of `tokens` tokens from a fixed sequence.
    pub fn input(&self, tokens: usize) -> ArrayD<f32> {
        let mut state = 7;
        let dims = IxDyn(&[tokens, self.width as usize]);
        ArrayD::from_shape_simple_fn(dims, || noise(&mut state))
    }
}

/// The next number from -1 to 1 of a linear congruential generator (Knuth's MMIX).
fn noise(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// One step of a sampler: `x + dt * model(x, t)`, for `x` of `[tokens, width]` and scalars `t` and
/// `dt`.
#[track_caller]
pub fn step(
    config: &Config,
    blocks: &[Block<Tensor>],
    x: &Tensor,
    t: &Tensor,
    dt: &Tensor,
) -> Tensor {
    x + dt * model(config, blocks, x, t)
}

#[track_caller]
fn model(config: &Config, blocks: &[Block<Tensor>], x: &Tensor, t: &Tensor) -> Tensor {
    let vec = embed(config, t).silu();
    blocks.iter().fold(x.clone(), |x, block| block_forward(config, block, &x, &vec))
}

/// Sinusoids of the time, `[width]`.
#[track_caller]
fn embed(config: &Config, t: &Tensor) -> Tensor {
    let half = config.width / 2;
    let steps = t.graph().iota(Shape::new(t.dtype(), [half]), 0);
    let angles = t * (steps * (-(1e4f64.ln()) / half as f64)).exponential();
    t.graph().concatenate(&[&angles.cosine(), &angles.sine()], 0)
}

#[track_caller]
fn block_forward(config: &Config, block: &Block<Tensor>, x: &Tensor, vec: &Tensor) -> Tensor {
    let d = config.width;
    let modulation = vec.matmul(&block.modulation);
    let part = |i: i64| modulation.slice_dim(0, i * d, (i + 1) * d);
    let [shift1, scale1, gate1, shift2, scale2, gate2] = [0, 1, 2, 3, 4, 5].map(part);
    let attended = attention(config, block, &(layer_norm(x) * (1.0 + scale1) + shift1));
    let x = x + gate1 * attended.matmul(&block.out);
    let hidden = (layer_norm(&x) * (1.0 + scale2) + shift2).matmul(&block.up).gelu_tanh();
    &x + gate2 * hidden.matmul(&block.down)
}

#[track_caller]
fn layer_norm(x: &Tensor) -> Tensor {
    let centered = x - x.mean([1]).expand(1);
    let variance = (&centered * &centered).mean([1]).expand(1);
    centered * (variance + EPSILON).rsqrt()
}

#[track_caller]
fn rms_norm(x: &Tensor, scale: &Tensor) -> Tensor {
    x * ((x * x).mean([2]).expand(2) + EPSILON).rsqrt() * scale
}

#[track_caller]
fn attention(config: &Config, block: &Block<Tensor>, x: &Tensor) -> Tensor {
    let (n, d, heads) = (x.dims()[0], config.width, config.heads);
    let qkv = x.matmul(&block.qkv);
    let part = |i: i64| {
        qkv.slice_dim(1, i * d, (i + 1) * d).reshape([n, heads, d / heads]).transpose([1, 0, 2])
    };
    let scale = |i: i64| block.qk_norm.slice_dim(0, i, i + 1);
    let (q, k, v) = (rms_norm(&part(0), &scale(0)), rms_norm(&part(1), &scale(1)), part(2));
    let scores = q.matmul(&k.transpose([0, 2, 1])) * (1.0 / ((d / heads) as f64).sqrt());
    scores.softmax(2).matmul(&v).transpose([1, 0, 2]).reshape([n, d])
}

/// The greatest difference between two arrays of equal dims, over the greatest element.
pub fn relative_error(found: &ArrayD<f32>, expected: &ArrayD<f64>) -> f64 {
    assert_eq!(found.shape(), expected.shape());
    let largest = expected.iter().fold(0f64, |most, x| most.max(x.abs()));
    let pairs = found.iter().zip(expected);
    pairs.fold(0f64, |most, (a, b)| most.max((f64::from(*a) - b).abs())) / largest
}

/// Rows of a matrix as `f64`.
fn wide(array: &ArrayD<f32>) -> ndarray::Array2<f64> {
    let rows = array.len_of(Axis(0));
    let wide = array.mapv(f64::from);
    wide.into_shape_with_order((rows, array.len() / rows)).expect("a matrix")
}
