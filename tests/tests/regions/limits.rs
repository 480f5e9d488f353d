//! Numbers near the ends of their types, and helpers given what they cannot take: an error, at the
//! line of the model, and never a panic.

use rectiflow_hlo::{
    ConvDims, Convolution, DType, Error, Graph, Literal, Mesh, Number, Shape, Tensor, Window,
};

use crate::f32;

/// A mistake, recorded on a fresh graph.
type Mistake = fn(&Graph) -> Tensor;

#[track_caller]
fn p(graph: &Graph, dtype: DType, dims: &[i64]) -> Tensor {
    graph.parameter("x", Shape::new(dtype, dims))
}

/// Every line is a mistake in one call.
const MISTAKES: &[(u32, Mistake)] = &[
    (line!(), |g| p(g, DType::F32, &[2]).any([0])),
    (line!(), |g| p(g, DType::F32, &[2]).all([0])),
    (line!(), |g| p(g, DType::C64, &[2]).max([0])),
    (line!(), |g| p(g, DType::C64, &[2]).min([0])),
    (line!(), |g| p(g, DType::C64, &[2]).argmax(0)),
    (line!(), |g| p(g, DType::C64, &[2]).sort_rising(0)),
    (line!(), |g| p(g, DType::C64, &[2]).argsort(0)),
    (line!(), |g| p(g, DType::F32, &[2, 3]).mean([2])),
    (line!(), |g| p(g, DType::BF16, &[2, 3]).mean([2])),
    (line!(), |g| p(g, DType::F32, &[2, 3]).softmax(2)),
    (line!(), |g| p(g, DType::F32, &[2, 3]).expand(-1)),
    (line!(), |g| p(g, DType::F32, &[2, 3]).expand(3)),
    (line!(), |g| p(g, DType::F32, &[]).softmax(0)),
    (line!(), |g| p(g, DType::I32, &[2]).gelu()),
    (line!(), |g| p(g, DType::U8, &[1 << 40, 1]).add(&p(g, DType::U8, &[1, 1 << 40]))),
    (line!(), |g| {
        p(g, DType::F32, &[1 << 40, 2, 3]).matmul(&p(g, DType::F32, &[1 << 40, 3, 1 << 30]))
    }),
    (line!(), |g| p(g, DType::F32, &[i64::MIN]).pad(&p(g, DType::F32, &[]), [0], [0], [0])),
    (line!(), |g| p(g, DType::F32, &[i64::MIN, -3]).mean([0, 1])),
    (line!(), |g| p(g, DType::U8, &[i64::MAX]).sum([0])),
    (line!(), |g| p(g, DType::F32, &[5]).slice([0], [6], [i64::MAX])),
    (line!(), |g| p(g, DType::F32, &[5]).pad(&p(g, DType::F32, &[]), [i64::MAX], [i64::MAX], [0])),
    (line!(), |g| p(g, DType::F32, &[5]).pad(&p(g, DType::F32, &[]), [0], [0], [i64::MAX])),
    (line!(), |g| {
        p(g, DType::F32, &[2]).all_gather(
            0,
            [(0..1 << 10).collect::<Vec<_>>()],
            Some(rectiflow_hlo::Channel(0)),
        )
    }),
    (line!(), |g| p(g, DType::U8, &[1 << 59]).all_gather(0, [vec![0, 1, 2, 3]], None)),
    (line!(), |g| p(g, DType::C64, &[2]).bitcast_convert(DType::C128)),
    (line!(), |g| {
        g.scan(&[&p(g, DType::F32, &[2])], &[], |c, _| (c.to_vec(), vec![])).0[0].clone()
    }),
    (line!(), |g| g.scan(&[], &[&p(g, DType::F32, &[])], |_, x| (vec![], x.to_vec())).1[0].clone()),
    (line!(), |g| {
        g.scan(&[], &[&p(g, DType::U8, &[1 << 31])], |_, x| (vec![], x.to_vec())).1[0].clone()
    }),
    (line!(), |g| g.tuple(&[&p(g, DType::F32, &[2])]).add(&p(g, DType::F32, &[2]))),
    (line!(), |g| g.optimization_barrier(&[&g.tuple(&[&p(g, DType::F32, &[2])])])[0].clone()),
    (line!(), |g| p(g, DType::Pred, &[]).select(&g.tuple(&[]), &g.tuple(&[]))),
    (line!(), |g| g.full(Shape::scalar(DType::F16), 65505.0)),
    (line!(), |g| g.full(Shape::scalar(DType::F4E2M1FN), 7)),
    (line!(), |g| g.full(Shape::scalar(DType::C64), 1e300)),
];

