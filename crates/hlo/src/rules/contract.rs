//! Sums of products.

use super::{ensure_distinct_dims, ensure_per_dim, operands, reduce::WindowDim};
use crate::{
    Class, ConvDims, DType, DotAlgorithm, DotDims, Pairs, Precision, Shape,
    attribute::Flags,
    error::Mismatch,
    op::{Inferred, Inputs},
};

fn ensure_operand_types(lhs: &Shape, rhs: &Shape, result: DType) -> Result<(), Mismatch> {
    let complex = |dtype: DType| dtype.class() == Class::Complex;
    let found = format!("{lhs} and {rhs} to {result}");
    let alike = complex(lhs.dtype) == complex(rhs.dtype) && complex(lhs.dtype) == complex(result);
    ensure!(alike && result.bits() > 0, "complex operands and result, or none", &found)?;
    let mixed = lhs.dtype.is_float() == rhs.dtype.is_float();
    ensure!(mixed, "operands both floats or both integers", &found)
}

fn ensure_precision(precision: &Option<Vec<Precision>>) -> Result<(), Mismatch> {
    let count = precision.as_ref().map_or(2, Vec::len);
    ensure!(count == 2, "a precision for each of 2 operands", count)
}

pub(crate) fn dot_general(
    inputs: &Inputs<'_>,
    dims: &DotDims,
    precision: &Option<Vec<Precision>>,
    algorithm: &Option<DotAlgorithm>,
    dtype: &DType,
) -> Inferred {
    let [lhs, rhs] = operands(inputs)?;
    ensure_operand_types(lhs, rhs, *dtype)?;
    ensure_precision(precision)?;
    let positive = algorithm.as_ref().is_none_or(|a| {
        a.lhs_component_count >= 1 && a.rhs_component_count >= 1 && a.num_primitive_operations >= 1
    });
    ensure!(positive, "counts of at least 1 in a dot algorithm", format!("{algorithm:?}"))?;
    let default = precision.iter().flatten().all(|p| *p == Precision::Default);
    ensure!(
        algorithm.is_none() || default,
        "no precision, or the default one, beside an algorithm",
        format!("{precision:?}"),
    )?;
    let lhs_used = [&dims.lhs_batch[..], &dims.lhs_contracting[..]].concat();
    let rhs_used = [&dims.rhs_batch[..], &dims.rhs_contracting[..]].concat();
    ensure_distinct_dims(&lhs_used, lhs)?;
    ensure_distinct_dims(&rhs_used, rhs)?;
    ensure_equal_sizes("batch", (lhs, &dims.lhs_batch), (rhs, &dims.rhs_batch))?;
    ensure_equal_sizes("contracting", (lhs, &dims.lhs_contracting), (rhs, &dims.rhs_contracting))?;
    let free = |shape: &Shape, used: &[i64]| -> Vec<i64> {
        let unused = |dim: &usize| !used.contains(&(*dim as i64));
        (0..shape.rank()).filter(unused).map(|dim| shape.dims[dim]).collect()
    };
    let mut result: Vec<i64> = dims.lhs_batch.iter().map(|&dim| lhs.dims[dim as usize]).collect();
    result.extend(free(lhs, &lhs_used));
    result.extend(free(rhs, &rhs_used));
    Ok(vec![Shape::new(*dtype, result)])
}

fn ensure_equal_sizes(
    kind: &str,
    lhs: (&Shape, &[i64]),
    rhs: (&Shape, &[i64]),
) -> Result<(), Mismatch> {
    let sizes = |(shape, dims): (&Shape, &[i64])| -> Vec<i64> {
        dims.iter().map(|&dim| shape.dims[dim as usize]).collect()
    };
    let (left, right) = (sizes(lhs), sizes(rhs));
    ensure!(left == right, format!("{kind} dims of equal size"), format!("{left:?} and {right:?}"))
}

