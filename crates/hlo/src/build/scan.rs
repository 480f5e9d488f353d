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
        let Some(length) = self.scan_length(stacked) else { return (Vec::new(), Vec::new()) };
        let graph = crate::graph::innermost(self, &[carries, stacked].concat());
        let step = graph.region();
        let counter = step.block_parameter(Shape::scalar(DType::I32));
        let inner: Vec<Tensor> =
            carries.iter().map(|c| step.block_parameter(c.shape().clone())).collect();
        let slices: Vec<Tensor> = stacked.iter().map(|tensor| tensor.row(&counter)).collect();
        let (next, outputs) = body(&inner, &slices);
        let stack_of =
            |output: &Tensor| output.shape().with_dims([&[length], output.dims()].concat());
        let stacks: Vec<Tensor> =
            outputs.iter().map(|output| step.block_parameter(stack_of(output))).collect();
        let mut results = vec![counter.add(&counter.scalar_like(1))];
        results.extend(next);
        results.extend(
            stacks.iter().zip(&outputs).map(|(stack, output)| stack.with_row(output, &counter)),
        );
        let step = graph.close_region(&step, &results);

        let first = graph.index(0);
        let empty: Vec<Tensor> =
            stacks.iter().map(|stack| graph.full(stack.shape().clone(), 0)).collect();
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

    /// The common size of dim 0.
    #[track_caller]
    fn scan_length(&self, stacked: &[&Tensor]) -> Option<i64> {
        let length = stacked.first().and_then(|tensor| tensor.dims().first()).copied();
        let equal = stacked.iter().all(|tensor| tensor.dims().first().copied() == length);
        if length.is_none() || !equal {
            let shapes: Vec<Shape> = stacked.iter().map(|tensor| tensor.shape().clone()).collect();
            let mismatch = Mismatch::new("stacked inputs with equal dim 0", list(&shapes));
            self.fail("scan", shapes, mismatch);
            return None;
        }
        length
    }
}

impl Tensor {
    /// The slice at `index` of dim 0, without that dim.
    #[track_caller]
    fn row(&self, index: &Tensor) -> Tensor {
        if self.dims()[0] == 0 {
            // A body that never runs still has to be typed, and there is nothing to slice.
            return index.graph.full(self.shape().with_dims(&self.dims()[1..]), 0);
        }
        let zero = index.scalar_like(0);
        let starts: Vec<&Tensor> =
            (0..self.rank()).map(|dim| if dim == 0 { index } else { &zero }).collect();
        let sizes = [&[1], &self.dims()[1..]].concat();
        self.dynamic_slice(&starts, sizes).reshape(&self.dims()[1..])
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
