//! Which dims of the operands of a dot, convolution, gather or scatter play which part.

use crate::{Attribute, DType, attribute::list};

/// Dims of a `dot_general`: batch dims pair up, contracting dims are summed over.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DotDims {
    /// Batch dims of the left operand.
    pub lhs_batch: Vec<i64>,
    /// Batch dims of the right operand, in the same order.
    pub rhs_batch: Vec<i64>,
    /// Contracting dims of the left operand.
    pub lhs_contracting: Vec<i64>,
    /// Contracting dims of the right operand, in the same order.
    pub rhs_contracting: Vec<i64>,
}

/// `name = [..]` for the lists that are not empty, as StableHLO prints dimension numbers.
fn named_lists(lists: &[(&str, &[i64])]) -> String {
    list(
        lists
            .iter()
            .filter(|(_, dims)| !dims.is_empty())
            .map(|(name, dims)| format!("{name} = [{}]", list(*dims))),
    )
}

impl Attribute for DotDims {
    fn mlir(&self) -> Option<String> {
        let lists = named_lists(&[
            ("lhs_batching_dimensions", &self.lhs_batch),
            ("rhs_batching_dimensions", &self.rhs_batch),
            ("lhs_contracting_dimensions", &self.lhs_contracting),
            ("rhs_contracting_dimensions", &self.rhs_contracting),
        ]);
        Some(format!("#stablehlo.dot<{lists}>"))
    }
}

/// The arithmetic of a `dot_general`, when it is not left to the platform. A platform refuses at
/// compile time what it cannot do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DotAlgorithm {
    /// The left operand is rounded to this before multiplying.
    pub lhs_precision_type: DType,
    /// The right operand is rounded to this before multiplying.
    pub rhs_precision_type: DType,
    /// Products are summed in this.
    pub accumulation_type: DType,
    /// Parts the left operand is split into (1 unless emulating a wider type).
    pub lhs_component_count: i64,
    /// Parts the right operand is split into.
    pub rhs_component_count: i64,
    /// Products computed per pair of elements.
    pub num_primitive_operations: i64,
    /// Whether sums may now and then be rounded to less than `accumulation_type`.
    pub allow_imprecise_accumulation: bool,
}

impl DotAlgorithm {
    /// Operands in `operand`, summed in `accumulation`, one product a pair.
    pub fn new(operand: DType, accumulation: DType) -> DotAlgorithm {
        DotAlgorithm {
            lhs_precision_type: operand,
            rhs_precision_type: operand,
            accumulation_type: accumulation,
            lhs_component_count: 1,
            rhs_component_count: 1,
            num_primitive_operations: 1,
            allow_imprecise_accumulation: false,
        }
    }
}

impl Attribute for DotAlgorithm {
    fn mlir(&self) -> Option<String> {
        Some(format!(
            "#stablehlo.dot_algorithm<lhs_precision_type = {}, rhs_precision_type = {}, \
             accumulation_type = {}, lhs_component_count = {}, rhs_component_count = {}, \
             num_primitive_operations = {}, allow_imprecise_accumulation = {}>",
            self.lhs_precision_type,
            self.rhs_precision_type,
            self.accumulation_type,
            self.lhs_component_count,
            self.rhs_component_count,
            self.num_primitive_operations,
            self.allow_imprecise_accumulation
        ))
    }
}

/// Dims of a convolution's input, kernel and output.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ConvDims {
    /// Batch dim of the input.
    pub input_batch: i64,
    /// Channel dim of the input.
    pub input_feature: i64,
    /// Spatial dims of the input, in window order.
    pub input_spatial: Vec<i64>,
    /// Input channel dim of the kernel.
    pub kernel_input_feature: i64,
    /// Output channel dim of the kernel.
    pub kernel_output_feature: i64,
    /// Spatial dims of the kernel.
    pub kernel_spatial: Vec<i64>,
    /// Batch dim of the output.
    pub output_batch: i64,
    /// Channel dim of the output.
    pub output_feature: i64,
    /// Spatial dims of the output.
    pub output_spatial: Vec<i64>,
}

impl ConvDims {
    /// Input `[n, c, s..]`, kernel `[o, i, s..]`, output `[n, c, s..]`, as PyTorch stores them.
    pub fn nchw(spatial_rank: usize) -> ConvDims {
        let spatial: Vec<i64> = (2..2 + spatial_rank as i64).collect();
        ConvDims {
            input_batch: 0,
            input_feature: 1,
            input_spatial: spatial.clone(),
            kernel_input_feature: 1,
            kernel_output_feature: 0,
            kernel_spatial: spatial.clone(),
            output_batch: 0,
            output_feature: 1,
            output_spatial: spatial,
        }
    }

