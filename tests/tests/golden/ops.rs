//! Programs of the ops that have attributes, regions or lists of operands.

use rectiflow_hlo::{
    Channel, ConvDims, Convolution, CustomCall, DType, Dictionary, Direction, DotAlgorithm,
    DotDims, DotOptions, GatherDims, Graph, Literal, Mesh, Precision, RngAlgorithm, ScatterDims,
    Shape, Sharding, Tensor, Value, Window,
};

use crate::{Program, parameter};

pub(crate) const PROGRAMS: &[Program] = &[
    ("complex", |g| vec![f32s(g, &[2]).complex(&f32s(g, &[2]))]),
    ("compare", |g| vec![f32s(g, &[2, 3]).compare(&f32s(g, &[2, 3]), Direction::Lt, None)]),
    ("clamp", |g| vec![f32s(g, &[2, 3]).clamp(&f32s(g, &[]), &f32s(g, &[]))]),
    ("convert", |g| vec![f32s(g, &[2, 3]).convert(DType::BF16)]),
    ("bitcast_convert", |g| vec![f32s(g, &[2, 3]).bitcast_convert(DType::U8)]),
    ("reduce_precision", |g| vec![f32s(g, &[2, 3]).reduce_precision(5, 10)]),
    ("constant", constant),
    ("iota", |g| vec![g.iota(Shape::new(DType::I32, [2, 3]), 1)]),
    ("broadcast_in_dim", |g| vec![f32s(g, &[3, 1]).broadcast_in_dim([0, 2], [3, 4, 5])]),
    ("reshape", |g| vec![f32s(g, &[2, 3]).reshape([3, 2])]),
    ("transpose", |g| vec![f32s(g, &[2, 3, 4]).transpose([2, 0, 1])]),
    ("concatenate", |g| vec![g.concatenate(&[&f32s(g, &[2, 3]), &f32s(g, &[2, 1])], 1)]),
    ("slice", |g| vec![f32s(g, &[8, 3]).slice([1, 0], [7, 3], [2, 1])]),
    ("dynamic_slice", |g| {
        vec![f32s(g, &[8, 3]).dynamic_slice(&[&i32s(g, &[]), &i32s(g, &[])], [2, 3])]
    }),
    ("dynamic_update_slice", |g| {
        let starts = [i32s(g, &[]), i32s(g, &[])];
        vec![f32s(g, &[8, 3]).dynamic_update_slice(&f32s(g, &[2, 3]), &[&starts[0], &starts[1]])]
    }),
    ("pad", |g| vec![f32s(g, &[2, 3]).pad(&f32s(g, &[]), [1, -1], [0, 2], [0, 1])]),
    ("reverse", |g| vec![f32s(g, &[2, 3]).reverse([1])]),
    ("gather", gather),
    ("scatter", scatter),
    ("reduce", |g| vec![f32s(g, &[2, 3]).reduce(&f32s(g, &[]), [1], |a, b| a.add(b))]),
    ("reduce_window", reduce_window),
    ("sort", |g| g.sort(&[&f32s(g, &[2, 3]), &i32s(g, &[2, 3])], 1, true, |a, b| a[0].lt(&b[0]))),
    ("top_k", |g| {
        let (values, positions) = f32s(g, &[2, 8]).top_k(3);
        vec![values, positions]
    }),
    ("dot_general", dot_general),
    ("convolution", convolution),
    ("while", |g| {
        let (count, step) = (i32s(g, &[]), i32s(g, &[]));
        g.while_loop(&[&g.index(0)], |s| s[0].lt(&count), |s| vec![s[0].add(&step)])
    }),
    ("if", |g| {
        let (pred, x) = (parameter(g, DType::Pred, &[]), f32s(g, &[2]));
        g.if_else(&pred, &[&x], |x| vec![x[0].negate()], |x| x.to_vec())
    }),
    ("case", |g| {
        let (index, x) = (i32s(g, &[]), f32s(g, &[2]));
        g.case(&index, &[&x], &mut [&mut |x| vec![x[0].negate()], &mut |x| vec![x[0].abs()]])
    }),
    ("optimization_barrier", |g| g.optimization_barrier(&[&f32s(g, &[2]), &i32s(g, &[])])),
    ("call", |g| {
        let double = g.function(&[Shape::new(DType::F32, [2])], |x| vec![x[0].add(&x[0])]);
        g.call(&double, &[&f32s(g, &[2])])
    }),
    ("custom_call", custom_call),
    ("tuple", |g| vec![g.tuple(&[&f32s(g, &[2]), &i32s(g, &[])]).get_tuple_element(1)]),
    ("get_tuple_element", |g| vec![g.tuple(&[&f32s(g, &[2])]).get_tuple_element(0)]),
    ("rng_bit_generator", |g| {
        let state = parameter(g, DType::U64, &[2]);
        let shape = Shape::new(DType::U32, [3]);
        let (next, bits) = g.rng_bit_generator(RngAlgorithm::ThreeFry, &state, shape);
        vec![next, bits]
    }),
    ("all_reduce", |g| {
        vec![f32s(g, &[2, 4]).all_reduce([vec![0, 1], vec![2, 3]], None, |a, b| a.add(b))]
    }),
    ("all_gather", |g| vec![f32s(g, &[2, 4]).all_gather(1, [vec![0, 1]], Some(Channel(1)))]),
    ("reduce_scatter", |g| {
        vec![f32s(g, &[2, 4]).reduce_scatter(1, [vec![0, 1]], None, |a, b| a.add(b))]
    }),
    ("all_to_all", |g| vec![f32s(g, &[2, 4]).all_to_all(1, 0, [vec![0, 1]], None)]),
    ("collective_permute", |g| vec![f32s(g, &[2]).collective_permute([(0, 1), (1, 0)], None)]),
    ("partition_id", |g| vec![g.partition_id()]),
    ("replica_id", |g| vec![g.replica_id()]),
    ("sharding_constraint", sharding_constraint),
];

