//! What becomes of what is recorded.

use rectiflow_hlo::{Block, CustomCall, Error, Graph, Instruction, Module, Op, Tensor};

use crate::f32;

/// Mnemonics of a block's instructions, each followed by those of its regions.
fn mnemonics(block: &Block) -> Vec<&'static str> {
    let of = |instruction: &Instruction| {
        let inside = instruction.regions.iter().flat_map(mnemonics);
        [instruction.op.mnemonic()].into_iter().chain(inside).collect::<Vec<_>>()
    };
    block.instructions.iter().flat_map(of).collect()
}

#[test]
fn dead_ops_are_dropped_in_regions_too() {
    let graph = Graph::new();
    let (x, y) = (graph.parameter("x", f32(&[2])), graph.parameter("y", f32(&[2])));
    let unused = y.sine();
    let _ = unused.cosine();
    let body = |state: &[Tensor]| {
        let _ = state[0].tanh().multiply(&unused);
        vec![state[0].negate()]
    };
    let last = graph.while_loop(&[&x], |_| graph.pred(false), body);
    let _ = last[0].exponential();
    let module = graph.finish(&[&last[0]]).expect("a module");
    let kept = mnemonics(module.block());
    // What only dead ops of the body use is still carried, since captures are part of the state.
    for gone in
        ["stablehlo.cosine", "stablehlo.tanh", "stablehlo.multiply", "stablehlo.exponential"]
    {
        assert!(!kept.contains(&gone), "{gone} in {kept:?}");
    }
    assert_eq!(kept.iter().filter(|op| **op == "stablehlo.negate").count(), 1);
    assert_eq!(module.parameter_shapes().len(), 2, "unused parameters stay");
}

#[test]
fn side_effects_stay() {
    let noisy = CustomCall { has_side_effect: true, ..CustomCall::new("log") };
    let quiet = CustomCall::new("count");
    let graph = Graph::new();
    let (x, pred) = (graph.parameter("x", f32(&[2])), graph.pred(true));
    graph.custom_call(&noisy, &[&x.negate()], &[]);
    graph.custom_call(&quiet, &[&x.sine()], &[f32(&[2])]);
    let branch = |call: &CustomCall, x: &[Tensor]| {
        graph.custom_call(call, &[&x[0].cosine()], &[f32(&[2])]);
        x.to_vec()
    };
    graph.if_else(&pred, &[&x], |x| branch(&noisy, x), |x| branch(&quiet, x));
    graph.if_else(&pred, &[&x], |x| branch(&quiet, x), |x| branch(&quiet, x));
    let module = graph.finish(&[&x]).expect("a module");
    let custom_call = "stablehlo.custom_call";
    let expected = [
        "stablehlo.constant",
        "stablehlo.negate",
        custom_call,
        "stablehlo.if",
        "stablehlo.cosine",
        custom_call,
    ];
    assert_eq!(mnemonics(module.block()), expected);
    let text = module.to_string();
    assert!(text.contains("\"log\"") && !text.contains("\"count\""), "{text}");
}

#[test]
fn only_the_taken_branch_holds_its_ops() {
    let graph = Graph::new();
    let (x, pred) = (graph.parameter("x", f32(&[2])), graph.pred(true));
    let chosen = graph.if_else(&pred, &[&x], |x| vec![x[0].sine()], |x| vec![x[0].cosine()]);
    let module = graph.finish(&[&chosen[0]]).expect("a module");
    let outside: Vec<_> = module.block().instructions.iter().map(|i| i.op.mnemonic()).collect();
    assert_eq!(outside, ["stablehlo.constant", "stablehlo.if"]);
}

#[test]
fn a_module_does_not_change_as_its_graph_grows() {
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let y = x.negate();
    let first = graph.finish(&[&y]).expect("a module");
    let text = first.to_string();
    let more = y.add(&x);
    let second = graph.finish(&[&y, &more]).expect("a module");
    assert_eq!(first.to_string(), text);
    assert_eq!(graph.finish(&[&y]).expect("a module").to_string(), text);
    assert_eq!(second.result_shapes(), [f32(&[2]), f32(&[2])]);
    assert!(matches!(second.block().instructions[1].op, Op::Add {}));
}

