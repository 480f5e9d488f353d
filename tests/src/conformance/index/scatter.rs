//! Scatter, against plain loops over the specification's index arithmetic.

use rectiflow_hlo::{DType, DTypes, ScatterDims, Tensor};

use super::{
    super::array::{Wide, any, contains, indices, offset, small, with_wide},
    gather::{batch_entry, component, full_window},
};
use crate::{Case, Value};

/// For each element of the updates the position of the input that it is for; `None` where its
/// window does not lie inside as a whole.
fn targets(input: &[i64], at: &Value, updates: &[i64], dims: &ScatterDims) -> Vec<Option<usize>> {
    let missing = [&dims.inserted_window_dims[..], &dims.input_batching_dims[..]];
    let is_window = |dim: &usize| dims.update_window_dims.contains(&(*dim as i64));
    let of = |index: &[i64], window: bool| -> Vec<i64> {
        (0..index.len()).filter(|dim| is_window(dim) == window).map(|dim| index[dim]).collect()
    };
    let window_dims = of(updates, true);
    let last: Vec<i64> = window_dims.iter().map(|dim| dim - 1).collect();
    let target = |index: &Vec<i64>| {
        let batch = of(index, false);
        let mut start = vec![0; input.len()];
        for (i, &dim) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            start[dim as usize] = component(at, dims.index_vector_dim, &batch, i);
        }
        for (&dim, &from) in
            dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims)
        {
            start[dim as usize] = batch_entry(&batch, dims.index_vector_dim, from);
        }
        let position = |window: &[i64]| -> Vec<i64> {
            let window = full_window(input.len(), &missing, window);
            start.iter().zip(window).map(|(a, b)| a + b).collect()
        };
        let inside = contains(input, &start) && contains(input, &position(&last));
        inside.then(|| offset(input, &position(&of(index, true))))
    };
    indices(updates).iter().map(target).collect()
}

/// How updates combine.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Body {
    Add,
    Replace,
    Max,
}

impl Body {
    fn record(self, old: &Tensor, new: &Tensor) -> Tensor {
        match self {
            Body::Add => old.add(new),
            Body::Replace => new.clone(),
            Body::Max => old.maximum(new),
        }
    }

    fn of<T: Wide>(self, old: T, new: T) -> T {
        match self {
            Body::Add => old.plus(new),
            Body::Replace => new,
            Body::Max => unreachable!("maxima are of floats here"),
        }
    }
}

fn combined<T: Wide>(
    body: Body,
    input: &Value,
    updates: &Value,
    targets: &[Option<usize>],
) -> Value {
    let mut numbers = T::read(input);
    for (number, target) in T::read(updates).into_iter().zip(targets) {
        if let Some(at) = *target {
            numbers[at] = body.of(numbers[at], number);
        }
    }
    T::write(input.shape.clone(), &numbers)
}

fn greatest(input: &Value, updates: &Value, targets: &[Option<usize>]) -> Value {
    let mut numbers = input.reals();
    for (number, target) in updates.reals().into_iter().zip(targets) {
        if let Some(at) = *target {
            numbers[at] = numbers[at].max(number);
        }
    }
    Value::from_reals(input.shape.clone(), &numbers)
}

struct Scatter {
    name: &'static str,
    input: &'static [i64],
    at: Value,
    updates: &'static [i64],
    dims: ScatterDims,
}

impl Scatter {
    fn case(&self, dtype: DType, body: Body) -> Case {
        let input = small(dtype, self.input, 6);
        let updates = match body {
            Body::Replace => any(dtype, self.updates, 7),
            _ => small(dtype, self.updates, 7),
        };
        let targets = targets(self.input, &self.at, self.updates, &self.dims);
        let expected = match body {
            Body::Max => greatest(&input, &updates, &targets),
            _ => with_wide!(dtype, combined(body, &input, &updates, &targets)),
        };
        let dims = self.dims.clone();
        Case::new(
            "stablehlo.scatter",
            format!("{body:?} {}, {} into {}", self.name, updates.shape, input.shape),
            vec![input, self.at.clone(), updates],
            move |_, x| vec![x[0].scatter(&x[1], &x[2], dims.clone(), |a, b| body.record(a, b))],
            vec![expected],
        )
    }
}

