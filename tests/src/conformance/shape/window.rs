//! `slice`, `pad`, `concatenate`.

use rectiflow_hlo::{DType, Graph, Tensor};

use crate::{Case, Value};

use super::{
    super::array::{any, arrange, contains, indices, offset},
    array, dtypes, unary,
};

/// Operand dims, start, limit, strides.
const SLICES: &[[&[i64]; 4]] = &[
    [&[], &[], &[], &[]],
    [&[7], &[0], &[7], &[1]],
    [&[7], &[2], &[7], &[2]],
    [&[7], &[1], &[6], &[3]],
    [&[7], &[0], &[7], &[9]],
    [&[7], &[6], &[7], &[1]],
    [&[7], &[3], &[3], &[1]],
    [&[7], &[7], &[7], &[1]],
    [&[0], &[0], &[0], &[2]],
    [&[4, 6], &[1, 0], &[3, 6], &[1, 4]],
    [&[3, 4, 5], &[0, 1, 2], &[3, 4, 5], &[2, 3, 1]],
    [&[2, 3, 0], &[0, 1, 0], &[2, 3, 0], &[1, 1, 1]],
    [&[2, 3, 2, 1, 4], &[0, 1, 1, 0, 0], &[2, 3, 2, 1, 4], &[1, 2, 1, 1, 3]],
    [&[2, 1, 3, 2, 1, 5], &[1, 0, 0, 0, 0, 1], &[2, 1, 3, 2, 1, 5], &[1, 1, 2, 1, 1, 2]],
];

/// Operand dims, low, high and interior padding.
const PADS: &[[&[i64]; 4]] = &[
    [&[], &[], &[], &[]],
    [&[5], &[2], &[0], &[0]],
    [&[5], &[0], &[3], &[0]],
    [&[5], &[0], &[0], &[2]],
    [&[5], &[-2], &[0], &[0]],
    [&[5], &[0], &[-1], &[0]],
    [&[5], &[-2], &[-3], &[0]],
    // Negative padding cuts what interior padding has put in, elements or gaps.
    [&[5], &[-1], &[2], &[1]],
    [&[5], &[-4], &[-2], &[2]],
    [&[5], &[3], &[-7], &[1]],
    [&[1], &[1], &[1], &[4]],
    [&[0], &[2], &[1], &[3]],
    [&[0], &[0], &[0], &[0]],
    [&[2, 3], &[1, -1], &[0, 2], &[1, 0]],
    [&[2, 0], &[1, 1], &[0, 2], &[0, 1]],
    [&[2, 3, 4], &[0, 1, -1], &[1, -2, 0], &[0, 1, 2]],
    [&[2, 3, 2, 1, 2], &[0, -1, 1, 0, 0], &[0, 0, 0, 1, -1], &[1, 0, 0, 0, 1]],
    [&[2, 1, 3, 2, 1, 2], &[1, 0, -1, 0, 1, 0], &[0, 1, 0, -1, 0, 0], &[0, 0, 1, 0, 2, 1]],
];

/// Dims of the operands, and the dim along which they are joined.
const CONCATENATIONS: &[(&[&[i64]], i64)] = &[
    (&[&[3]], 0),
    (&[&[3], &[0], &[2]], 0),
    (&[&[0], &[0]], 0),
    (&[&[2, 3], &[1, 3]], 0),
    (&[&[2, 3], &[2, 1], &[2, 4]], 1),
    (&[&[2, 3, 4], &[2, 1, 4]], 1),
    (&[&[2, 0, 4], &[2, 0, 1]], 2),
    (&[&[1, 2, 3, 1, 2], &[1, 2, 1, 1, 2]], 2),
    (&[&[2, 1, 3, 2, 1, 2], &[2, 1, 3, 2, 1, 1]], 5),
];

