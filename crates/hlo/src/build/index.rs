//! Positions known only when running.

use crate::{DType, GatherDims, Graph, Op, ScatterDims, Tensor, error::Mismatch};

impl Tensor {
    /// The window of `slice_sizes` whose first element is at `starts`, one integer scalar per dim;
    /// it is moved to lie inside.
    #[track_caller]
    pub fn dynamic_slice(&self, starts: &[&Tensor], slice_sizes: impl Into<Vec<i64>>) -> Tensor {
        let op = Op::DynamicSlice { slice_sizes: slice_sizes.into() };
        Tensor::strict(op, &[&[self], starts].concat())
    }

    /// A copy with `update` written at `starts`, one integer scalar per dim, moved to lie inside.
    #[track_caller]
    pub fn dynamic_update_slice(&self, update: &Tensor, starts: &[&Tensor]) -> Tensor {
        Tensor::strict(Op::DynamicUpdateSlice {}, &[&[self, update], starts].concat())
    }

    /// Whole slices along `dimension`, one for each index; each index is clamped to be inside.
    /// The dims of `indices` take the place of `dimension`.
    #[track_caller]
    pub fn take(&self, indices: &Tensor, dimension: i64) -> Tensor {
        let rank = self.rank() as i64;
        if !(0..rank).contains(&dimension) {
            let mismatch =
                Mismatch::new(format!("a dim from 0 to before {rank}"), dimension.to_string());
            self.graph.fail("stablehlo.gather", vec![self.shape().clone()], mismatch);
            return self.graph.stand_in(self.shape().clone());
        }
        let added = indices.rank() as i64 - 1;
        let mut slice_sizes = self.dims().to_vec();
        slice_sizes[dimension as usize] = 1;
        let dims = GatherDims {
            offset_dims: (0..dimension).chain(dimension + 1 + added..rank + added).collect(),
            collapsed_slice_dims: vec![dimension],
            start_index_map: vec![dimension],
            index_vector_dim: indices.rank() as i64,
            ..GatherDims::default()
        };
        self.gather(indices, dims, slice_sizes, false)
    }

    /// A slice of one dim: elements `start..limit`, all of the other dims.
    #[track_caller]
    pub fn slice_dim(&self, dimension: i64, start: i64, limit: i64) -> Tensor {
        let (mut starts, mut limits) = (vec![0; self.rank()], self.dims().to_vec());
        let at = usize::try_from(dimension).unwrap_or(usize::MAX);
        match (starts.get_mut(at), limits.get_mut(at)) {
            (Some(first), Some(last)) => (*first, *last) = (start, limit),
            _ => {
                let mismatch = Mismatch::new(
                    format!("a dim from 0 to before {}", self.rank()),
                    dimension.to_string(),
                );
                self.graph.fail("stablehlo.slice", vec![self.shape().clone()], mismatch);
            }
        }
        self.slice(starts, limits, vec![1; self.rank()])
    }

    /// Combines `updates` into the tensor at `indices` with `body`, which gets the old and the new
    /// scalar.
    #[track_caller]
    pub fn scatter(
        &self,
        indices: &Tensor,
        updates: &Tensor,
        dims: ScatterDims,
        body: impl FnOnce(&Tensor, &Tensor) -> Tensor,
    ) -> Tensor {
        let results =
            self.graph.scatter(&[self], indices, &[updates], dims, |a, b| vec![body(&a[0], &b[0])]);
        results[0].clone()
    }
}

impl Graph {
    /// Combines updates into several tensors of equal dims at the same positions. Updates that lie
    /// outside are dropped; `body` must be associative where positions repeat.
    #[track_caller]
    pub fn scatter(
        &self,
        values: &[&Tensor],
        indices: &Tensor,
        updates: &[&Tensor],
        dims: ScatterDims,
        body: impl FnOnce(&[Tensor], &[Tensor]) -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let region = self.combiner_of(values, body);
        let op = Op::Scatter {
            scatter_dimension_numbers: dims,
            indices_are_sorted: false,
            unique_indices: false,
        };
        self.record(op, &[values, &[indices], updates].concat(), vec![region], values.len())
    }

    /// Joins tensors that differ in one dim only.
    #[track_caller]
    pub fn concatenate(&self, tensors: &[&Tensor], dimension: i64) -> Tensor {
        self.record1(Op::Concatenate { dimension }, tensors)
    }

    /// A scalar `i32` constant, as positions and counters are.
    #[track_caller]
    pub fn index(&self, value: i32) -> Tensor {
        self.full(crate::Shape::scalar(DType::I32), value)
    }
}
