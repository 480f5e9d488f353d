//! Mistakes about graphs, parameters and meshes.

use expect_test::{Expect, expect};
use rectiflow_hlo::{Graph, Mesh, Sharding, Tensor};

use crate::{f32, refused};

#[test]
fn values_of_another_graph() {
    let (graph, other) = (Graph::new(), Graph::new());
    let (x, y) = (graph.parameter("x", f32(&[2])), other.parameter("y", f32(&[2])));
    let line = line!() + 1;
    let sum = x.add(&y);
    refused(
        graph.finish(&[&sum]),
        line,
        expect![
            "stablehlo.add(tensor<2xf32>, tensor<2xf32>): expected operands of one graph, found a value of another graph"
        ],
    );

    let (graph, other) = (Graph::new(), Graph::new());
    let y = other.parameter("y", f32(&[2]));
    let line = line!() + 1;
    let result = graph.finish(&[&y]);
    refused(
        result,
        line,
        expect![
            "func.return(tensor<2xf32>): expected results of this graph, found a value of another graph"
        ],
    );

    let (graph, other) = (Graph::new(), Graph::new());
    let (x, y) = (graph.parameter("x", f32(&[2])), other.parameter("y", f32(&[2])));
    let line = line!() + 1;
    let last = graph.while_loop(&[&x], |_| graph.pred(false), |_| vec![y.clone()]);
    refused(
        graph.finish(&[&last[0]]),
        line,
        expect![
            "stablehlo.return(tensor<2xf32>): expected results of this graph, found a value of another graph"
        ],
    );
}

#[test]
fn a_branch_on_a_value_of_another_graph() {
    let (graph, other) = (Graph::new(), Graph::new());
    let y = other.parameter("y", f32(&[2]));
    let pred = graph.pred(true);
    let line = line!() + 1;
    let chosen = graph.if_else(&pred, &[&y], |y| y.to_vec(), |y| y.to_vec());
    refused(
        graph.finish(&[&chosen[0]]),
        line,
        expect![
            "operand of a branch(tensor<2xf32>): expected operands of this graph, found a value of another"
        ],
    );
}

#[test]
fn a_value_that_left_its_region() {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let mut inside: Option<Tensor> = None;
    let body = |state: &[Tensor]| {
        inside = Some(state[0].negate());
        state.to_vec()
    };
    let last = graph.while_loop(&[&x], |_| graph.pred(false), body);
    let inside = inside.expect("the body was recorded");
    let line = line!() + 1;
    let result = graph.finish(&[&last[0], &inside]);
    refused(
        result,
        line,
        expect![
            "func.return(tensor<2xf32>, tensor<2xf32>): expected results of this graph, found a value of another graph"
        ],
    );
}

#[test]
fn aliases_and_donations() {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    graph.alias(&x, 0);
    let line = line!() + 1;
    let result = graph.finish(&[&x.sum([0])]);
    refused(
        result,
        line,
        expect!["alias(): expected result 0 of shape tensor<2xf32>, found tensor<f32>"],
    );

    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    graph.alias(&x, 1);
    let line = line!() + 1;
    let result = graph.finish(&[&x.negate()]);
    refused(
        result,
        line,
        expect!["alias(): expected result 1 of shape tensor<2xf32>, found no such result"],
    );

    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2])), graph.parameter("y", f32(&[2])));
    graph.alias(&x, 0);
    graph.alias(&y, 0);
    let line = line!() + 1;
    let result = graph.finish(&[&x.add(&y)]);
    refused(
        result,
        line,
        expect!["alias(): expected each result aliased once, found result 0 twice"],
    );

    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let line = line!() + 1;
    graph.donate(&x.negate());
    refused(
        graph.finish(&[&x]),
        line,
        expect![
            "donate(tensor<2xf32>): expected a parameter of this graph, found %1: tensor<2xf32>"
        ],
    );
}

#[test]
fn shardings() {
    let mesh = Mesh::new("mesh", [("data", 2), ("model", 4)]);
    let sharded = |sharding: Sharding, text: Expect| {
        let graph = Graph::new();
        graph.mesh(&mesh);
        let x = graph.parameter("x", f32(&[4, 8]));
        let line = line!() + 1;
        let y = x.with_sharding(sharding);
        refused(graph.finish(&[&y]), line, text);
    };
    sharded(
        Sharding::new(&mesh, [&["heads"][..], &[]]),
        expect![[
            r#"sdy.sharding(tensor<4x8xf32>): expected axes of sdy.mesh @mesh = <["data"=2, "model"=4]>, each at most once, found [["heads"], []]"#
        ]],
    );
    sharded(
        Sharding::new(&mesh, [&["data"][..], &["data"]]),
        expect![[
            r#"sdy.sharding(tensor<4x8xf32>): expected axes of sdy.mesh @mesh = <["data"=2, "model"=4]>, each at most once, found [["data"], ["data"]]"#
        ]],
    );
    sharded(
        Sharding::replicated(&mesh, 1),
        expect![
            "sdy.sharding(tensor<4x8xf32>): expected a sharding of 2 dims for tensor<4x8xf32>, found [[]]"
        ],
    );
    sharded(
        Sharding::replicated(&Mesh::new("other", []), 2),
        expect![
            "sdy.sharding(tensor<4x8xf32>): expected a mesh declared with Graph::mesh, found other"
        ],
    );

    let graph = Graph::new();
    graph.mesh(&mesh);
    let line = line!() + 1;
    graph.mesh(&Mesh::new("mesh", [("data", 8)]));
    refused(
        graph.finish(&[]),
        line,
        expect![[
            r#"sdy.mesh(): expected mesh mesh as first declared, sdy.mesh @mesh = <["data"=2, "model"=4]>, found sdy.mesh @mesh = <["data"=8]>"#
        ]],
    );

    let graph = Graph::new();
    graph.mesh(&mesh);
    let x = graph.parameter("x", f32(&[4]));
    graph.shard_parameter(&x, Sharding::new(&mesh, [&["rows"][..]]));
    let line = line!() + 1;
    let result = graph.finish(&[&x]);
    refused(
        result,
        line,
        expect![[
            r#"sdy.sharding(): expected axes of sdy.mesh @mesh = <["data"=2, "model"=4]>, each at most once, found [["rows"]]"#
        ]],
    );

    let graph = Graph::new();
    graph.mesh(&mesh);
    graph.shard_result(1, Sharding::replicated(&mesh, 1));
    let line = line!() + 1;
    let result = graph.finish(&[&graph.full(f32(&[4]), 0)]);
    refused(result, line, expect!["sdy.sharding(): expected a result from 0 to before 1, found 1"]);
}