/// Dtypes whose concatenation ends the process: the CPU plugin packs four of them to a byte and then
/// checks for a bit offset that nobody gave it.
pub const ABORTS_CONCATENATION: &[DType] = &[DType::I2, DType::U2];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in dtypes() {
        let value = any(dtype, &[4, 5], 1);
        cases.push(slice(value.clone(), [&[1, 0], &[4, 5], &[1, 2]]));
        cases.push(pad(value, [&[1, -1], &[-1, 2], &[1, 0]]));
        if !ABORTS_CONCATENATION.contains(&dtype) {
            cases.push(concatenation_of(dtype));
        }
    }
    cases.extend(SLICES.iter().map(|[dims, rest @ ..]| slice(array(dims), *rest)));
    cases.extend(PADS.iter().map(|[dims, rest @ ..]| pad(array(dims), *rest)));
    cases.extend(CONCATENATIONS.iter().map(|&(dims, along)| {
        let each = dims.iter().zip(0..).map(|(dims, seed)| any(DType::I32, dims, seed));
        concatenate(each.collect(), along)
    }));
    cases
}

fn slice(value: Value, [start, limit, strides]: [&'static [i64]; 3]) -> Case {
    let count = |i: usize| (start[i]..limit[i]).step_by(strides[i] as usize).count() as i64;
    let dims: Vec<i64> = (0..start.len()).map(count).collect();
    let expected = arrange(&value, &dims, |index| {
        index.iter().zip(start).zip(strides).map(|((&i, &start), &by)| start + i * by).collect()
    });
    let name = format!("{} from {start:?} to {limit:?} by {strides:?}", value.shape);
    let record = move |x: &Tensor| x.slice(start, limit, strides);
    unary("stablehlo.slice", name, value, record, expected)
}

/// Writes the operand over an array of padding, which is how the definition can be read.
fn pad(value: Value, [low, high, interior]: [&'static [i64]; 3]) -> Case {
    let from = &value.shape.dims;
    let spread = |i: usize, at: i64| low[i] + at * (interior[i] + 1);
    // One past where the last element goes, which without elements is where the first would.
    let dim = |i: usize| match from[i] {
        0 => low[i] + high[i],
        n => spread(i, n - 1) + 1 + high[i],
    };
    let dims: Vec<i64> = (0..from.len()).map(dim).collect();
    let fill = any(value.shape.dtype, &[], 9);
    let mut expected = arrange(&fill, &dims, |_| Vec::new());
    let size = value.shape.dtype.byte_size();
    for (index, element) in indices(from).iter().zip(value.elements()) {
        let to: Vec<i64> = index.iter().enumerate().map(|(i, &at)| spread(i, at)).collect();
        if contains(&dims, &to) {
            let at = offset(&dims, &to) * size;
            expected.bytes[at..at + size].copy_from_slice(element);
        }
    }
    let name = format!("{} low {low:?} high {high:?} interior {interior:?}", value.shape);
    let record = move |_: &Graph, x: &[Tensor]| vec![x[0].pad(&x[1], low, high, interior)];
    Case::new("stablehlo.pad", name, vec![value, fill], record, vec![expected])
}

/// Two arrays of a dtype joined.
pub fn concatenation_of(dtype: DType) -> Case {
    concatenate(vec![any(dtype, &[4, 5], 1), any(dtype, &[4, 2], 2)], 1)
}

fn concatenate(values: Vec<Value>, along: i64) -> Case {
    let dim = along as usize;
    let mut dims = values[0].shape.dims.clone();
    dims[dim] = values.iter().map(|value| value.shape.dims[dim]).sum();
    let mut bytes = Vec::new();
    for index in indices(&dims) {
        let mut index = index;
        let mut operands = values.iter();
        let value = operands.find(|value| {
            let inside = index[dim] < value.shape.dims[dim];
            index[dim] -= if inside { 0 } else { value.shape.dims[dim] };
            inside
        });
        let value = value.expect("an operand has the index");
        let at = offset(&value.shape.dims, &index);
        bytes.extend(value.elements().nth(at).expect("an element of the operand"));
    }
    let expected = Value::from_bytes(values[0].shape.with_dims(dims), bytes);
    let shapes: Vec<String> = values.iter().map(|value| value.shape.to_string()).collect();
    let name = format!("{} along {along}", shapes.join(", "));
    let record = move |_: &Graph, x: &[Tensor]| {
        vec![x[0].graph().concatenate(&x.iter().collect::<Vec<_>>(), along)]
    };
    Case::new("stablehlo.concatenate", name, values, record, vec![expected])
}
