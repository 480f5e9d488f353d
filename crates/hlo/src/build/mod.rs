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

use crate::{Graph, Shape, Tensor, block::Block};

impl Graph {
    /// Records a region in a graph of its own, with parameters of the given shapes.
    #[track_caller]
    fn record_region(
        &self,
        parameters: &[Shape],
        body: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Block {
        let graph = self.region();
        let tensors: Vec<Tensor> =
            parameters.iter().map(|shape| graph.block_parameter(shape.clone())).collect();
        let results = body(&tensors);
        self.close_region(&graph, &results)
    }

    /// The block of a region; results of a foreign graph are kept as the first error.
    #[track_caller]
    fn close_region(&self, region: &Graph, results: &[Tensor]) -> Block {
        region.close(&results.iter().collect::<Vec<_>>()).unwrap_or_else(|mismatch| {
            self.fail("stablehlo.return", Vec::new(), mismatch);
            Block::default()
        })
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
