//! Positions of extremes.

use rectiflow_hlo::{DType, DTypes};

use super::super::array::{any, small};
use crate::{Case, Value};

/// First position in each row of the greatest, or of the first NaN.
fn positions(value: &Value, least: bool) -> Value {
    let (rows, columns) = (value.shape.dims[0], value.shape.dims[1] as usize);
    let position = |row: &[f64]| {
        if let Some(nan) = row.iter().position(|x| x.is_nan()) {
            return nan as i32;
        }
        let better = |a: f64, b: f64| if least { a < b } else { a > b };
        (1..columns).fold(0, |best, i| if better(row[i], row[best]) { i } else { best }) as i32
    };
    let found: Vec<i32> = value.reals().chunks(columns).map(position).collect();
    Value::of([rows], &found)
}

fn both(value: &Value) -> [Case; 2] {
    [false, true].map(|least| {
        Case::new(
            "stablehlo.reduce",
            format!("arg{} of {}", if least { "min" } else { "max" }, value.shape),
            vec![value.clone()],
            move |_, x| vec![if least { x[0].argmin(1) } else { x[0].argmax(1) }],
            vec![positions(value, least)],
        )
    })
}

pub(super) fn cases() -> Vec<Case> {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    #[rustfmt::skip]
    let special = Value::of([6, 4], &[
        1.0, nan, 5.0, nan,
        -inf, -inf, -inf, -inf,
        inf, 1.0, inf, nan,
        inf, 1.0, inf, -inf,
        0.0, -0.0, 0.0, -0.0,
        nan, nan, nan, nan,
    ]);
    // Beyond 2^53 neighbours are equal as floats.
    let close = Value::of([1, 3], &[i64::MAX - 1, i64::MAX, i64::MAX - 2]);
    let mut cases: Vec<Case> = both(&special).into();
    cases.push(Case::new(
        "stablehlo.reduce",
        "argmax of close integers",
        vec![close],
        |_, x| vec![x[0].argmax(1)],
        vec![Value::of([1], &[1i32])],
    ));
    // Integers of 2 bits are among what the plugin refuses.
    let ordered = DTypes::ORDERED.iter().filter(|dtype| dtype.bits() <= 32 && dtype.bits() != 2);
    cases.extend(ordered.flat_map(|dtype| both(&any(dtype, &[3, 7], 21))));
    // Long rows with many ties are split among threads or vector lanes.
    cases.extend(both(&small(DType::F32, &[3, 1000], 22)));
    cases
}