    /// Input `[n, s.., c]`, kernel `[s.., i, o]`, output `[n, s.., c]`.
    pub fn nhwc(spatial_rank: usize) -> ConvDims {
        let rank = spatial_rank as i64;
        ConvDims {
            input_batch: 0,
            input_feature: rank + 1,
            input_spatial: (1..=rank).collect(),
            kernel_input_feature: rank,
            kernel_output_feature: rank + 1,
            kernel_spatial: (0..rank).collect(),
            output_batch: 0,
            output_feature: rank + 1,
            output_spatial: (1..=rank).collect(),
        }
    }
}

/// `[b, 0, 1, f]`: the letter or spatial number that stands at each dim.
fn layout(first: (char, i64), second: (char, i64), spatial: &[i64]) -> String {
    let mut parts: Vec<(i64, String)> =
        vec![(first.1, first.0.to_string()), (second.1, second.0.to_string())];
    parts.extend(spatial.iter().enumerate().map(|(i, &dim)| (dim, i.to_string())));
    parts.sort_by_key(|(dim, _)| *dim);
    format!("[{}]", list(parts.into_iter().map(|(_, part)| part)))
}

impl Attribute for ConvDims {
    fn mlir(&self) -> Option<String> {
        let input = layout(('b', self.input_batch), ('f', self.input_feature), &self.input_spatial);
        let kernel = layout(
            ('i', self.kernel_input_feature),
            ('o', self.kernel_output_feature),
            &self.kernel_spatial,
        );
        let output =
            layout(('b', self.output_batch), ('f', self.output_feature), &self.output_spatial);
        Some(format!("#stablehlo.conv<{input}x{kernel}->{output}>"))
    }
}

/// Dims of a gather. The names are StableHLO's.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct GatherDims {
    /// Dims of the result that index into the slice.
    pub offset_dims: Vec<i64>,
    /// Dims of the operand that the slice drops (of slice size 1), rising.
    pub collapsed_slice_dims: Vec<i64>,
    /// Dims of the operand that go with batch dims of the indices, rising.
    pub operand_batching_dims: Vec<i64>,
    /// Dims of the indices that go with batch dims of the operand.
    pub start_indices_batching_dims: Vec<i64>,
    /// Dim of the operand that each component of an index vector is for.
    pub start_index_map: Vec<i64>,
    /// Dim of the indices that holds the index vector; its rank when each index is a scalar.
    pub index_vector_dim: i64,
}

impl Attribute for GatherDims {
    fn mlir(&self) -> Option<String> {
        let lists = named_lists(&[
            ("offset_dims", &self.offset_dims),
            ("collapsed_slice_dims", &self.collapsed_slice_dims),
            ("operand_batching_dims", &self.operand_batching_dims),
            ("start_indices_batching_dims", &self.start_indices_batching_dims),
            ("start_index_map", &self.start_index_map),
        ]);
        Some(with_vector_dim("gather", &lists, self.index_vector_dim))
    }
}

fn with_vector_dim(attribute: &str, lists: &str, index_vector_dim: i64) -> String {
    let comma = if lists.is_empty() { "" } else { ", " };
    format!("#stablehlo.{attribute}<{lists}{comma}index_vector_dim = {index_vector_dim}>")
}

/// Dims of a scatter. The names are StableHLO's.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ScatterDims {
    /// Dims of the updates that index into the window.
    pub update_window_dims: Vec<i64>,
    /// Dims of the input that the window lacks, rising.
    pub inserted_window_dims: Vec<i64>,
    /// Dims of the input that go with batch dims of the indices, rising.
    pub input_batching_dims: Vec<i64>,
    /// Dims of the indices that go with batch dims of the input.
    pub scatter_indices_batching_dims: Vec<i64>,
    /// Dim of the input that each component of an index vector is for.
    pub scatter_dims_to_operand_dims: Vec<i64>,
    /// Dim of the indices that holds the index vector; its rank when each index is a scalar.
    pub index_vector_dim: i64,
}

impl Attribute for ScatterDims {
    fn mlir(&self) -> Option<String> {
        let lists = named_lists(&[
            ("update_window_dims", &self.update_window_dims),
            ("inserted_window_dims", &self.inserted_window_dims),
            ("input_batching_dims", &self.input_batching_dims),
            ("scatter_indices_batching_dims", &self.scatter_indices_batching_dims),
            ("scatter_dims_to_operand_dims", &self.scatter_dims_to_operand_dims),
        ]);
        Some(with_vector_dim("scatter", &lists, self.index_vector_dim))
    }
}
