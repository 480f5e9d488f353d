//! Every row of the op table that has a meaning, on every dtype that it allows.
//!
//! The rows are the cases: a new elementwise row needs nothing here. [`bounds`] says how close an
//! op that is not exact must be, [`quirks`] which operands the plugin is known to get wrong.

pub mod bounds;
pub mod layout;
pub mod quirks;
pub mod reference;

use rectiflow_hlo::{Class, DType, Meaning, Row, Shape};

use crate::{Bound, Case, Value};

use super::samples::{Random, complex_edges, numbers};
use quirks::Quirk;

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (row, meaning) in reference::rows() {
        for dtype in row.dtypes.iter() {
            let operands = samples(row, dtype);
            let known: Vec<&Quirk> = quirks::of(row, dtype).collect();
            let right =
                quirks::keep(&operands, |x| !known.iter().any(|quirk| (quirk.hits)(dtype, x)));
            cases.push(case(row, &meaning, format!("values of {dtype}"), right));
        }
        cases.extend(layout::cases(row, &meaning));
    }
    cases
}

/// A case on operands of one shape.
pub fn case(row: &'static Row, meaning: &Meaning, name: String, operands: Vec<Value>) -> Case {
    let record = row.record.expect("an elementwise row records itself");
    let dtype = operands[0].shape.dtype;
    let shape = reference::result_shape(row, &operands);
    let [expected, flushed @ ..] = reference::evaluate_flushing(meaning, &shape, &operands);
    let case = Case::new(
        row.mnemonic,
        name,
        operands,
        move |_, x| vec![record(&x.iter().collect::<Vec<_>>())],
        vec![expected],
    );
    let case = flushed.into_iter().fold(case, |case, flushed| case.or(vec![flushed]));
    case.within(bounds::of(row.mnemonic, dtype))
}

/// Interesting operands: many numbers for one operand, all pairs of fewer for two.
pub fn samples(row: &Row, dtype: DType) -> Vec<Value> {
    const ONE: usize = 600;
    const EACH_OF_TWO: usize = 48;
    let mut random = Random::new(dtype.bits().into());
    // Elsewhere infinite parts meet as many conventions as there are formulas.
    let whole_plane =
        dtype.class() == Class::Complex && matches!(bounds::of(row.mnemonic, dtype), Bound::Exact);
    let numbers = if whole_plane { complex_edges } else { numbers };
    match row.operands.len() {
        0 => vec![numbers(dtype, ONE, &mut random).value(dtype)],
        1 => {
            let some = numbers(dtype, EACH_OF_TWO, &mut random).value(dtype);
            pairs(&some)
        }
        n => panic!("{} takes {} operands, and samples are of one or two", row.mnemonic, n + 1),
    }
}

/// All pairs of elements, as two arrays of rank 1.
pub fn pairs(value: &Value) -> Vec<Value> {
    let elements: Vec<&[u8]> = value.elements().collect();
    let shape = Shape::new(value.shape.dtype, [(elements.len() * elements.len()) as i64]);
    let first = elements.iter().flat_map(|x| elements.iter().flat_map(|_| x.iter().copied()));
    let second = elements.iter().flat_map(|_| elements.iter().flat_map(|y| y.iter().copied()));
    vec![
        Value::from_bytes(shape.clone(), first.collect()),
        Value::from_bytes(shape, second.collect()),
    ]
}
