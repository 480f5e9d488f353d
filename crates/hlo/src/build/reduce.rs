//! Reductions, windows, and what is made of them.

use crate::{DType, DTypes, Graph, Literal, Number, Op, Pairs, Shape, Tensor};

impl Graph {
    /// Folds `dimensions` of several values of equal dims together. `body` takes the running and
    /// the next scalar of each and must be associative; `inits` are its neutral scalars.
    #[track_caller]
    pub fn reduce(
        &self,
        values: &[&Tensor],
        inits: &[&Tensor],
        dimensions: impl Into<Vec<i64>>,
        body: impl FnOnce(&[Tensor], &[Tensor]) -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let region = self.combiner_of(values, body);
        let op = Op::Reduce { dimensions: dimensions.into() };
        self.record(op, &[values, inits].concat(), vec![region], values.len())
    }

    #[track_caller]
    pub(super) fn combiner_of(
        &self,
        values: &[&Tensor],
        body: impl FnOnce(&[Tensor], &[Tensor]) -> Vec<Tensor>,
    ) -> crate::block::Block {
        let graph = values.first().map_or(self, |value| &value.graph);
        graph.record_combiner(values, body)
    }
}

/// Numbers of a moving window; an empty list means 1 (or no padding) in every dim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// Size in each dim.
    pub dimensions: Vec<i64>,
    /// Distance between positions.
    pub strides: Vec<i64>,
    /// Distance between elements of the operand, zeros (initial values) between.
    pub base_dilations: Vec<i64>,
    /// Distance between elements of the window.
    pub window_dilations: Vec<i64>,
    /// Initial values added (or cut) before and after each dim.
    pub padding: Vec<(i64, i64)>,
}

impl Window {
    /// A window of the given size, moving by 1.
    pub fn new(dimensions: impl Into<Vec<i64>>) -> Window {
        Window { dimensions: dimensions.into(), ..Window::default() }
    }
}

/// `numbers`, or ones if there are none.
pub(super) fn or_ones(numbers: &[i64], rank: usize) -> Vec<i64> {
    if numbers.is_empty() { vec![1; rank] } else { numbers.to_vec() }
}

/// `pairs`, or zeros if there are none.
pub(super) fn or_zeros(pairs: &[(i64, i64)], rank: usize) -> Pairs {
    if pairs.is_empty() { Pairs(vec![(0, 0); rank]) } else { Pairs(pairs.to_vec()) }
}

impl Tensor {
    /// Folds `dimensions` with `body`, which must be associative and have `init` as its neutral
    /// scalar.
    #[track_caller]
    pub fn reduce(
        &self,
        init: &Tensor,
        dimensions: impl Into<Vec<i64>>,
        body: impl FnOnce(&Tensor, &Tensor) -> Tensor,
    ) -> Tensor {
        let mut results =
            self.graph.reduce(&[self], &[init], dimensions, |a, b| vec![body(&a[0], &b[0])]);
        results.swap_remove(0)
    }

    /// Folds each position of `window` with `body`.
    #[track_caller]
    pub fn reduce_window(
        &self,
        init: &Tensor,
        window: &Window,
        body: impl FnOnce(&Tensor, &Tensor) -> Tensor,
    ) -> Tensor {
        let rank = self.rank();
        let region = self.graph.record_combiner(&[self], |a, b| vec![body(&a[0], &b[0])]);
        let op = Op::ReduceWindow {
            window_dimensions: window.dimensions.clone(),
            window_strides: or_ones(&window.strides, rank),
            base_dilations: or_ones(&window.base_dilations, rank),
            window_dilations: or_ones(&window.window_dilations, rank),
            padding: or_zeros(&window.padding, rank),
        };
        self.graph.record(op, &[self, init], vec![region], 1).swap_remove(0)
    }

    /// Sum over dims, in the tensor's own dtype.
    #[track_caller]
    pub fn sum(&self, dimensions: impl Into<Vec<i64>>) -> Tensor {
        self.reduce(&self.scalar_like(0), dimensions, |a, b| a.add(b))
    }

    /// Product over dims, in the tensor's own dtype.
    #[track_caller]
    pub fn product(&self, dimensions: impl Into<Vec<i64>>) -> Tensor {
        self.reduce(&self.scalar_like(1), dimensions, |a, b| a.multiply(b))
    }

    /// Greatest over dims; NaN if any is; the least value of the dtype over none.
    #[track_caller]
    pub fn max(&self, dimensions: impl Into<Vec<i64>>) -> Tensor {
        if let Some(stand_in) = self.refused_unless(DTypes::ORDERED, "max") {
            return stand_in;
        }
        self.reduce(&self.extreme_like(false), dimensions, |a, b| a.maximum(b))
    }

    /// Least over dims; NaN if any is; the greatest value of the dtype over none.
    #[track_caller]
    pub fn min(&self, dimensions: impl Into<Vec<i64>>) -> Tensor {
        if let Some(stand_in) = self.refused_unless(DTypes::ORDERED, "min") {
            return stand_in;
        }
        self.reduce(&self.extreme_like(true), dimensions, |a, b| a.minimum(b))
    }