#[expect(clippy::too_many_arguments, reason = "one for each attribute of the op")]
pub(crate) fn convolution(
    inputs: &Inputs<'_>,
    strides: &[i64],
    padding: &Pairs,
    lhs_dilation: &[i64],
    rhs_dilation: &[i64],
    reversal: &Flags,
    dims: &ConvDims,
    feature_groups: &i64,
    batch_groups: &i64,
    precision: &Option<Vec<Precision>>,
    dtype: &DType,
) -> Inferred {
    let [lhs, rhs] = operands(inputs)?;
    ensure_operand_types(lhs, rhs, *dtype)?;
    ensure_precision(precision)?;
    let spatial = dims.input_spatial.len();
    ensure_conv_dims(dims, lhs, rhs)?;
    for (name, numbers) in [
        ("window strides", strides),
        ("input dilations", lhs_dilation),
        ("kernel dilations", rhs_dilation),
    ] {
        ensure_per_dim(name, numbers, spatial)?;
    }
    ensure!(padding.0.len() == spatial, format!("{spatial} pairs of padding"), padding.0.len())?;
    let reversals = reversal.0.len();
    ensure!(
        reversals == 0 || reversals == spatial,
        format!("{spatial} window reversals, or none"),
        reversals,
    )?;
    let (batch, out_features) = ensure_groups(dims, lhs, rhs, *feature_groups, *batch_groups)?;
    let mut result = vec![0; spatial + 2];
    result[dims.output_batch as usize] = batch / batch_groups;
    result[dims.output_feature as usize] = out_features;
    for i in 0..spatial {
        let window = WindowDim {
            size: rhs.dims[dims.kernel_spatial[i] as usize],
            stride: strides[i],
            base_dilation: lhs_dilation[i],
            window_dilation: rhs_dilation[i],
            padding: padding.0[i],
        };
        let input = lhs.dims[dims.input_spatial[i] as usize];
        result[dims.output_spatial[i] as usize] = window.positions(input)?;
    }
    Ok(vec![Shape::new(*dtype, result)])
}

/// Input, kernel and output each have two named dims and equally many spatial ones.
fn ensure_conv_dims(dims: &ConvDims, lhs: &Shape, rhs: &Shape) -> Result<(), Mismatch> {
    let all = |a: i64, b: i64, spatial: &[i64]| [&[a, b], spatial].concat();
    let output = Shape::new(lhs.dtype, vec![0; dims.input_spatial.len() + 2]);
    let layouts = [
        (lhs, all(dims.input_batch, dims.input_feature, &dims.input_spatial)),
        (rhs, all(dims.kernel_input_feature, dims.kernel_output_feature, &dims.kernel_spatial)),
        (&output, all(dims.output_batch, dims.output_feature, &dims.output_spatial)),
    ];
    for (shape, numbers) in &layouts {
        ensure_per_dim("dimension numbers", numbers, shape.rank())?;
        ensure_distinct_dims(numbers, shape)?;
        ensure!(shape.rank() == output.rank(), format!("{} dims", output.rank()), shape)?;
    }
    Ok(())
}

/// Channel and batch counts fit the groups; the input's batch and the kernel's output channels.
fn ensure_groups(
    dims: &ConvDims,
    lhs: &Shape,
    rhs: &Shape,
    feature_groups: i64,
    batch_groups: i64,
) -> Result<(i64, i64), Mismatch> {
    let batch = lhs.dims[dims.input_batch as usize];
    let in_features = lhs.dims[dims.input_feature as usize];
    let kernel_in = rhs.dims[dims.kernel_input_feature as usize];
    let out_features = rhs.dims[dims.kernel_output_feature as usize];
    let counts = format!("feature_group_count {feature_groups}, batch_group_count {batch_groups}");
    let valid =
        feature_groups >= 1 && batch_groups >= 1 && (feature_groups == 1 || batch_groups == 1);
    ensure!(valid, "group counts of at least 1, one of them 1", &counts)?;
    ensure!(
        kernel_in.checked_mul(feature_groups) == Some(in_features),
        format!("{in_features} input channels / {feature_groups} groups in the kernel"),
        kernel_in,
    )?;
    let divides = out_features % feature_groups == 0
        && out_features % batch_groups == 0
        && batch % batch_groups == 0;
    ensure!(
        divides,
        format!("{out_features} output channels and batch {batch} that the groups divide"),
        &counts,
    )?;
    Ok((batch, out_features))
}
