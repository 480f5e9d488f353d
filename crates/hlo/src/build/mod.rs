//! Methods that record ops with regions, with lists of tensors, or with options.

mod collective;
mod contract;
mod control;
mod index;
mod order;
mod reduce;
mod scan;

pub use contract::{Convolution, DotOptions};
pub use control::{CustomCall, FunctionRef};
pub use reduce::Window;

use crate::{Graph, Shape, Tensor, block::Block, error::Mismatch};

impl Graph {
    /// Records a region in a graph of its own, with parameters of the given shapes.
    #[track_caller]
    fn record_region(
        &self,
        parameters: &[Shape],
        body: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Block {
        let graph = self.region();
        let tensors = graph.block_parameters(parameters);
        let results = body(&tensors);
        self.close_region(&graph, &results)
    }

    /// Records a region without parameters, on its own view of values from outside it.
    #[track_caller]
    fn record_branch(
        &self,
        operands: &[&Tensor],
        body: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Block {
        let graph = self.region();
        let mut inside = Vec::with_capacity(operands.len());
        for operand in operands {
            inside.push(match graph.import(operand) {
                Some(id) => graph.tensor(id, operand.shape().clone()),
                None => {
                    let mismatch = Mismatch::new("operands of this graph", "a value of another");
                    graph.fail("operand of a branch", vec![operand.shape().clone()], mismatch);
                    graph.stand_in(operand.shape().clone())
                }
            });
        }
        let results = body(&inside);
        self.close_region(&graph, &results)
    }

    /// One parameter of this graph's block for each shape.
    #[track_caller]
    fn block_parameters(&self, shapes: &[Shape]) -> Vec<Tensor> {
        // A closure would hide the line of model code.
        let mut parameters = Vec::with_capacity(shapes.len());
        for shape in shapes {
            parameters.push(self.block_parameter(shape.clone()));
        }
        parameters
    }

    /// The block of a region; results of a foreign graph are kept as the first error.
    #[track_caller]
    fn close_region(&self, region: &Graph, results: &[Tensor]) -> Block {
        match region.close(&results.iter().collect::<Vec<_>>()) {
            Ok(block) => block,
            Err(mismatch) => {
                let shapes = results.iter().map(|tensor| tensor.shape().clone()).collect();
                region.fail("stablehlo.return", shapes, mismatch);
                let failure = region.block().failure.clone();
                Block { failure, ..Block::default() }
            }
        }
    }

    /// A body on two scalars of each of the given dtypes, as reductions take it.
    #[track_caller]
    fn record_combiner(
        &self,
        values: &[&Tensor],
        body: impl FnOnce(&[Tensor], &[Tensor]) -> Vec<Tensor>,
    ) -> Block {
        let scalars: Vec<Shape> = values.iter().map(|value| Shape::scalar(value.dtype())).collect();
        self.record_region(&[&scalars[..], &scalars[..]].concat(), |parameters| {
            let (lhs, rhs) = parameters.split_at(values.len());
            body(lhs, rhs)
        })
    }
}
