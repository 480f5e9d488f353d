//! One function in three modes: each op at once, fused when the result is read, compiled as a whole.
//! Prints the result and the compiles of each, and what the fused queue did; with a path as its
//! argument also writes that as a trace for Chrome or Perfetto.

use ndarray::Array2;
use rectiflow_hlo::Tensor;
use rectiflow_runtime::{
    CompileOptions, DeviceName, EagerMode, EagerOptions, Read, Runtime, RuntimeOptions,
};

/// A step of gradient flow towards the nearest sign pattern that `w` couples.
fn step(x: &Tensor, w: &Tensor, dt: &Tensor) -> Tensor {
    x + dt * (x.matmul(w).tanh() - x)
}

fn main() -> anyhow::Result<()> {
    let runtime = Runtime::new(&RuntimeOptions::from_env(DeviceName::Cpu)?)?;
    let x0 = Array2::from_shape_fn((2, 8), |(i, j)| ((i * 8 + j) as f32).sin());
    let w0 = Array2::from_shape_fn((8, 8), |(i, j)| ((i * j) as f32).cos());

    for mode in [EagerMode::DeferNever, EagerMode::DeferAndFuse] {
        let queue = runtime.new_queue(&EagerOptions { mode, ..EagerOptions::default() })?;
        let (mut x, w) = (queue.from_ndarray(&x0)?, queue.from_ndarray(&w0)?);
        for i in 0..50 {
            x = step(&x, &w, &queue.scalar(0.5 / (1 + i) as f32)?);
        }
        println!("{mode:?}: {:?}", x.to_ndarray::<f32>()?.sum());
        println!("{} compiles so far\n{}", runtime.stats().compiles, queue.trace());
        if let Some(path) = std::env::args().nth(1) {
            std::fs::write(path, queue.trace().to_chrome_json())?;
        }
    }

    let queue = runtime.queue()?;
    let options = CompileOptions::default();
    let compiled = runtime.jit("step", &options, |p| vec![step(&p[0], &p[1], &p[2])]);
    let (mut x, w) = (queue.from_ndarray(&x0)?, queue.from_ndarray(&w0)?);
    for i in 0..50 {
        let dt = queue.scalar(0.5 / (1 + i) as f32)?;
        x = compiled.call(queue, &[&x, &w, &dt])?.remove(0);
    }
    println!("compiled: {:?}", x.to_ndarray::<f32>()?.sum());
    println!("{} compiles so far", runtime.stats().compiles);
    Ok(())
}
