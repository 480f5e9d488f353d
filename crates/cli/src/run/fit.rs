//! Whether inputs are what a program takes.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use rectiflow_pjrt::{ElementType, Shape};

use super::dtype;
use super::input::{Elements, Input, Inputs};

/// The inputs in the order of the parameters, or one error that lists all that does not fit.
///
/// A plugin that does not tell its parameters checks them itself.
pub(super) fn fit(
    program: &str,
    parameters: Option<&[Option<Shape>]>,
    mut inputs: Inputs,
) -> Result<Vec<Input>> {
    let n = parameters.map_or(inputs.len(), <[_]>::len);
    let mut fitting = Vec::new();
    let mut problems = Vec::new();
    for i in 0..n {
        let shape = parameters.map(|parameters| parameters[i].as_ref());
        let expected = match &shape {
            Some(Some(shape)) => format!("expected {shape}"),
            Some(None) => "expected an array of dynamic size, which cannot be passed".to_owned(),
            None => "expected an array".to_owned(),
        };
        match inputs.remove(&i.to_string()) {
            None => problems.push(format!("parameter {i}: {expected}, found no input `{i}`")),
            Some(input) => match typed(input, shape) {
                Ok(input) => fitting.push(input),
                Err(found) => problems.push(format!("parameter {i}: {expected}, found {found}")),
            },
        }
    }
    let extra = inputs.values();
    problems.extend(extra.map(|input| format!("{}: there is no such parameter", input.source)));
    if problems.is_empty() {
        return Ok(fitting);
    }
    bail!("{}", message(program, n, &problems))
}

/// The input with its type settled, or what was found instead of the expected.
fn typed(mut input: Input, expected: Option<Option<&Shape>>) -> Result<Input, String> {
    let found = shown(&input);
    let fits = match (input.elements, expected) {
        (_, Some(None)) | (Elements::Untyped(_), None) => false,
        (Elements::Typed(_), None) => true,
        (Elements::Typed(element_type), Some(Some(shape))) => {
            shape.element_type() == element_type && shape.dims() == input.dims
        }
        (Elements::Untyped(bytes), Some(Some(shape))) => {
            let element_type = shape.element_type();
            input.elements = Elements::Typed(element_type);
            let is_untyped = dtype::is_untyped_in_numpy(element_type);
            is_untyped && element_type.host_bytes() == bytes && shape.dims() == input.dims
        }
    };
    if !fits {
        return Err(found);
    }
    let is_bool = input.elements == Elements::Typed(ElementType::Pred);
    if is_bool && let Some(byte) = input.bytes().iter().find(|byte| **byte > 1) {
        return Err(format!("a boolean that is {byte} in {}; it must be 0 or 1", input.source));
    }
    Ok(input)
}

fn shown(input: &Input) -> String {
    let elements = match input.elements {
        Elements::Typed(element_type) => element_type.to_string(),
        Elements::Untyped(bytes) => format!("untyped elements of {bytes} bytes "),
    };
    format!("{elements}{:?} ({})", input.dims, input.source)
}

fn message(program: &str, n: usize, problems: &[String]) -> String {
    let mut text = format!("the inputs do not fit `{program}`, which takes {n} parameters:");
    for problem in problems {
        let _ = write!(text, "\n  {problem}");
    }
    text.push_str(match n {
        0 => "\nrun it without --input",
        _ => {
            "\ngive --input a safetensors file with tensors named 0, 1, ..., or one .npy file for \
             each parameter in order; nothing is converted, so types and dimensions must be equal"
        }
    });
    text
}
