//! The transformer in `f64`, with ndarray.

use ndarray::{Array1, Array2, ArrayD, Axis, Slice, concatenate};

use super::{Block, Config, EPSILON, wide};

/// One step, as [`step`](super::step), in `f64`.
pub fn step(
    config: &Config,
    blocks: &[Block<ArrayD<f32>>],
    x: &ArrayD<f64>,
    t: f64,
    dt: f64,
) -> ArrayD<f64> {
    let x = x.clone().into_dimensionality().expect("a matrix");
    let vec = embed(config, t).mapv(|v| v / (1.0 + (-v).exp()));
    let out = blocks.iter().fold(x.clone(), |x, block| block_forward(config, block, x, &vec));
    (x + dt * out).into_dyn()
}

fn embed(config: &Config, t: f64) -> Array1<f64> {
    let half = config.width as usize / 2;
    let angle = |i: usize| t * (-(1e4f64.ln()) * i as f64 / half as f64).exp();
    let angles: Vec<f64> = (0..half).map(angle).collect();
    angles.iter().map(|a| a.cos()).chain(angles.iter().map(|a| a.sin())).collect()
}

fn block_forward(
    config: &Config,
    block: &Block<ArrayD<f32>>,
    x: Array2<f64>,
    vec: &Array1<f64>,
) -> Array2<f64> {
    let d = config.width as usize;
    let modulation = vec.dot(&wide(&block.modulation));
    let part =
        |i: usize| modulation.slice_axis(Axis(0), Slice::from(i * d..(i + 1) * d)).to_owned();
    let modulated = layer_norm(&x) * (1.0 + part(1)) + part(0);
    let x = &x + part(2) * attention(config, block, &modulated).dot(&wide(&block.out));
    let hidden = (layer_norm(&x) * (1.0 + part(4)) + part(3)).dot(&wide(&block.up)).mapv(gelu_tanh);
    &x + part(5) * hidden.dot(&wide(&block.down))
}

fn gelu_tanh(x: f64) -> f64 {
    0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
}

fn layer_norm(x: &Array2<f64>) -> Array2<f64> {
    let mean = x.mean_axis(Axis(1)).expect("rows").insert_axis(Axis(1));
    let centered = x - &mean;
    let variance = centered.mapv(|v| v * v).mean_axis(Axis(1)).expect("rows");
    centered / (variance + EPSILON).mapv(f64::sqrt).insert_axis(Axis(1))
}

fn rms_norm(x: Array2<f64>, scale: &Array1<f64>) -> Array2<f64> {
    let square = x.mapv(|v| v * v).mean_axis(Axis(1)).expect("rows");
    x / (square + EPSILON).mapv(f64::sqrt).insert_axis(Axis(1)) * scale
}

fn attention(config: &Config, block: &Block<ArrayD<f32>>, x: &Array2<f64>) -> Array2<f64> {
    let (d, heads) = (config.width as usize, config.heads as usize);
    let size = d / heads;
    let (qkv, scales) = (x.dot(&wide(&block.qkv)), wide(&block.qk_norm));
    let head = |h: usize| {
        let part = |i: usize| {
            let start = i * d + h * size;
            qkv.slice_axis(Axis(1), Slice::from(start..start + size)).to_owned()
        };
        let q = rms_norm(part(0), &scales.row(0).to_owned());
        let k = rms_norm(part(1), &scales.row(1).to_owned());
        let mut scores = q.dot(&k.t()) / (size as f64).sqrt();
        for mut row in scores.rows_mut() {
            let most = row.fold(f64::NEG_INFINITY, |most, &v| most.max(v));
            row.mapv_inplace(|v| (v - most).exp());
            let sum = row.sum();
            row /= sum;
        }
        scores.dot(&part(2))
    };
    let outputs: Vec<Array2<f64>> = (0..heads).map(head).collect();
    let views: Vec<_> = outputs.iter().map(Array2::view).collect();
    concatenate(Axis(1), &views).expect("equal rows")
}
