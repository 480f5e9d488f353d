//! Control flow, calls, tuples and random bits.

use super::{operands, shapes};
use crate::{
    DType, Dictionary, RngAlgorithm, Shape, Symbol,
    attribute::{Aliases, Effect, RowMajor},
    error::Mismatch,
    op::{Inferred, Inputs, RegionType},
};

fn regions<'a, const N: usize>(inputs: &Inputs<'a>) -> Result<&'a [RegionType; N], Mismatch> {
    inputs
        .regions
        .try_into()
        .map_err(|_| Mismatch::new(format!("{N} regions"), inputs.regions.len().to_string()))
}

pub(crate) fn while_loop(inputs: &Inputs<'_>) -> Inferred {
    let [condition, body] = regions(inputs)?;
    let state = inputs.operands;
    let returns_pred = condition.results == [Shape::scalar(DType::Pred)];
    ensure!(returns_pred, "a condition that returns tensor<i1>", shapes(&condition.results))?;
    for region in [condition, body] {
        ensure!(
            region.parameters == state,
            format!("regions on {}", shapes(state)),
            shapes(&region.parameters),
        )?;
    }
    ensure!(
        body.results == state,
        format!("a body that returns {}", shapes(state)),
        shapes(&body.results),
    )?;
    Ok(state.to_vec())
}

/// Branches without parameters and with equal results.
fn branches(inputs: &Inputs<'_>) -> Inferred {
    let Some((first, rest)) = inputs.regions.split_first() else {
        return Err(Mismatch::new("a branch", "none"));
    };
    for region in rest {
        let expected = format!("branches that all return {}", shapes(&first.results));
        ensure!(region.results == first.results, expected, shapes(&region.results))?;
    }
    Ok(first.results.clone())
}

pub(crate) fn if_else(inputs: &Inputs<'_>) -> Inferred {
    let [pred] = operands(inputs)?;
    ensure!(*pred == Shape::scalar(DType::Pred), "a scalar pred", pred)?;
    branches(inputs)
}

pub(crate) fn case(inputs: &Inputs<'_>) -> Inferred {
    let [index] = operands(inputs)?;
    ensure!(*index == Shape::scalar(DType::I32), "a scalar i32", index)?;
    branches(inputs)
}

pub(crate) fn identity(inputs: &Inputs<'_>) -> Inferred {
    Ok(inputs.operands.to_vec())
}

pub(crate) fn declared(_: &Inputs<'_>, _: &Symbol, _: &Effect, results: &[Shape]) -> Inferred {
    Ok(results.to_vec())
}

#[expect(clippy::too_many_arguments, reason = "one for each attribute of the op")]
pub(crate) fn custom_call(
    inputs: &Inputs<'_>,
    target: &str,
    _has_side_effect: &bool,
    config: &Dictionary,
    _api_version: &i32,
    _operand_layouts: &RowMajor,
    _result_layouts: &RowMajor,
    aliases: &Aliases,
    results: &[Shape],
) -> Inferred {
    ensure!(!target.is_empty(), "the name of a call target", "an empty name")?;
    ensure!(config.names_are_given(), "attributes with names", "an empty name")?;
    let tuples = results.iter().any(|shape| shape.dtype == DType::Tuple);
    ensure!(!tuples || results.len() == 1, "one tuple, or results without", shapes(results))?;
    for &(result, operand) in &aliases.pairs {
        let pair = (results.get(result as usize), inputs.operands.get(operand as usize));
        let fits = matches!(pair, (Some(r), Some(o)) if r == o);
        ensure!(
            fits,
            format!("an operand of the shape of result {result}"),
            format!("operand {operand}"),
        )?;
    }
    Ok(results.to_vec())
}

pub(crate) fn tuple(inputs: &Inputs<'_>) -> Inferred {
    Ok(vec![Shape::tuple(inputs.operands)])
}

pub(crate) fn get_tuple_element(inputs: &Inputs<'_>, index: &i32) -> Inferred {
    let [tuple] = operands(inputs)?;
    let element = usize::try_from(*index).ok().and_then(|i| tuple.elements.get(i));
    element.cloned().map(|shape| vec![shape]).ok_or_else(|| {
        Mismatch::new(
            format!("a member from 0 to before {}", tuple.elements.len()),
            index.to_string(),
        )
    })
}

/// State sizes are those of the StableHLO specification.
pub(crate) fn rng_bit_generator(
    inputs: &Inputs<'_>,
    algorithm: &RngAlgorithm,
    shape: &Shape,
) -> Inferred {
    let [state] = operands(inputs)?;
    let words: &[i64] = match algorithm {
        RngAlgorithm::ThreeFry => &[2],
        RngAlgorithm::Philox | RngAlgorithm::Default => &[2, 3],
    };
    let fits = state.dtype == DType::U64 && state.rank() == 1 && words.contains(&state.dims[0]);
    ensure!(fits, format!("a state of ui64 with {words:?} words"), state)?;
    let bits = matches!(shape.dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
    ensure!(bits, "bits as ui8, ui16, ui32 or ui64", shape)?;
    Ok(vec![state.clone(), shape.clone()])
}