fn f32s(graph: &Graph, dims: &[i64]) -> Tensor {
    parameter(graph, DType::F32, dims)
}

fn i32s(graph: &Graph, dims: &[i64]) -> Tensor {
    parameter(graph, DType::I32, dims)
}

fn constant(g: &Graph) -> Vec<Tensor> {
    let wide: Vec<i16> = (0..65).collect();
    let literals = [
        Literal::splat(Shape::new(DType::BF16, [2, 3]), 0.1),
        Literal::splat(Shape::scalar(DType::F32), f64::NEG_INFINITY),
        Literal::from_slice(&[0.1f32, -0.0, f32::NAN], [3]),
        Literal::from_slice(&[true, false], [2, 1]),
        Literal::from_slice(&wide, [65]),
        Literal::from_bytes(Shape::new(DType::I4, [2]), [7, 0xF8]),
        Literal::from_bytes(Shape::new(DType::F8E4M3FN, [2]), [0x38, 0x7F]),
        Literal::splat(Shape::scalar(DType::C64), 1.5),
        Literal::from_slice::<f32>(&[], [0, 3]),
    ];
    literals.into_iter().map(|literal| g.constant(literal.expect("a valid literal"))).collect()
}

fn gather(g: &Graph) -> Vec<Tensor> {
    let dims = GatherDims {
        offset_dims: vec![2],
        collapsed_slice_dims: vec![1],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![0],
        start_index_map: vec![1],
        index_vector_dim: 2,
    };
    vec![f32s(g, &[2, 5, 4]).gather(&i32s(g, &[2, 3]), dims, [1, 1, 4], false)]
}

fn scatter(g: &Graph) -> Vec<Tensor> {
    let dims = ScatterDims {
        update_window_dims: vec![1],
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    vec![f32s(g, &[5, 4]).scatter(&i32s(g, &[3]), &f32s(g, &[3, 4]), dims, |old, new| old.add(new))]
}

fn reduce_window(g: &Graph) -> Vec<Tensor> {
    let window = Window {
        strides: vec![1, 2],
        window_dilations: vec![1, 2],
        padding: vec![(0, 0), (1, 1)],
        ..Window::new([1, 3])
    };
    vec![f32s(g, &[2, 8]).reduce_window(&f32s(g, &[]), &window, |a, b| a.maximum(b))]
}

fn dot_general(g: &Graph) -> Vec<Tensor> {
    let dims = DotDims {
        lhs_batch: vec![0],
        rhs_batch: vec![0],
        lhs_contracting: vec![2],
        rhs_contracting: vec![2],
    };
    let (q, k) = (parameter(g, DType::BF16, &[2, 3, 4]), parameter(g, DType::BF16, &[2, 5, 4]));
    let wide = DotOptions { dtype: Some(DType::F32), ..DotOptions::default() };
    let highest = DotOptions { precision: Some([Precision::Highest; 2]), ..DotOptions::default() };
    let algorithm = Some(DotAlgorithm::new(DType::BF16, DType::F32));
    let exact = DotOptions { algorithm, dtype: Some(DType::F32), ..DotOptions::default() };
    [wide, highest, exact].iter().map(|options| q.dot_general(&k, dims.clone(), options)).collect()
}

fn convolution(g: &Graph) -> Vec<Tensor> {
    let same = Convolution { padding: vec![(1, 1), (1, 1)], ..Convolution::new(ConvDims::nchw(2)) };
    let transposed = Convolution {
        input_dilation: vec![2],
        kernel_dilation: vec![3],
        strides: vec![2],
        reversal: vec![true],
        feature_groups: 2,
        ..Convolution::new(ConvDims::nhwc(1))
    };
    vec![
        f32s(g, &[1, 4, 8, 8]).convolution(&f32s(g, &[6, 4, 3, 3]), &same),
        f32s(g, &[1, 16, 4]).convolution(&f32s(g, &[3, 2, 6]), &transposed),
    ]
}

fn custom_call(g: &Graph) -> Vec<Tensor> {
    let nested = Dictionary([("axes".to_string(), Value::I64s(vec![0, 1]))].into());
    let config = [
        ("eps".to_string(), Value::F32(1e-6f32.to_bits())),
        ("mode".to_string(), Value::String("a \"quoted\" word".into())),
        ("nested".to_string(), Value::Dictionary(nested)),
        ("on".to_string(), Value::Bool(true)),
    ];
    let call = CustomCall {
        config: Dictionary(config.into()),
        aliases: vec![(0, 0)],
        ..CustomCall::new("rms_norm")
    };
    g.custom_call(&call, &[&f32s(g, &[2, 3])], &[Shape::new(DType::F32, [2, 3])])
}

fn sharding_constraint(g: &Graph) -> Vec<Tensor> {
    let mesh = Mesh::new("mesh", [("data", 2), ("model", 4)]);
    g.mesh(&mesh);
    let x = f32s(g, &[8, 8]);
    g.shard_parameter(&x, Sharding::new(&mesh, [&["data"][..], &[]]));
    g.shard_result(0, Sharding::new(&mesh, [&["data"][..], &[]]));
    g.alias(&x, 0);
    g.donate(&f32s(g, &[2]));
    vec![x.with_sharding(Sharding::new(&mesh, [&[][..], &["data", "model"]]))]
}
