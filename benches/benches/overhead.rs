//! What the safe API costs above the bare C calls: running a compiled 8-element add, and moving
//! 4 kB and 64 MB to the device and back.
//!
//! `cargo bench -p rectiflow-benches --bench overhead`

use std::hint::black_box;

use anyhow::Result;
use criterion::Criterion;
use rectiflow_benches::{Comparison, cpu_client};
use rectiflow_hlo::{DType, Graph, Shape};
use rectiflow_pjrt::{Client, CompileOptions, LoadedExecutable, Program, baseline};

const SIZES: [(&str, usize); 2] = [("4 kB", 4 << 10), ("64 MB", 64 << 20)];

/// `x + y` on 8 elements.
fn add(client: &Client) -> Result<LoadedExecutable> {
    let graph = Graph::new();
    let [x, y] = ["x", "y"].map(|name| graph.parameter(name, Shape::new(DType::F32, [8])));
    let module = graph.finish(&[&x.add(&y)])?;
    Ok(client.compile(&Program::stablehlo(module.to_string()), &CompileOptions::new())?)
}

/// Enough samples for a stable median, fewer where one takes milliseconds.
fn samples(bytes: usize) -> usize {
    if bytes > 1 << 20 { 60 } else { 50_000 }
}

fn compare(client: &Client) -> Result<()> {
    println!("medians, both ways in turn:");
    let executable = add(client)?;
    let x = client.buffer_from_slice(&[1f32; 8], &[8])?;
    let mut bare = baseline::Execute::new(&executable, &[&x, &x])?;
    let ours = || {
        black_box(executable.execute(&[&x, &x])?);
        Ok(())
    };
    Comparison::run(50_000, || Ok(bare.run()?), ours)?.print("execute 8-element add");
    for (name, bytes) in SIZES {
        let host = vec![1f32; bytes / 4];
        let mut bare = baseline::ToDevice::new(client, &host)?;
        let ours = || {
            black_box(client.buffer_from_slice(&host, &[host.len() as i64])?);
            Ok(())
        };
        let comparison = Comparison::run(samples(bytes), || Ok(bare.run()?), ours)?;
        comparison.print(&format!("host to device {name}"));

        let buffer = client.buffer_from_slice(&host, &[host.len() as i64])?;
        let mut memory = vec![0u8; bytes];
        let mut bare = baseline::ToHost::new(&buffer)?;
        let ours = || Ok(buffer.read_into(&mut memory)?);
        let comparison = Comparison::run(samples(bytes), || Ok(bare.run()?), ours)?;
        comparison.print(&format!("device to host {name}"));
    }
    Ok(())
}

/// The same under criterion, for its history and confidence intervals.
fn measure(criterion: &mut Criterion, client: &Client) -> Result<()> {
    let executable = add(client)?;
    let x = client.buffer_from_slice(&[1f32; 8], &[8])?;
    let mut bare = baseline::Execute::new(&executable, &[&x, &x])?;
    let mut group = criterion.benchmark_group("execute");
    group.bench_function("C calls", |b| b.iter(|| bare.run().expect("an execution")));
    group.bench_function("rectiflow", |b| {
        b.iter(|| executable.execute(&[&x, &x]).expect("an execution"));
    });
    group.finish();
    for (name, bytes) in SIZES {
        let host = vec![1f32; bytes / 4];
        let dims = [host.len() as i64];
        let buffer = client.buffer_from_slice(&host, &dims)?;
        let mut memory = vec![0u8; bytes];
        let mut to_device = baseline::ToDevice::new(client, &host)?;
        let mut to_host = baseline::ToHost::new(&buffer)?;
        let mut group = criterion.benchmark_group(format!("transfer {name}"));
        group.sample_size(if bytes > 1 << 20 { 10 } else { 100 });
        group.bench_function("to device, C calls", |b| b.iter(|| to_device.run().expect("a copy")));
        group.bench_function("to device, rectiflow", |b| {
            b.iter(|| client.buffer_from_slice(&host, &dims).expect("a copy"));
        });
        group.bench_function("to host, C calls", |b| b.iter(|| to_host.run().expect("a copy")));
        group.bench_function("to host, rectiflow", |b| {
            b.iter(|| buffer.read_into(&mut memory).expect("a copy"));
        });
        group.finish();
    }
    Ok(())
}

fn main() -> Result<()> {
    let client = cpu_client()?;
    compare(&client)?;
    let mut criterion = Criterion::default().configure_from_args();
    measure(&mut criterion, &client)?;
    criterion.final_summary();
    Ok(())
}
