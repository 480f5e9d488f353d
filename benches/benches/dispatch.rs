//! What one eager op costs above the bare execution of its program.
//!
//! `cargo bench -p rectiflow-benches --bench dispatch`

use std::hint::black_box;

use anyhow::Result;
use rectiflow_benches::Comparison;
use rectiflow_pjrt::baseline;
use rectiflow_runtime::{Read, Runtime, RuntimeOptions};

const SAMPLES: usize = 50_000;

fn main() -> Result<()> {
    let runtime = Runtime::new(&RuntimeOptions::default())?;
    let queue = runtime.queue()?;
    let x = queue.from_slice(&[1f32; 8], &[8])?;
    let y = x.add(&x);
    y.wait()?;
    let program =
        rectiflow_runtime::Traced::new("add", &[x.shape().clone(), x.shape().clone()], |p| {
            vec![p[0].add(&p[1])]
        })?;
    let add = program.lower().compile(&runtime, &Default::default())?;
    let buffer = x.buffer()?;
    let mut bare = baseline::Execute::new(add.executable(), &[&buffer, &buffer])?;
    let ours = || {
        black_box(x.add(&x));
        Ok(())
    };
    Comparison::run(SAMPLES, || Ok(bare.run()?), ours)?.print("eager 8-element add");
    Ok(())
}
