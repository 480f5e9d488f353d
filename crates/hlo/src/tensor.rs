//! Traced values, broadcasting and operators.

use std::{
    fmt,
    ops::{Add, Div, Mul, Neg, Sub},
    sync::Arc,
};

use crate::{
    DType, DTypes, Graph, Number, Op, Shape, block::ValueId, eager::Handle, error::Mismatch,
};

/// A value of a graph: an input, a constant, or a result of an op. Cloning copies the handle.
#[derive(Clone)]
pub struct Tensor {
    pub(crate) graph: Graph,
    pub(crate) id: ValueId,
    pub(crate) shape: Arc<Shape>,
    /// Of a value of an eager graph.
    pub(crate) handle: Option<Handle>,
}

impl Tensor {
    /// The graph this is a value of.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its dims.
    pub fn dims(&self) -> &[i64] {
        &self.shape.dims
    }

    /// Its element type.
    pub fn dtype(&self) -> DType {
        self.shape.dtype
    }

    /// Number of dims.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Records an op on operands as they are.
    #[track_caller]
    pub(crate) fn strict(op: Op, operands: &[&Tensor]) -> Tensor {
        operands[0].graph.record1(op, operands)
    }

    /// Records an op on operands brought to one shape, by NumPy's rules: dims align at the end, a
    /// missing or unit dim repeats.
    #[track_caller]
    pub(crate) fn broadcast(op: Op, operands: &[&Tensor]) -> Tensor {
        if operands.iter().all(|tensor| tensor.dims() == operands[0].dims()) {
            return Tensor::strict(op, operands);
        }
        let mut dims: Vec<i64> = Vec::new();
        for tensor in operands {
            match broadcast_dims(&dims, tensor.dims()) {
                Some(both) => dims = both,
                // The op's own rule refuses the operands as they are, with their shapes.
                None => return Tensor::strict(op, operands),
            }
        }
        // A closure would hide the line of model code.
        let mut repeated = Vec::with_capacity(operands.len());
        for tensor in operands {
            repeated.push(tensor.broadcast_to(&dims[..]));
        }
        Tensor::strict(op, &repeated.iter().collect::<Vec<_>>())
    }

    /// A stand-in if the element type is not one that a helper can take, before the helper's own
    /// body would fail at a line that is not the model's.
    #[track_caller]
    pub(crate) fn refused_unless(&self, dtypes: DTypes, helper: &'static str) -> Option<Tensor> {
        if dtypes.contains(self.dtype()) {
            return None;
        }
        let shape = self.shape().clone();
        let mismatch = Mismatch::new(dtypes.to_string(), shape.to_string());
        self.graph.fail(helper, vec![shape.clone()], mismatch);
        Some(self.graph.stand_in(shape))
    }

    /// The value repeated to `dims`, which must end in its own dims, or 1 where they repeat.
    #[track_caller]
    pub fn broadcast_to(&self, dims: impl Into<Vec<i64>>) -> Tensor {
        let dims = dims.into();
        if dims == self.dims() {
            return self.clone();
        }
        if broadcast_dims(self.dims(), &dims).as_ref() != Some(&dims) {
            let expected = format!("dims that {:?} repeats to", self.dims());
            let mismatch = Mismatch::new(expected, format!("{dims:?}"));
            self.graph.fail("stablehlo.broadcast_in_dim", vec![self.shape().clone()], mismatch);
            return self.graph.stand_in(self.shape().with_dims(dims));
        }
        let offset = dims.len() - self.rank();
        self.broadcast_in_dim((offset as i64..dims.len() as i64).collect::<Vec<_>>(), dims)
    }

    /// A constant of this tensor's shape.
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Number>) -> Tensor {
        self.graph.full(self.shape().clone(), value)
    }

    /// A scalar constant of this tensor's element type.
    #[track_caller]
    pub fn scalar_like(&self, value: impl Into<Number>) -> Tensor {
        self.graph.full(Shape::scalar(self.dtype()), value)
    }
}

/// Dims that both repeat to, if there are any.
pub(crate) fn broadcast_dims(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let rank = a.len().max(b.len());
    let dim_from_end =
        |dims: &[i64], i: usize| dims.len().checked_sub(i + 1).map_or(1, |at| dims[at]);
    let mut dims = (0..rank)
        .map(|i| match (dim_from_end(a, i), dim_from_end(b, i)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect::<Option<Vec<i64>>>()?;
    dims.reverse();
    Some(dims)
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}: {}", self.id.0, self.shape)
    }
}

macro_rules! operator {
    ($Trait:ident, $method:ident, $op:ident) => {
        impl $Trait<&Tensor> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: &Tensor) -> Tensor {
                Tensor::$op(self, rhs)
            }
        }
        operator!(@forward $Trait, $method, Tensor, &Tensor, |a, b| Tensor::$op(&a, b));
        operator!(@forward $Trait, $method, &Tensor, Tensor, |a, b| Tensor::$op(a, &b));
        operator!(@forward $Trait, $method, Tensor, Tensor, |a, b| Tensor::$op(&a, &b));
        operator!(@forward $Trait, $method, &Tensor, f64, |a, b| Tensor::$op(a, &a.scalar_like(b)));
        operator!(@forward $Trait, $method, Tensor, f64, |a, b| Tensor::$op(&a, &a.scalar_like(b)));
        operator!(@forward $Trait, $method, f64, &Tensor, |a, b| Tensor::$op(&b.scalar_like(a), b));
        operator!(@forward $Trait, $method, f64, Tensor, |a, b| Tensor::$op(&b.scalar_like(a), &b));
    };
    (@forward $Trait:ident, $method:ident, $L:ty, $R:ty, |$a:ident, $b:ident| $body:expr) => {
        impl $Trait<$R> for $L {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: $R) -> Tensor {
                let ($a, $b) = (self, rhs);
                $body
            }
        }
    };
}
operator!(Add, add, add);
operator!(Sub, sub, subtract);
operator!(Mul, mul, multiply);
operator!(Div, div, divide);

impl Neg for &Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        self.negate()
    }
}

impl Neg for Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        self.negate()
    }
}
