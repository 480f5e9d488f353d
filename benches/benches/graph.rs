//! Recording and printing a graph, per op.
//!
//! `cargo bench -p rectiflow-benches --bench graph`

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use rectiflow_hlo::{DType, Graph, Module, Shape};

const N_OPS: u64 = 1000;

/// A chain of sums, products and reshapes.
fn record() -> Module {
    let graph = Graph::new();
    let mut x = graph.parameter("x", Shape::new(DType::F32, [16, 16]));
    let y = graph.parameter("y", Shape::new(DType::F32, [16, 16]));
    for i in 0..N_OPS {
        x = match i % 4 {
            0 => x.add(&y),
            1 => x.multiply(&y),
            2 => x.transpose([1, 0]),
            _ => x.tanh(),
        };
    }
    graph.finish(&[&x]).expect("a valid graph")
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let module = record();
    let mut group = criterion.benchmark_group("graph of 1000 ops");
    // Criterion then prints elements, which are ops, per second.
    group.throughput(Throughput::Elements(N_OPS));
    group.bench_function("record and verify", |b| b.iter(|| black_box(record())));
    group.bench_function("print", |b| b.iter(|| black_box(module.to_string())));
    group.finish();
    criterion.final_summary();
}
