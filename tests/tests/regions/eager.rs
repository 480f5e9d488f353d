//! Ops that an eager graph hands over make, replayed, the program that recording them makes.

use std::sync::{Arc, Mutex};

use rectiflow_hlo::{DType, Dispatch, Error, Graph, Handle, Instruction, Shape, Tensor};

/// Replays each op into a graph as it comes; a handle is the tensor there.
struct Replay {
    graph: Graph,
    errors: Mutex<Vec<Error>>,
}

fn replayed(tensor: &Tensor) -> &Tensor {
    tensor.handle().unwrap().downcast_ref().unwrap()
}

impl Dispatch for Replay {
    fn dispatch(
        &self,
        _: &Graph,
        instruction: Instruction,
        inputs: &[&Tensor],
        results: &[Arc<Shape>],
    ) -> Vec<Handle> {
        let inputs: Vec<&Tensor> = inputs.iter().map(|tensor| replayed(tensor)).collect();
        let replayed = self.graph.replay(&instruction, &inputs);
        assert_eq!(replayed.len(), results.len());
        replayed.into_iter().map(|tensor| Arc::new(tensor) as Handle).collect()
    }

    fn fail(&self, error: Error) {
        self.errors.lock().unwrap().push(error);
    }

    fn stand_in(&self) -> Handle {
        Arc::new(self.graph.full(Shape::scalar(DType::F32), 0))
    }
}

/// The program of `model` on parameters of these shapes, recorded and replayed.
fn texts(shapes: &[Shape], model: impl Fn(&[Tensor]) -> Tensor) -> [String; 2] {
    let graph = Graph::new();
    let parameter = |graph: &Graph, shape: &Shape| graph.parameter("", shape.clone());
    let parameters: Vec<Tensor> = shapes.iter().map(|shape| parameter(&graph, shape)).collect();
    let recorded = graph.finish(&[&model(&parameters)]).unwrap();

    let target = Graph::new();
    let replay = Arc::new(Replay { graph: target.clone(), errors: Mutex::default() });
    let eager = Graph::eager(replay.clone());
    let input = |shape: &Shape| {
        let handle = Arc::new(parameter(&target, shape));
        eager.value(Arc::new(shape.clone()), handle)
    };
    let result = model(&shapes.iter().map(input).collect::<Vec<_>>());
    assert!(replay.errors.lock().unwrap().is_empty());
    let replayed = target.finish(&[replayed(&result)]).unwrap();
    [recorded.to_string(), replayed.to_string()]
}

fn f32s(dims: &[i64]) -> Shape {
    Shape::new(DType::F32, dims)
}

#[test]
fn plain_ops() {
    let [recorded, replayed] =
        texts(&[f32s(&[2, 3]), f32s(&[3])], |p| (&p[0] * 2.0 + &p[1]).softmax(1).matmul(&p[1]));
    assert_eq!(replayed, recorded);
}

#[test]
fn regions_that_use_values_from_outside() {
    let [recorded, replayed] = texts(&[f32s(&[4, 3]), f32s(&[3]), f32s(&[])], |p| {
        let graph = p[0].graph();
        let doubled = &p[1] * 2.0;
        let (sums, rows) = graph.scan(&[&p[1]], &[&p[0]], |carry, row| {
            let next = &carry[0] + &row[0] * &doubled;
            (vec![next.clone()], vec![next])
        });
        let positive = p[2].gt(&p[2].scalar_like(0.0));
        let chosen = graph.if_else(
            &positive,
            &[&sums[0]],
            |on| vec![&on[0] + &doubled],
            |off| vec![off[0].negate()],
        );
        rows[0].sum([0]) + &chosen[0]
    });
    assert_eq!(replayed, recorded);
}

/// Functions that are declared again and again, as a loop of eager code does, are one.
#[test]
fn equal_functions_of_an_eager_graph_are_one() {
    let replay = Arc::new(Replay { graph: Graph::new(), errors: Mutex::default() });
    let eager = Graph::eager(replay);
    let declare = |factor: f64| {
        let function = eager.function(&[f32s(&[])], |p| vec![&p[0] * factor]);
        format!("{function:?}")
    };
    assert_eq!(declare(2.0), declare(2.0));
    assert_ne!(declare(2.0), declare(3.0));
}

#[test]
fn an_eager_graph_cannot_be_finished_or_given_parameters() {
    let replay = Arc::new(Replay { graph: Graph::new(), errors: Mutex::default() });
    let eager = Graph::eager(replay.clone());
    let x = eager.parameter("x", f32s(&[2]));
    let errors = replay.errors.lock().unwrap();
    assert!(errors[0].to_string().contains("being traced, found an eager graph"), "{errors:?}");
    drop(errors);
    let error = eager.finish(&[&x]).unwrap_err().to_string();
    assert!(error.contains("found an eager graph"), "{error}");
}
