//! Mistakes in regions, scans and functions.

use expect_test::expect;
use rectiflow_hlo::Graph;

use crate::{f32, refused};

#[test]
fn an_op_in_nested_regions() {
    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2])), graph.parameter("y", f32(&[3])));
    let mut line = 0;
    let results = graph.while_loop(
        &[&x],
        |state| state[0].sum([0]).lt(&graph.full(f32(&[]), 9)),
        |state| {
            let positive = state[0].sum([0]).gt(&graph.full(f32(&[]), 0));
            graph.if_else(
                &positive,
                &[&state[0]],
                |inner| {
                    line = line!() + 1;
                    let _ = inner[0].add(&y);
                    inner.to_vec()
                },
                |_| vec![x.clone()],
            )
        },
    );
    refused(
        graph.finish(&[&results[0]]),
        line,
        expect![
            "stablehlo.add(tensor<2xf32>, tensor<3xf32>): expected operands of equal dtype, with dims that broadcast, found (tensor<2xf32>, tensor<3xf32>)"
        ],
    );
}

#[test]
fn regions_of_a_wrong_type() {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let line = line!() + 1;
    let last = graph.while_loop(&[&x], |s| s[0].clone(), |s| s.to_vec());
    refused(
        graph.finish(&[&last[0]]),
        line,
        expect![
            "stablehlo.while(tensor<2xf32>): expected a condition that returns tensor<i1>, found (tensor<2xf32>)"
        ],
    );

    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let line = line!() + 1;
    let last = graph.while_loop(&[&x], |_| graph.pred(true), |s| vec![s[0].sum([0])]);
    refused(
        graph.finish(&[&last[0]]),
        line,
        expect![
            "stablehlo.while(tensor<2xf32>, tensor<i1>): expected a body that returns (tensor<2xf32>, tensor<i1>), found (tensor<f32>, tensor<i1>)"
        ],
    );

    let graph = Graph::new();
    let (x, pred) = (graph.parameter("x", f32(&[2])), graph.pred(true));
    let line = line!() + 1;
    let chosen = graph.if_else(&pred, &[&x], |x| x.to_vec(), |x| vec![x[0].sum([0])]);
    refused(
        graph.finish(&[&chosen[0]]),
        line,
        expect![
            "stablehlo.if(tensor<i1>): expected branches that all return (tensor<2xf32>), found (tensor<f32>)"
        ],
    );

    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let line = line!() + 1;
    let chosen = graph.case(&x, &[&x], &mut [&mut |x| x.to_vec()]);
    refused(
        graph.finish(&[&chosen[0]]),
        line,
        expect!["stablehlo.case(tensor<2xf32>): expected an integer type, found tensor<2xf32>"],
    );

    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let line = line!() + 1;
    let sorted = graph.sort(&[&x], 0, true, |a, b| a[0].add(&b[0]));
    refused(
        graph.finish(&[&sorted[0]]),
        line,
        expect![
            "stablehlo.sort(tensor<2xf32>): expected a comparator that returns tensor<i1>, found (tensor<f32>)"
        ],
    );
}

#[test]
fn a_body_that_captures_where_it_may_not() {
    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2])), graph.parameter("y", f32(&[])));
    let line = line!() + 1;
    let sum = x.reduce(&y, [0], |a, b| a.add(b).add(&y));
    refused(
        graph.finish(&[&sum]),
        line,
        expect![
            "stablehlo.reduce(tensor<2xf32>, tensor<f32>): expected a body that uses only its own parameters, found 1 values from outside"
        ],
    );

    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2])), graph.parameter("y", f32(&[])));
    let line = line!() + 1;
    let sorted = graph.sort(&[&x], 0, true, |a, _| a[0].lt(&y));
    refused(
        graph.finish(&[&sorted[0]]),
        line,
        expect![
            "stablehlo.sort(tensor<2xf32>): expected a body that uses only its own parameters, found 1 values from outside"
        ],
    );

    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let mut line = 0;
    let function = graph.function(&[f32(&[2])], |operands| {
        line = line!() + 1;
        vec![operands[0].add(&x)]
    });
    let results = graph.call(&function, &[&x]);
    refused(
        graph.finish(&[&results[0]]),
        line,
        expect![
            "stablehlo.add(tensor<2xf32>, tensor<2xf32>): expected operands of one graph, found a value of another graph"
        ],
    );
}

#[test]
fn scans() {
    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2, 3])), graph.parameter("y", f32(&[4])));
    let line = line!() + 1;
    graph.scan(&[], &[&x, &y], |_, slices| (vec![], slices.to_vec()));
    refused(
        graph.finish(&[&x]),
        line,
        expect![
            "scan(tensor<2x3xf32>, tensor<4xf32>): expected stacked inputs with equal dim 0, of at most 2^31 - 1, found tensor<2x3xf32>, tensor<4xf32>"
        ],
    );

    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2, 3])), graph.parameter("y", f32(&[4])));
    let line = line!() + 1;
    let (last, _) = graph.scan(&[&y], &[&x], |_, slices| (slices.to_vec(), vec![]));
    refused(
        graph.finish(&[&last[0]]),
        line,
        expect![
            "stablehlo.while(tensor<i32>, tensor<4xf32>, tensor<2x3xf32>): expected a body that returns (tensor<i32>, tensor<4xf32>, tensor<2x3xf32>), found (tensor<i32>, tensor<3xf32>, tensor<2x3xf32>)"
        ],
    );

    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2, 3])), graph.parameter("y", f32(&[4])));
    let mut line = 0;
    let (last, _) = graph.scan(&[&y], &[&x], |carries, slices| {
        line = line!() + 1;
        (vec![&carries[0] + &slices[0]], vec![])
    });
    refused(
        graph.finish(&[&last[0]]),
        line,
        expect![
            "stablehlo.add(tensor<4xf32>, tensor<3xf32>): expected operands of equal dtype, with dims that broadcast, found (tensor<4xf32>, tensor<3xf32>)"
        ],
    );
}

#[test]
fn functions() {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let square = graph.function(&[f32(&[3])], |x| vec![x[0].multiply(&x[0])]);
    let line = line!() + 1;
    let results = graph.call(&square, &[&x]);
    refused(
        graph.finish(&[&results[0]]),
        line,
        expect![
            "func.call(tensor<2xf32>): expected (tensor<3xf32>) -> (tensor<3xf32>), found (tensor<2xf32>) -> (tensor<3xf32>)"
        ],
    );

    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let other = Graph::new();
    let square = other.function(&[f32(&[2])], |x| vec![x[0].multiply(&x[0])]);
    let line = line!() + 1;
    let results = graph.call(&square, &[&x]);
    refused(
        graph.finish(&[&results[0]]),
        line,
        expect![
            "func.call(tensor<2xf32>): expected a function of this graph, found one of another graph"
        ],
    );

    let graph = Graph::new();
    let line = line!() + 1;
    graph.function(&[f32(&[-1])], |x| x.to_vec());
    refused(
        graph.finish(&[]),
        line,
        expect![
            "parameter(tensor<-1xf32>): expected dims from 0, and at most 2^60 bytes in all, found tensor<-1xf32>"
        ],
    );

    let graph = Graph::new();
    let mut line = 0;
    graph.function(&[], |_| vec![]);
    graph.function(&[f32(&[2])], |operands| {
        line = line!() + 1;
        vec![operands[0].graph().parameter("y", f32(&[2]))]
    });
    refused(
        graph.finish(&[]),
        line,
        expect![
            "parameter(tensor<2xf32>): expected a call on the graph of a program being traced, found a region or function"
        ],
    );
}
