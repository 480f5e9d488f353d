//! Comparisons by name, and sorting.

use crate::{DType, DTypes, Direction, Graph, Op, Shape, Tensor};

impl Tensor {
    /// Elementwise `self == rhs`.
    #[track_caller]
    pub fn eq(&self, rhs: &Tensor) -> Tensor {
        self.compare(rhs, Direction::Eq, None)
    }

    /// Elementwise `self != rhs`; true where either is NaN.
    #[track_caller]
    pub fn ne(&self, rhs: &Tensor) -> Tensor {
        self.compare(rhs, Direction::Ne, None)
    }

    /// Elementwise `self < rhs`.
    #[track_caller]
    pub fn lt(&self, rhs: &Tensor) -> Tensor {
        self.compare(rhs, Direction::Lt, None)
    }

    /// Elementwise `self <= rhs`.
    #[track_caller]
    pub fn le(&self, rhs: &Tensor) -> Tensor {
        self.compare(rhs, Direction::Le, None)
    }

    /// Elementwise `self > rhs`.
    #[track_caller]
    pub fn gt(&self, rhs: &Tensor) -> Tensor {
        self.compare(rhs, Direction::Gt, None)
    }

    /// Elementwise `self >= rhs`.
    #[track_caller]
    pub fn ge(&self, rhs: &Tensor) -> Tensor {
        self.compare(rhs, Direction::Ge, None)
    }

    /// The elements, but at least `min` and at most `max`; bounds are scalars or of equal dims.
    #[track_caller]
    pub fn clamp(&self, min: &Tensor, max: &Tensor) -> Tensor {
        Tensor::strict(Op::Clamp {}, &[min, self, max])
    }

    /// Elements in rising order along a dim; floats by total order, NaN last.
    #[track_caller]
    pub fn sort_rising(&self, dimension: i64) -> Tensor {
        if let Some(stand_in) = self.refused_unless(DTypes::ORDERED, "sort_rising") {
            return stand_in;
        }
        let results = self.graph.sort(&[self], dimension, true, |a, b| rises(&a[0], &b[0]));
        results[0].clone()
    }

    /// Positions, as `i32`, that put a dim in rising order; equal elements keep theirs.
    #[track_caller]
    pub fn argsort(&self, dimension: i64) -> Tensor {
        if let Some(stand_in) = self.refused_unless(DTypes::ORDERED, "argsort") {
            return stand_in;
        }
        let positions = self.graph.iota(self.shape().with_dtype(DType::I32), dimension);
        let results =
            self.graph.sort(&[self, &positions], dimension, true, |a, b| rises(&a[0], &b[0]));
        results[1].clone()
    }

    /// The `k` greatest elements of the last dim in falling order, and their positions as `i32`.
    #[track_caller]
    pub fn top_k(&self, k: i64) -> (Tensor, Tensor) {
        let mut results = self.graph.record(Op::TopK { k }, &[self], Vec::new(), 2);
        let positions = results.swap_remove(1);
        (results.swap_remove(0), positions)
    }
}

/// `a < b`, floats by total order.
#[track_caller]
fn rises(a: &Tensor, b: &Tensor) -> Tensor {
    let total = a.dtype().is_float().then_some(crate::CompareType::TotalOrder);
    a.compare(b, Direction::Lt, total)
}

impl Graph {
    /// Sorts slices along a dim of several tensors of equal dims together. `comes_before` gets the
    /// scalars of two positions.
    #[track_caller]
    pub fn sort(
        &self,
        operands: &[&Tensor],
        dimension: i64,
        is_stable: bool,
        comes_before: impl FnOnce(&[Tensor], &[Tensor]) -> Tensor,
    ) -> Vec<Tensor> {
        // A comparator's parameters alternate: both scalars of the first operand, of the second, ..
        let pairs: Vec<Shape> =
            operands.iter().flat_map(|t| vec![Shape::scalar(t.dtype()); 2]).collect();
        let graph = operands.first().map_or(self, |tensor| &tensor.graph);
        let region = graph.record_region(&pairs, |parameters| {
            let every_second = |from: usize| -> Vec<Tensor> {
                parameters.iter().skip(from).step_by(2).cloned().collect()
            };
            vec![comes_before(&every_second(0), &every_second(1))]
        });
        self.record(Op::Sort { dimension, is_stable }, operands, vec![region], operands.len())
    }
}
