//! Constants that a graph refuses.

use rectiflow_hlo::{DType, Graph, Literal, Shape};

/// What is wrong with a graph of one constant, if anything is.
fn error(shape: Shape, bytes: Option<usize>, number: f64) -> Option<String> {
    let graph = Graph::new();
    let constant = match bytes {
        None => graph.full(shape, number),
        Some(n) => graph.constant(Literal::from_bytes(shape, vec![0; n]).expect("bytes")),
    };
    graph.finish(&[&constant]).err().map(|error| error.to_string())
}

#[test]
fn more_than_64_kb_must_be_a_parameter() {
    let f32s = |count: i64| Shape::new(DType::F32, [count]);
    assert_eq!(error(f32s(16 * 1024), Some(64 * 1024), 0.0), None);
    let message = error(f32s(16 * 1024 + 1), Some(64 * 1024 + 4), 0.0).expect("an error");
    assert!(message.contains("stablehlo.constant"), "{message}");
    assert!(message.contains("at most 65536 bytes (make it a parameter)"), "{message}");
    assert!(message.contains("found 65540 bytes"), "{message}");
}

#[test]
fn a_splat_of_any_size_is_one_element() {
    assert_eq!(error(Shape::new(DType::F64, [1 << 20, 1 << 20]), None, 0.5), None);
}

#[test]
fn numbers_that_the_type_has_nothing_near_are_refused() {
    let refused = [
        (DType::F8E8M0FNU, 0.0),
        (DType::F8E8M0FNU, -1.0),
        (DType::F4E2M1FN, f64::NAN),
        (DType::F4E2M1FN, 7.0),
        (DType::F16, 65505.0),
        (DType::I8, 128.0),
        (DType::I8, 0.5),
        (DType::U4, -1.0),
        (DType::U64, f64::INFINITY),
        (DType::Pred, 2.0),
    ];
    for (dtype, number) in refused {
        let message = error(Shape::scalar(dtype), None, number).expect("an error");
        let expected = format!("expected a number that {dtype} can hold, found {number}");
        assert!(message.contains(&expected), "{message}");
    }
    for (dtype, number) in
        [(DType::F8E8M0FNU, f64::NAN), (DType::F4E2M1FN, 6.0), (DType::I8, -128.0)]
    {
        assert_eq!(error(Shape::scalar(dtype), None, number), None);
    }
}
