//! Mistakes in single ops, and which of several is told.

use expect_test::{Expect, expect};
use rectiflow_hlo::{DotDims, DotOptions, Graph, Literal, Tensor};

use crate::{f32, refused};

#[test]
fn the_first_mistake_is_the_one_told() {
    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2, 3])), graph.parameter("y", f32(&[2, 3])));
    let _model = graph.scope("model");
    let product = {
        let _block = graph.scope("block 3");
        x.matmul(&y)
    };
    let line = line!() - 2;
    let again = product.add(&graph.full(f32(&[7]), 1)).reshape(vec![5]);
    refused(
        graph.finish(&[&again]),
        line,
        expect![
            "stablehlo.dot_general(tensor<2x3xf32>, tensor<2x3xf32>): expected contracting dims of equal size, found [3] and [2] (in model/block 3)"
        ],
    );
    let error = graph.first_error().expect("an error");
    assert_eq!(error.op(), "stablehlo.dot_general");
    assert_eq!(error.operands(), [f32(&[2, 3]), f32(&[2, 3])]);
    assert_eq!(error.scope(), "model/block 3");
}

#[test]
fn ops_by_themselves() {
    let refuse = |record: fn(&Tensor) -> (Tensor, u32), text: Expect| {
        let graph = Graph::new();
        let x = graph.parameter("x", f32(&[2, 3]));
        let (result, line) = record(&x);
        refused(graph.finish(&[&result]), line, text);
    };
    refuse(
        |x| (x.and(x), line!()),
        expect![
            "stablehlo.and(tensor<2x3xf32>, tensor<2x3xf32>): expected pred or an integer type, found tensor<2x3xf32>"
        ],
    );
    refuse(
        |x| (x.reshape(vec![7]), line!()),
        expect!["stablehlo.reshape(tensor<2x3xf32>): expected dims of 6 elements, found [7]"],
    );
    refuse(
        |x| (x.transpose([1, 1]), line!()),
        expect!["stablehlo.transpose(tensor<2x3xf32>): expected each dim once, found [1, 1]"],
    );
    refuse(
        |x| (x.broadcast_to([3, 3]), line!()),
        expect![
            "stablehlo.broadcast_in_dim(tensor<2x3xf32>): expected dims that [2, 3] repeats to, found [3, 3]"
        ],
    );
    refuse(
        |x| (x.slice([0, 0], [2, 4], [1, 1]), line!()),
        expect![
            "stablehlo.slice(tensor<2x3xf32>): expected 0 <= start <= limit <= 3 in dim 1, found 0..4"
        ],
    );
    refuse(
        |x| (x.sum([2]), line!()),
        expect![
            "stablehlo.reduce(tensor<2x3xf32>, tensor<f32>): expected a dim from 0 to before 2, found 2"
        ],
    );
    refuse(
        |x| (x.top_k(4).0, line!()),
        expect!["chlo.top_k(tensor<2x3xf32>): expected a k from 0 to 3, found 4"],
    );
    refuse(
        |x| (x.dynamic_slice(&[&x.graph().index(0)], [1, 1]), line!()),
        expect![
            "stablehlo.dynamic_slice(tensor<2x3xf32>, tensor<i32>): expected 2 scalar integers of one type, found (tensor<i32>)"
        ],
    );
    refuse(
        |x| (x.take(x, 0), line!()),
        expect![
            "stablehlo.gather(tensor<2x3xf32>, tensor<2x3xf32>): expected integer indices, found tensor<2x3xf32>"
        ],
    );
    refuse(
        |x| {
            let dims = DotDims { lhs_batch: vec![0], rhs_batch: vec![1], ..DotDims::default() };
            (x.dot_general(x, dims, &DotOptions::default()), line!())
        },
        expect![
            "stablehlo.dot_general(tensor<2x3xf32>, tensor<2x3xf32>): expected batch dims of equal size, found [2] and [3]"
        ],
    );
    refuse(
        |x| (x.graph().parameter("y", f32(&[-1])), line!()),
        expect![
            "parameter(tensor<-1xf32>): expected dims from 0, and at most 2^60 bytes in all, found tensor<-1xf32>"
        ],
    );
    let large = |x: &Tensor| {
        let table = Literal::from_slice(&[0u8; 70_000], [70_000]).expect("a literal");
        (x.graph().constant(table), line!())
    };
    refuse(
        large,
        expect![
            "stablehlo.constant(): expected a constant of at most 65536 bytes (make it a parameter), found 70000 bytes"
        ],
    );
}