#[test]
fn a_mistake_is_an_error_at_its_line() {
    let ends = MISTAKES.iter().skip(1).map(|(line, _)| *line).chain([u32::MAX]);
    for ((line, mistake), end) in MISTAKES.iter().zip(ends) {
        let graph = Graph::new();
        let result = mistake(&graph);
        let error: Error = match graph.finish(&[&result]) {
            Err(error) => error,
            Ok(module) => panic!("line {line} is accepted:\n{module}"),
        };
        assert_eq!(error.location().file(), file!(), "line {line}: {error}");
        let at = error.location().line();
        assert!((*line..end).contains(&at), "line {line}: {error}");
    }
}

#[test]
fn the_largest_numbers_that_make_sense_are_taken() {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[5]));
    let zero = graph.parameter("zero", f32(&[]));
    assert_eq!(x.slice([0], [5], [i64::MAX]).dims(), [1]);
    assert_eq!(x.pad(&zero, [i64::MAX], [-i64::MAX], [0]).dims(), [5]);
    let window = Window {
        strides: vec![i64::MAX],
        window_dilations: vec![i64::MAX],
        padding: vec![(i64::MAX, -i64::MAX)],
        ..Window::new([2])
    };
    assert_eq!(x.reduce_window(&zero, &window, |a, b| a.add(b)).dims(), [0]);
    let empty = graph.parameter("empty", f32(&[0, 1 << 40, 1 << 40]));
    assert_eq!(empty.mean([1, 2]).dims(), [0]);
    assert_eq!(graph.first_error().map(|error| error.to_string()), None);
}

#[test]
fn groups_and_meshes_without_end_are_refused() {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[1, 4, 8]));
    let kernel = graph.parameter("kernel", f32(&[4, 4, 3]));
    let options = Convolution { feature_groups: i64::MAX, ..Convolution::new(ConvDims::nchw(1)) };
    let y = x.convolution(&kernel, &options);
    let error = graph.finish(&[&y]).expect_err("no such groups").to_string();
    assert!(error.contains("groups in the kernel"), "{error}");

    let graph = Graph::new();
    graph.mesh(&Mesh::new("mesh", [("a", 1 << 40), ("b", 1 << 40)]));
    assert!(graph.finish(&[]).is_ok(), "as many devices as can be counted");
    for name in ["main", "a-b", ""] {
        let graph = Graph::new();
        graph.mesh(&Mesh::new(name, [("a", 2)]));
        assert!(graph.finish(&[]).is_err(), "a mesh named {name:?}");
    }
}

#[test]
fn a_number_must_fit_in_its_type() {
    let greatest = DType::ALL.iter().filter(|dtype| dtype.is_float());
    for &dtype in greatest {
        let splat = |value: f64| Literal::splat(Shape::scalar(dtype), value);
        assert!(splat(dtype.greatest_finite()).is_ok(), "{dtype}");
        let beyond = dtype.greatest_finite() * 1.01;
        assert_eq!(splat(beyond).is_ok(), beyond.is_infinite(), "{dtype}");
    }
    let bytes = Literal::from_bytes(Shape::new(DType::F4E2M1FN, [1]), [0xF7]).expect("a byte");
    let graph = Graph::new();
    let module = graph.finish(&[&graph.constant(bytes)]).expect("a module").to_string();
    assert!(module.contains("dense<[0x07]>"), "only the low bits count: {module}");
    assert_eq!(Number::from(1i128), Number::from(true));
}