fn mlp(graph: &Graph, names: [&str; 2]) -> Module {
    let x = graph.parameter(names[0], f32(&[4, 8]));
    let w = graph.parameter(names[1], f32(&[8, 8]));
    let zero = x.full_like(0);
    let (last, _) =
        graph.scan(&[&zero], &[&w], |carries, rows| (vec![&carries[0] + &x * &rows[0]], vec![]));
    graph.finish(&[&last[0].matmul(&w).gelu().softmax(1)]).expect("a module")
}

#[test]
fn names_scopes_and_lines_are_not_in_the_text() {
    let plain = mlp(&Graph::new(), ["x", "w"]);
    let graph = Graph::new();
    let _scope = graph.scope("transformer_blocks.7");
    let named = mlp(&graph, ["hidden_states", "ff.net.0.proj.weight"]);
    assert_eq!(plain.to_string(), named.to_string());
    assert_eq!(named.parameter_names().collect::<Vec<_>>()[0], "hidden_states");
    assert!(!named.to_string().contains("recording.rs"));
    assert!(named.text_with_locations().contains("recording.rs"));
}

#[test]
fn two_threads_record_into_one_graph() {
    const N_OPS: usize = 200;
    let graph = Graph::new();
    let x = graph.parameter("x", f32(&[2]));
    let chain = |step: fn(&Tensor) -> Tensor| (0..N_OPS).fold(x.clone(), |y, _| step(&y));
    let (a, b) = std::thread::scope(|scope| {
        let negated = scope.spawn(|| chain(Tensor::negate));
        let looped = scope.spawn(|| {
            chain(|y| {
                let graph = y.graph();
                let last = graph.while_loop(&[y], |_| graph.pred(false), |s| vec![s[0].sine()]);
                last[0].clone()
            })
        });
        (negated.join().expect("a thread"), looped.join().expect("a thread"))
    });
    let module = graph.finish(&[&a, &b]).expect("a module");
    let kept = mnemonics(module.block());
    let count = |name: &str| kept.iter().filter(|op| **op == name).count();
    assert_eq!((count("stablehlo.negate"), count("stablehlo.sine")), (N_OPS, N_OPS));
}

#[test]
fn what_is_recorded_may_cross_threads() {
    fn is_sendable<T: Send + Sync + Clone + 'static>() {}
    is_sendable::<Graph>();
    is_sendable::<Tensor>();
    is_sendable::<Module>();
    is_sendable::<Error>();
    is_sendable::<Op>();
}

/// The guard that is dropped closes its own scope, whatever others were opened since.
#[test]
fn scopes_close_in_any_order() {
    let graph = Graph::new();
    let outer = graph.scope("outer");
    let inner = graph.scope("inner");
    drop(outer);
    let x = graph.parameter("x", f32(&[2]));
    let bad = x.reshape([3]);
    drop(inner);
    assert_eq!(graph.finish(&[&bad]).expect_err("a mistake").scope(), "inner");
}

#[test]
fn names_go_with_their_parameters_from_several_threads() {
    let graph = Graph::new();
    std::thread::scope(|scope| {
        for thread in 0..4i64 {
            let graph = &graph;
            scope.spawn(move || {
                for i in 0..500 {
                    let size = thread * 1000 + i;
                    graph.parameter(&size.to_string(), f32(&[size]));
                }
            });
        }
    });
    let module = graph.finish(&[]).expect("a module");
    let shapes = module.parameter_shapes();
    assert_eq!(shapes.len(), 2000);
    for (name, shape) in module.parameter_names().zip(shapes) {
        assert_eq!(name, shape.dims[0].to_string());
    }
}