/// Rows of a matrix, one beyond the end and one before the start, and with one repeated.
fn rows() -> Scatter {
    Scatter {
        name: "rows",
        input: &[4, 3],
        at: Value::of([5], &[3i32, 0, -1, 4, 1]),
        updates: &[5, 3],
        dims: ScatterDims {
            update_window_dims: vec![1],
            inserted_window_dims: vec![0],
            scatter_dims_to_operand_dims: vec![0],
            index_vector_dim: 1,
            ..ScatterDims::default()
        },
    }
}

fn scatters() -> Vec<Scatter> {
    let windows = ScatterDims {
        update_window_dims: vec![1, 2],
        scatter_dims_to_operand_dims: vec![0, 1],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    vec![
        rows(),
        Scatter { name: "no updates", at: Value::of([0], &[0i32; 0]), updates: &[0, 3], ..rows() },
        Scatter { name: "empty rows", input: &[4, 0], updates: &[5, 0], ..rows() },
        Scatter {
            name: "windows, some partly outside",
            input: &[4, 5],
            at: Value::of([4, 2], &[0i64, 0, 3, 3, 2, -1, 2, 2]),
            updates: &[4, 2, 3],
            dims: windows.clone(),
        },
        Scatter {
            name: "index vector first, map reversed",
            input: &[4, 5],
            at: Value::of([2, 3], &[1u32, 2, 4, 0, 3, 2]),
            updates: &[1, 3, 1],
            dims: ScatterDims {
                update_window_dims: vec![0, 2],
                scatter_dims_to_operand_dims: vec![1, 0],
                index_vector_dim: 0,
                ..windows
            },
        },
        Scatter {
            name: "batching dims",
            input: &[3, 5],
            at: Value::of([2, 3, 1], &[0i32, 1, 4, 3, 9, -9]),
            updates: &[2, 3],
            dims: ScatterDims {
                inserted_window_dims: vec![1],
                input_batching_dims: vec![0],
                scatter_indices_batching_dims: vec![1],
                scatter_dims_to_operand_dims: vec![1],
                index_vector_dim: 2,
                ..ScatterDims::default()
            },
        },
        Scatter {
            name: "one scalar index",
            input: &[6],
            at: Value::of([], &[4i8]),
            updates: &[2],
            dims: ScatterDims {
                update_window_dims: vec![0],
                scatter_dims_to_operand_dims: vec![0],
                index_vector_dim: 0,
                ..ScatterDims::default()
            },
        },
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for scatter in scatters() {
        let bodies = [Body::Add, Body::Replace, Body::Max];
        cases.extend(bodies.map(|body| scatter.case(DType::F32, body)));
    }
    cases.extend(DTypes::ANY.iter().map(|dtype| rows().case(dtype, Body::Replace)));
    cases.extend(DTypes::ANY.iter().map(|dtype| rows().case(dtype, Body::Add)));
    let repeated = Scatter { name: "repeated rows", at: Value::of([5], &[1i32; 5]), ..rows() };
    cases.push(repeated.case(DType::I32, Body::Add));
    cases.push(several_inputs());
    cases
}

/// Two inputs of different dtypes, written at the same positions.
fn several_inputs() -> Case {
    let scatter = rows();
    let (a, b) = (small(DType::F32, scatter.input, 8), small(DType::I16, scatter.input, 9));
    let updates = [small(DType::F32, scatter.updates, 10), small(DType::I16, scatter.updates, 11)];
    let targets = targets(scatter.input, &scatter.at, scatter.updates, &scatter.dims);
    let expected = vec![
        combined::<f64>(Body::Add, &a, &updates[0], &targets),
        combined::<i128>(Body::Replace, &b, &updates[1], &targets),
    ];
    let [first, second] = updates;
    Case::new(
        "stablehlo.scatter",
        "of two inputs",
        vec![a, b, scatter.at, first, second],
        move |graph, x| {
            let (inputs, updates) = ([&x[0], &x[1]], [&x[3], &x[4]]);
            graph.scatter(&inputs, &x[2], &updates, scatter.dims.clone(), |old, new| {
                vec![old[0].add(&new[0]), new[1].clone()]
            })
        },
        expected,
    )
}
