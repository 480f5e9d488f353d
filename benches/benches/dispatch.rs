//! What an eager op of 8 elements costs above the bare execution of its program: launched at once,
//! and recorded to be fused.
//!
//! `cargo bench -p rectiflow-benches --bench dispatch`; `jax_dispatch.py` beside it times the same
//! op in JAX.

use std::hint::black_box;

use anyhow::Result;
use rectiflow_benches::Comparison;
use rectiflow_pjrt::baseline;
use rectiflow_runtime::{
    CompileOptions, EagerMode, EagerOptions, Read, Runtime, RuntimeOptions, Traced,
};

const SAMPLES: usize = 50_000;

fn main() -> Result<()> {
    let runtime = Runtime::new(&RuntimeOptions::default())?;
    let queue = runtime.queue()?;
    let x = queue.from_slice(&[1f32; 8], &[8])?;
    let shapes = [x.shape().clone(), x.shape().clone()];
    let traced = Traced::new("add", &shapes, |p| vec![p[0].add(&p[1])])?;
    let add = traced.lower().compile(&runtime, &CompileOptions::default())?;
    let y = queue.from_slice(&[2f32; 8], &[8])?;
    let (a, b) = (x.buffer()?, y.buffer()?);
    let bare = || anyhow::Ok(baseline::Execute::new(add.executable(), &[&a, &b])?);

    let mut execute = bare()?;
    let eager = || {
        black_box(x.add(&y));
        Ok(())
    };
    Comparison::run(SAMPLES, || Ok(execute.run()?), eager)?.print("eager add");
    let mut execute = bare()?;
    let scaled = || {
        black_box(&x * 0.5);
        Ok(())
    };
    Comparison::run(SAMPLES, || Ok(execute.run()?), scaled)?.print("eager multiply by a number");
    let mut execute = bare()?;
    let called = || {
        black_box(add.call(queue, &[&x, &y])?);
        Ok(())
    };
    Comparison::run(SAMPLES, || Ok(execute.run()?), called)?.print("call of a compiled add");

    let options = EagerOptions { mode: EagerMode::DeferAndFuse, ..EagerOptions::default() };
    let fusing = runtime.new_queue(&options)?;
    let mut z = fusing.from_slice(&[1f32; 8], &[8])?;
    let mut execute = bare()?;
    let recorded = || {
        z = z.add(&z);
        Ok(())
    };
    Comparison::run(SAMPLES, || Ok(execute.run()?), recorded)?.print("recorded add");
    println!("{}", fusing.trace());
    Ok(())
}