    /// Mean over dims: the sum divided by the count. Floats of less than 32 bits are summed in
    /// `f32`, since neither the sum nor the count need fit in their own type.
    #[track_caller]
    pub fn mean(&self, dimensions: impl Into<Vec<i64>>) -> Tensor {
        if self.dtype().is_float() && self.dtype().bits() < 32 {
            return self.convert(DType::F32).mean(dimensions).convert(self.dtype());
        }
        let dimensions = dimensions.into();
        let size =
            |&dim: &i64| usize::try_from(dim).ok().and_then(|dim| self.dims().get(dim)).copied();
        let sizes = dimensions.iter().filter_map(size);
        let count = sizes.fold(1i128, |count, size| count.saturating_mul(size.into()));
        let sum = self.sum(dimensions);
        sum.divide(&sum.scalar_like(count))
    }

    /// Position of the greatest element along a dim, as `i32`: the first of equals, or of the NaNs.
    #[track_caller]
    pub fn argmax(&self, dimension: i64) -> Tensor {
        self.arg_extreme(dimension, false)
    }

    /// Position of the least element along a dim, as `i32`: the first of equals, or of the NaNs.
    #[track_caller]
    pub fn argmin(&self, dimension: i64) -> Tensor {
        self.arg_extreme(dimension, true)
    }

    #[track_caller]
    fn arg_extreme(&self, dimension: i64, least: bool) -> Tensor {
        if let Some(stand_in) =
            self.refused_unless(DTypes::ORDERED, if least { "argmin" } else { "argmax" })
        {
            return stand_in;
        }
        let positions = self.graph.iota(self.shape().with_dtype(DType::I32), dimension);
        let inits = [self.extreme_like(least), positions.scalar_like(0)];
        let results =
            self.graph.reduce(&[self, &positions], &[&inits[0], &inits[1]], [dimension], |a, b| {
                let better = if least { a[0].lt(&b[0]) } else { a[0].gt(&b[0]) };
                // A NaN is the only value that differs from itself; it wins over numbers.
                let first = better.or(&a[0].ne(&a[0]).and(&b[0].eq(&b[0])));
                let tied = a[0].eq(&b[0]).or(&a[0].ne(&a[0]).and(&b[0].ne(&b[0])));
                let keep = first.or(&tied.and(&a[1].lt(&b[1])));
                vec![keep.select(&a[0], &b[0]), keep.select(&a[1], &b[1])]
            });
        results[1].clone()
    }

    /// Bitwise or over dims: of `pred`, whether any is true.
    #[track_caller]
    pub fn any(&self, dimensions: impl Into<Vec<i64>>) -> Tensor {
        if let Some(stand_in) = self.refused_unless(DTypes::BITS, "any") {
            return stand_in;
        }
        self.reduce(&self.scalar_like(0), dimensions, |a, b| a.or(b))
    }

    /// Bitwise and over dims: of `pred`, whether all are true.
    #[track_caller]
    pub fn all(&self, dimensions: impl Into<Vec<i64>>) -> Tensor {
        if let Some(stand_in) = self.refused_unless(DTypes::BITS, "all") {
            return stand_in;
        }
        self.reduce(&self.scalar_like(0).not(), dimensions, |a, b| a.and(b))
    }

    /// The greatest (or least) value of the element type, a scalar.
    #[track_caller]
    fn extreme_like(&self, greatest: bool) -> Tensor {
        let Some(number) = extreme(self.dtype(), greatest) else { return self.scalar_like(0) };
        match Literal::splat(Shape::scalar(self.dtype()), number) {
            Ok(literal) => self.graph.constant(literal),
            Err(_) => self.scalar_like(0),
        }
    }
}

/// Infinity where the type has it; `None` for types without an order.
fn extreme(dtype: DType, greatest: bool) -> Option<Number> {
    use crate::Class::{Complex, Float, None as Nothing, Pred, Signed, Unsigned};
    let sign = if greatest { 1.0 } else { -1.0 };
    Some(match (dtype.class(), dtype) {
        (Pred, _) => Number::from(greatest),
        (Unsigned, _) => Number::from(if greatest { (1i128 << dtype.bits()) - 1 } else { 0 }),
        (Signed, _) => {
            let half = 1i128 << (dtype.bits() - 1);
            Number::from(if greatest { half - 1 } else { -half })
        }
        (Float, DType::F8E8M0FNU) => Number::from(2f64.powi(if greatest { 127 } else { -127 })),
        // Types without infinities: their greatest finite value.
        (
            Float,
            DType::F4E2M1FN
            | DType::F8E4M3FN
            | DType::F8E4M3FNUZ
            | DType::F8E4M3B11FNUZ
            | DType::F8E5M2FNUZ,
        ) => Number::from(sign * dtype.greatest_finite()),
        (Float, _) => Number::from(sign * f64::INFINITY),
        (Complex | Nothing, _) => return None,
    })
}
