//! What the elementwise conformance cases rest on: a meaning for every dtype a row allows, bounds
//! that tell ops apart, and a list of the plugin's mistakes that is up to date.

use rectiflow_hlo::DType;
use rectiflow_tests::{
    Value,
    conformance::elementwise::{bounds, case, quirks, reference, samples},
    difference,
};

#[test]
fn a_meaning_speaks_of_every_dtype_of_its_row() {
    for (row, meaning) in reference::rows() {
        for dtype in row.dtypes.iter() {
            let result = reference::result_shape(row, &samples(row, dtype));
            let values = reference::evaluate(&meaning, result.clone(), &samples(row, dtype));
            assert_eq!(values.shape, result, "{} of {dtype}", row.mnemonic);
        }
    }
}

/// A plugin that took one op for another would fail the cases.
#[test]
fn no_bound_lets_an_op_pass_for_another() {
    for dtype in [DType::F32, DType::F16, DType::F8E4M3FN, DType::I32, DType::U8, DType::C64] {
        let rows: Vec<_> =
            reference::rows().filter(|(row, _)| row.dtypes.contains(dtype)).collect();
        let values = rows.iter().map(|(row, meaning)| -> Value {
            let operands = samples(row, dtype);
            reference::evaluate(meaning, reference::result_shape(row, &operands), &operands)
        });
        let values: Vec<Value> = values.collect();
        for (i, (row, _)) in rows.iter().enumerate() {
            for (j, (other, _)) in rows.iter().enumerate().filter(|(j, _)| *j != i) {
                let (got, want) = (values[j].clone(), values[i].clone());
                let told = difference(&[got], &[want], bounds::of(row.mnemonic, dtype));
                assert!(
                    told.is_some(),
                    "{} passes for {} on {dtype}",
                    other.mnemonic,
                    row.mnemonic
                );
            }
        }
    }
}

#[test]
fn the_plugin_still_has_every_quirk() {
    let mut gone = Vec::new();
    for (row, meaning) in reference::rows() {
        for dtype in row.dtypes.iter() {
            for quirk in quirks::of(row, dtype) {
                let hit = quirks::keep(&samples(row, dtype), |x| (quirk.hits)(dtype, x));
                if case(row, &meaning, quirk.what.to_string(), hit).problem().is_none() {
                    gone.push(format!("{} of {dtype}: {}", row.mnemonic, quirk.what));
                }
            }
        }
    }
    assert!(gone.is_empty(), "right now, so their entries can go: {gone:#?}");
}
