//! A loop over the leading dim of stacked inputs.

use crate::{DType, Direction, Graph, Shape, Tensor, attribute::list, error::Mismatch};

impl Graph {
    /// Runs `body` once for each index of dim 0 of the stacked inputs, in order. It gets the
    /// carries and that index's slice of each input (without dim 0), and returns the next carries
    /// and what to stack. Returns the last carries and the stacks.
    ///
    /// The program holds the body once, whatever the length.
    #[track_caller]
    pub fn scan(
        &self,
        carries: &[&Tensor],
        stacked: &[&Tensor],
        body: impl FnOnce(&[Tensor], &[Tensor]) -> (Vec<Tensor>, Vec<Tensor>),
    ) -> (Vec<Tensor>, Vec<Tensor>) {
        let graph = crate::graph::innermost(self, &[carries, stacked].concat());
        let step = graph.region();
        let length = step.scan_length(stacked);
        let counter = step.block_parameter(Shape::scalar(DType::I32));
        // Loops where a closure would hide the line of model code.
        let (mut inner, mut slices) = (Vec::new(), Vec::new());
        for carry in carries {
            inner.push(step.block_parameter(carry.shape().clone()));
        }
        for tensor in stacked {
            slices.push(tensor.row(&counter));
        }
        let (next, outputs) = body(&inner, &slices);
        let mut results = vec![counter.add(&counter.scalar_like(1))];
        results.extend(next);
        let mut stacks = Vec::new();
        for output in &outputs {
            let shape = output.shape().with_dims([&[length], output.dims()].concat());
            let stack = step.block_parameter(shape);
            results.push(stack.with_row(output, &counter));
            stacks.push(stack);
        }
        let step = graph.close_region(&step, &results);

        let first = graph.index(0);
        let mut empty = Vec::new();
        for stack in &stacks {
            empty.push(graph.unseen(stack.shape().clone()));
        }
        let state: Vec<&Tensor> =
            [&first].into_iter().chain(carries.iter().copied()).chain(&empty).collect();
        let shapes: Vec<Shape> = state.iter().map(|tensor| tensor.shape().clone()).collect();
        let condition = graph.record_region(&shapes, |state| {
            vec![state[0].compare(&state[0].scalar_like(length), Direction::Lt, None)]
        });
        let mut last = graph.record_while(&state, condition, step);
        let stacks = last.split_off(1 + carries.len());
        (last.split_off(1), stacks)
    }

    /// Something of a shape that nobody will see: zeros, where the element type has a zero.
    #[track_caller]
    fn unseen(&self, shape: Shape) -> Tensor {
        let number = i64::from(shape.dtype == DType::F8E8M0FNU);
        self.full(shape, number)
    }

    /// The common size of dim 0, which an `i32` counts; or, after keeping an error, one to go on
    /// with.
    #[track_caller]
    fn scan_length(&self, stacked: &[&Tensor]) -> i64 {
        let length = stacked.first().and_then(|tensor| tensor.dims().first()).copied();
        let equal = stacked.iter().all(|tensor| tensor.dims().first().copied() == length);
        match length {
            Some(length) if equal && length <= i32::MAX.into() => length,
            _ => {
                let shapes: Vec<Shape> =
                    stacked.iter().map(|tensor| tensor.shape().clone()).collect();
                let expected = "stacked inputs with equal dim 0, of at most 2^31 - 1";
                self.fail("scan", shapes.clone(), Mismatch::new(expected, list(&shapes)));
                1
            }
        }
    }
}

impl Tensor {
    /// The slice at `index` of dim 0, without that dim.
    #[track_caller]
    fn row(&self, index: &Tensor) -> Tensor {
        let Some((&length, rest)) = self.dims().split_first() else { return self.clone() };
        if length == 0 {
            // A body that never runs still has to be typed, and there is nothing to slice.
            return index.graph.unseen(self.shape().with_dims(rest));
        }
        let zero = index.scalar_like(0);
        let starts: Vec<&Tensor> =
            (0..self.rank()).map(|dim| if dim == 0 { index } else { &zero }).collect();
        self.dynamic_slice(&starts, [&[1], rest].concat()).reshape(rest)
    }

    /// A copy with `row` as the slice at `index` of dim 0.
    #[track_caller]
    fn with_row(&self, row: &Tensor, index: &Tensor) -> Tensor {
        if self.dims()[0] == 0 {
            return self.clone();
        }
        let zero = index.scalar_like(0);
        let starts: Vec<&Tensor> =
            (0..self.rank()).map(|dim| if dim == 0 { index } else { &zero }).collect();
        self.dynamic_update_slice(&row.reshape([&[1], row.dims()].concat()), &starts)
    }
}
