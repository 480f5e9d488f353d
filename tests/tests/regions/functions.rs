//! Functions: whose they are, what they do, and what is left of those that nobody calls.

use expect_test::expect;
use rectiflow_hlo::{CustomCall, Graph, Module};

use crate::{f32, refused};

#[test]
fn a_function_belongs_to_its_graph() {
    let (graph, other) = (Graph::new(), Graph::new());
    let theirs = other.function(&[f32(&[2])], |x| vec![x[0].add(&x[0])]);
    graph.function(&[f32(&[2])], |x| vec![x[0].negate()]);
    let x = graph.parameter("x", f32(&[2]));
    let line = line!() + 1;
    let result = graph.call(&theirs, &[&x]);
    refused(
        graph.finish(&[&result[0]]),
        line,
        expect![
            "func.call(tensor<2xf32>): expected a function of this graph, found one of another graph"
        ],
    );
}

/// A program whose call has no used result.
fn with_call(has_side_effect: bool) -> Module {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let call = CustomCall { has_side_effect, ..CustomCall::new("log") };
    let inner = graph.function(&[f32(&[2])], |x| graph_of(x).custom_call(&call, &[&x[0]], &[]));
    let outer = graph.function(&[f32(&[2])], |x| {
        graph_of(x).call(&inner, &[&x[0]]);
        vec![]
    });
    graph.call(&outer, &[&x]);
    graph.finish(&[&x]).expect("a module")
}

fn graph_of(tensors: &[rectiflow_hlo::Tensor]) -> &Graph {
    tensors[0].graph()
}

#[test]
fn what_a_function_does_is_kept_and_what_it_only_computes_is_not() {
    let kept = with_call(true).to_string();
    assert_eq!(kept.matches("func.call").count(), 2, "{kept}");
    assert!(kept.contains("\"log\""), "{kept}");
    let dropped = with_call(false);
    assert!(dropped.functions().is_empty() && dropped.block().instructions.is_empty(), "{dropped}");
}

#[test]
fn uncalled_functions_leave_no_trace() {
    let record = |with_dead: bool| {
        let graph = Graph::new();
        let x = graph.parameter("x", f32(&[2]));
        if with_dead {
            let dead = graph.function(&[f32(&[2])], |x| vec![x[0].sine()]);
            graph.function(&[f32(&[2])], |x| x[0].graph().call(&dead, &[&x[0]]));
        }
        let inner = graph.function(&[f32(&[2])], |x| {
            if with_dead {
                x[0].cosine();
            }
            vec![x[0].negate()]
        });
        let outer = graph.function(&[f32(&[2])], |x| x[0].graph().call(&inner, &[&x[0]]));
        let y = graph.call(&outer, &[&x]);
        graph.finish(&[&y[0]]).expect("a module").to_string()
    };
    assert_eq!(record(true), record(false));
    assert!(record(true).contains("@f1"), "both called functions are there");
}
