//! Folds over moving windows.

use rectiflow_hlo::{DType, DTypes, Window};

use super::super::array::{Wide, contains, indices, offset, small, with_wide};
use crate::{Case, Value};

/// Number of positions of the window in a dim.
fn positions(dim: i64, size: i64, stride: i64, dilation: (i64, i64), padding: (i64, i64)) -> i64 {
    let dilated = |n: i64, by: i64| if n == 0 { 0 } else { (n - 1) * by + 1 };
    let room = dilated(dim, dilation.0) + padding.0 + padding.1 - dilated(size, dilation.1);
    if room < 0 { 0 } else { room / stride + 1 }
}

/// Sums over windows by plain loops.
fn sums<T: Wide>(value: &Value, window: &Window) -> Value {
    let dims = &value.shape.dims;
    let or = |numbers: &[i64], dim: usize, default| numbers.get(dim).copied().unwrap_or(default);
    let at = |dim: usize| {
        let dilations = (or(&window.base_dilations, dim, 1), or(&window.window_dilations, dim, 1));
        let padding = window.padding.get(dim).copied().unwrap_or((0, 0));
        (or(&window.strides, dim, 1), dilations, padding)
    };
    let size = |dim: usize| {
        let (stride, dilations, padding) = at(dim);
        positions(dims[dim], window.dimensions[dim], stride, dilations, padding)
    };
    let result: Vec<i64> = (0..dims.len()).map(size).collect();
    let numbers = T::read(value);
    let sum = |position: &Vec<i64>| {
        let mut sum = T::ZERO;
        for inside in indices(&window.dimensions) {
            // Where the window looks in the dilated and padded value, if an element is there.
            let source = |dim: usize| {
                let (stride, (base, by), (low, _)) = at(dim);
                let point = position[dim] * stride + inside[dim] * by - low;
                (point % base == 0).then_some(point / base)
            };
            let source: Option<Vec<i64>> = (0..dims.len()).map(source).collect();
            if let Some(source) = source.filter(|source| contains(dims, source)) {
                sum = sum.plus(numbers[offset(dims, &source)]);
            }
        }
        sum
    };
    let sums: Vec<T> = indices(&result).iter().map(sum).collect();
    T::write(value.shape.with_dims(result), &sums)
}

fn case(value: Value, window: Window) -> Case {
    let expected = with_wide!(value.shape.dtype, sums(&value, &window));
    Case::new(
        "stablehlo.reduce_window",
        format!("sum of {} over {window:?}", value.shape),
        vec![value],
        move |_, x| vec![x[0].reduce_window(&x[0].scalar_like(0), &window, |a, b| a.add(b))],
        vec![expected],
    )
}

fn windows() -> Vec<(&'static [i64], Window)> {
    let of = |dimensions: &[i64]| Window::new(dimensions);
    vec![
        (&[], of(&[])),
        (&[6], of(&[1])),
        (&[6], of(&[3])),
        (&[2], of(&[3])),
        (&[0], of(&[2])),
        (&[0], Window { padding: vec![(1, 2)], ..of(&[2]) }),
        (&[7], Window { strides: vec![2], ..of(&[3]) }),
        (&[7], Window { padding: vec![(2, 1)], ..of(&[3]) }),
        (&[7], Window { padding: vec![(-2, -1)], ..of(&[2]) }),
        (&[7], Window { padding: vec![(-2, 3)], strides: vec![3], ..of(&[2]) }),
        (&[7], Window { window_dilations: vec![2], ..of(&[3]) }),
        (&[4], Window { base_dilations: vec![3], ..of(&[2]) }),
        (&[4], Window { base_dilations: vec![2], padding: vec![(-1, 2)], ..of(&[3]) }),
        (&[6, 7], Window { strides: vec![2, 3], ..of(&[2, 3]) }),
        (
            &[5, 6],
            Window {
                dimensions: vec![2, 3],
                strides: vec![1, 2],
                base_dilations: vec![2, 1],
                window_dilations: vec![3, 2],
                padding: vec![(2, -1), (1, 2)],
            },
        ),
        (&[2, 6, 6, 3], Window { strides: vec![1, 2, 2, 1], ..of(&[1, 2, 2, 1]) }),
        (&[2, 3, 2, 3, 2], of(&[1, 2, 1, 2, 2])),
        (&[2, 3, 1, 2, 3, 2], Window { padding: vec![(0, 1); 6], ..of(&[1, 2, 1, 2, 2, 1]) }),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = windows()
        .into_iter()
        .map(|(dims, window)| case(small(DType::F32, dims, 23), window))
        .collect();
    let window = Window { strides: vec![2], padding: vec![(1, 1)], ..Window::new([2]) };
    for dtype in DTypes::ANY.iter().filter(|dtype| *dtype != DType::F8E8M0FNU) {
        let value = match dtype {
            DType::F4E2M1FN => Value::from_reals(
                rectiflow_hlo::Shape::new(dtype, [5]),
                &[0.5, 1.0, -2.0, 3.0, 1.0],
            ),
            _ => small(dtype, &[5], 24),
        };
        cases.push(case(value, window.clone()));
    }
    cases.push(max_pool());
    cases
}

/// The greatest of each window, padding with negative infinity, NaN kept.
fn max_pool() -> Case {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let value = Value::of([6], &[1.0, -inf, 3.0, nan, -2.0, inf]);
    let expected = Value::of([4], &[1.0, 3.0, nan, inf]);
    let window = Window { strides: vec![2], padding: vec![(1, 1)], ..Window::new([2]) };
    Case::new(
        "stablehlo.reduce_window",
        "max",
        vec![value],
        move |_, x| {
            let least = x[0].scalar_like(f64::NEG_INFINITY);
            vec![x[0].reduce_window(&least, &window, |a, b| a.maximum(b))]
        },
        vec![expected],
    )
}
