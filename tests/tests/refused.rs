//! What StableHLO allows and the CPU plugin does not do, or does otherwise: each is asserted, so
//! that a plugin that does it is noticed.

use rectiflow_hlo::{
    ConvDims, Convolution, DType, DotDims, DotOptions, Graph, Module, Shape, Tensor,
};
use rectiflow_pjrt::{CompileOptions, Program};
use rectiflow_tests::{Value, plugin};

/// A program that is refused, its op and dtype, and part of what the plugin says.
type Refused = (&'static str, DType, fn(&Graph, DType) -> Tensor, &'static str);

const REFUSED: &[Refused] = &[
    ("dot_general", DType::I2, product, "unsupported operand type S2 in op dot"),
    ("dot_general", DType::U2, product, "unsupported operand type U2 in op dot"),
    ("dot_general", DType::F4E2M1FN, wide_product, "custom element sizes"),
    ("dot_general", DType::I4, wide_product, "custom element sizes"),
    ("convolution", DType::F4E2M1FN, convolution, "custom element sizes"),
    ("variadic reduce", DType::I2, argmax, "reduce_decomposer"),
    ("variadic reduce", DType::U2, argmax, "reduce_decomposer"),
    ("top_k", DType::I2, top_k_positions, "custom element sizes"),
    ("top_k", DType::I4, top_k_positions, "custom element sizes"),
    ("top_k", DType::U2, top_k_positions, "custom element sizes"),
    ("top_k", DType::U4, top_k_positions, "custom element sizes"),
    ("top_k", DType::F4E2M1FN, top_k_positions, "custom element sizes"),
];

fn matrix(graph: &Graph, dtype: DType) -> Tensor {
    graph.parameter("x", Shape::new(dtype, [3, 3]))
}

fn product(graph: &Graph, dtype: DType) -> Tensor {
    matrix(graph, dtype).matmul(&matrix(graph, dtype))
}

/// To a type of 32 bits.
fn wide_product(graph: &Graph, dtype: DType) -> Tensor {
    let wide = if dtype.is_float() { DType::F32 } else { DType::I32 };
    let dims = DotDims { lhs_contracting: vec![1], rhs_contracting: vec![0], ..DotDims::default() };
    let options = DotOptions { dtype: Some(wide), ..DotOptions::default() };
    matrix(graph, dtype).dot_general(&matrix(graph, dtype), dims, &options)
}

fn convolution(graph: &Graph, dtype: DType) -> Tensor {
    let options = Convolution { dtype: Some(DType::F32), ..Convolution::new(ConvDims::nchw(0)) };
    matrix(graph, dtype).convolution(&matrix(graph, dtype), &options)
}

fn argmax(graph: &Graph, dtype: DType) -> Tensor {
    matrix(graph, dtype).argmax(1)
}

/// The values alone compile, to code that is wrong: see `is_sortable` of the conformance cases.
fn top_k_positions(graph: &Graph, dtype: DType) -> Tensor {
    matrix(graph, dtype).top_k(2).1
}

#[test]
fn what_is_refused_still_is() {
    let client = plugin::cpu_client(1).expect("a client");
    for (op, dtype, record, says) in REFUSED {
        let graph = Graph::new();
        let result = record(&graph, *dtype);
        let module = graph.finish(&[&result]).expect("StableHLO allows it");
        let program = Program::stablehlo(module.to_string());
        let outcome = client.compile(&program, &plugin::options());
        let error = outcome.expect_err("what compiles now can leave the list").to_string();
        assert!(error.contains(says), "{op} of {dtype}: {error}");
    }
}

fn module(record: impl FnOnce(&Graph) -> Tensor) -> Module {
    let graph = Graph::new();
    let result = record(&graph);
    graph.finish(&[&result]).expect("a module")
}

/// Left to itself the plugin folds with a maximum that loses NaN, which StableHLO's keeps. Whoever
/// compiles for it has to set the flag that `plugin::options` sets.
#[test]
fn a_greatest_element_loses_nan_by_default() {
    let program = module(|graph| graph.parameter("x", Shape::new(DType::F32, [3])).max([0]));
    let input = Value::of([3], &[1.0, f32::NAN, 2.0]);
    let greatest = |options: &CompileOptions| {
        let results = plugin::run_on(1, &program, &[vec![input.clone()]], options);
        results.expect("it runs")[0][0].reals()[0]
    };
    assert_eq!(greatest(&CompileOptions::new()), 2.0, "the default keeps NaN now");
    assert!(greatest(&plugin::options()).is_nan());
}

/// The number of a partition means nothing to the partitioner outside manual regions.
#[test]
fn a_partition_id_is_refused_under_partitioning() {
    let client = plugin::cpu_client(4).expect("a client");
    let program = Program::stablehlo(module(Graph::partition_id).to_string());
    let outcome = client.compile(&program, &CompileOptions::new().partitions(4));
    let error = outcome.expect_err("it is refused").to_string();
    assert!(error.contains("PartitionId"), "{error}");
}
