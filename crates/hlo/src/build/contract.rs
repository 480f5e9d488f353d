//! Dots and convolutions.

use super::reduce::{or_ones, or_zeros};
use crate::{
    ConvDims, DType, DotAlgorithm, DotDims, Op, Precision, Tensor, attribute::Flags,
    error::Mismatch, tensor::broadcast_dims,
};

/// How a dot computes; the default leaves all to the platform and keeps the left operand's dtype.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DotOptions {
    /// Element type of the result, and of the sums where the platform can.
    pub dtype: Option<DType>,
    /// Precision of each operand.
    pub precision: Option<[Precision; 2]>,
    /// The arithmetic, stated exactly.
    pub algorithm: Option<DotAlgorithm>,
}

/// How a convolution moves; an empty list means 1 (or no padding, no reversal) in every dim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Convolution {
    /// Which dim is what.
    pub dims: ConvDims,
    /// Distance between window positions.
    pub strides: Vec<i64>,
    /// Zeros added (or elements cut) before and after each spatial dim.
    pub padding: Vec<(i64, i64)>,
    /// Distance between elements of the input, zeros between: a transposed convolution's stride.
    pub input_dilation: Vec<i64>,
    /// Distance between elements of the kernel.
    pub kernel_dilation: Vec<i64>,
    /// Spatial dims in which the kernel is reversed.
    pub reversal: Vec<bool>,
    /// Groups of channels.
    pub feature_groups: i64,
    /// Groups of the batch.
    pub batch_groups: i64,
    /// Precision of input and kernel.
    pub precision: Option<[Precision; 2]>,
    /// Element type of the result; that of the input if `None`.
    pub dtype: Option<DType>,
}

impl Convolution {
    /// Stride 1, no padding, one group.
    pub fn new(dims: ConvDims) -> Convolution {
        Convolution {
            dims,
            strides: Vec::new(),
            padding: Vec::new(),
            input_dilation: Vec::new(),
            kernel_dilation: Vec::new(),
            reversal: Vec::new(),
            feature_groups: 1,
            batch_groups: 1,
            precision: None,
            dtype: None,
        }
    }
}

impl Tensor {
    /// Sums of products over contracting dims. The result has the batch dims, then the free dims of
    /// `self`, then those of `rhs`.
    #[track_caller]
    pub fn dot_general(&self, rhs: &Tensor, dims: DotDims, options: &DotOptions) -> Tensor {
        let op = Op::DotGeneral {
            dot_dimension_numbers: dims,
            precision_config: options.precision.map(|pair| pair.to_vec()),
            algorithm: options.algorithm.clone(),
            dtype: options.dtype.unwrap_or(self.dtype()),
        };
        Tensor::strict(op, &[self, rhs])
    }

    /// Matrix product by NumPy's rules: of `[.., n, k]` and `[.., k, m]`, leading dims broadcast; a
    /// vector on either side loses its dim.
    #[track_caller]
    pub fn matmul(&self, rhs: &Tensor) -> Tensor {
        if self.rank() == 0 || rhs.rank() == 0 {
            let mismatch = Mismatch::new("operands of at least 1 dim", "a scalar");
            self.graph.fail("matmul", vec![self.shape().clone(), rhs.shape().clone()], mismatch);
            return self.graph.stand_in(self.shape().clone());
        }
        let batch_rank = |tensor: &Tensor| tensor.rank().saturating_sub(2);
        let (lhs_batch, rhs_batch) = (batch_rank(self), batch_rank(rhs));
        let (lhs, rhs, rank) =
            match broadcast_dims(&self.dims()[..lhs_batch], &rhs.dims()[..rhs_batch]) {
                // A batch on one side only is a free dim there: no copy of the other side.
                Some(_) if rhs_batch == 0 || lhs_batch == 0 && rhs.rank() < 2 => {
                    (self.clone(), rhs.clone(), 0)
                }
                Some(batch) => {
                    let lhs = self.with_batch(&batch, lhs_batch);
                    (lhs, rhs.with_batch(&batch, rhs_batch), batch.len())
                }
                None => (self.clone(), rhs.clone(), lhs_batch.max(rhs_batch)),
            };
        let batch: Vec<i64> = (0..rank as i64).collect();
        let rhs_contracting = (rhs.rank() as i64 - 2).max(rank as i64);
        let dims = DotDims {
            lhs_batch: batch.clone(),
            rhs_batch: batch,
            lhs_contracting: vec![lhs.rank() as i64 - 1],
            rhs_contracting: vec![rhs_contracting],
        };
        lhs.dot_general(&rhs, dims, &DotOptions::default())
    }

    /// The value repeated so that its first `rank` dims become `batch`.
    #[track_caller]
    fn with_batch(&self, batch: &[i64], rank: usize) -> Tensor {
        self.broadcast_to([batch, &self.dims()[rank..]].concat())
    }

    /// Sums of products of `kernel` over each of its positions in `self`.
    #[track_caller]
    pub fn convolution(&self, kernel: &Tensor, options: &Convolution) -> Tensor {
        let spatial = options.dims.input_spatial.len();
        let op = Op::Convolution {
            window_strides: or_ones(&options.strides, spatial),
            padding: or_zeros(&options.padding, spatial),
            lhs_dilation: or_ones(&options.input_dilation, spatial),
            rhs_dilation: or_ones(&options.kernel_dilation, spatial),
            window_reversal: Flags(options.reversal.clone()),
            dimension_numbers: options.dims.clone(),
            feature_group_count: options.feature_groups,
            batch_group_count: options.batch_groups,
            precision_config: options.precision.map(|pair| pair.to_vec()),
            dtype: options.dtype.unwrap_or(self.dtype()),
        };
        Tensor::strict(op, &[self, kernel])
    }
}
