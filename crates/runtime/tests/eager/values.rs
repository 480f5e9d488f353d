//! What ops compute, in every mode.

use half::bf16;
use ndarray::{Array2, Axis, array};
use rectiflow_hlo::{DType, Shape};
use rectiflow_runtime::{Array, Queue, Read};

use crate::{MODES, counting, queue};

/// A computation and its elements, as `f32`.
type Case = (&'static str, fn(&Queue) -> Array, &'static [f32]);

fn matrix(queue: &Queue) -> Array {
    queue.from_ndarray(&array![[1f32, 2.0], [3.0, 4.0]]).unwrap()
}

fn row(queue: &Queue) -> Array {
    queue.from_ndarray(&array![10f32, 20.0]).unwrap()
}

const CASES: &[Case] = &[
    ("operators", |q| (1.0 - matrix(q)) * 2.0 / 4.0 + 0.5, &[0.5, 0.0, -0.5, -1.0]),
    ("negation", |q| -matrix(q), &[-1.0, -2.0, -3.0, -4.0]),
    ("a row repeats", |q| matrix(q) + row(q), &[11.0, 22.0, 13.0, 24.0]),
    ("a column repeats", |q| matrix(q) * row(q).reshape([2, 1]), &[10.0, 20.0, 60.0, 80.0]),
    ("one operand twice", |q| &matrix(q) - &matrix(q), &[0.0; 4]),
    ("matmul", |q| matrix(q).matmul(&matrix(q)), &[7.0, 10.0, 15.0, 22.0]),
    ("matrix by vector", |q| matrix(q).matmul(&row(q)), &[50.0, 110.0]),
    ("transpose", |q| matrix(q).transpose([1, 0]), &[1.0, 3.0, 2.0, 4.0]),
    ("sum", |q| matrix(q).sum([0]), &[4.0, 6.0]),
    ("product", |q| matrix(q).product([0, 1]), &[24.0]),
    ("max of min", |q| matrix(q).min([1]).max([0]), &[3.0]),
    ("mean", |q| matrix(q).mean([0, 1]), &[2.5]),
    ("argmax", |q| (-matrix(q)).argmax(1).convert(DType::F32), &[0.0, 0.0]),
    ("argsort", |q| (-row(q)).argsort(0).convert(DType::F32), &[1.0, 0.0]),
    ("sort", |q| (-matrix(q)).sort_rising(1), &[-2.0, -1.0, -4.0, -3.0]),
    ("top_k values", |q| matrix(q).top_k(1).0, &[2.0, 4.0]),
    ("top_k positions", |q| matrix(q).top_k(1).1.convert(DType::F32), &[1.0, 1.0]),
    (
        "take",
        |q| matrix(q).take(&q.from_slice(&[1i32, 1], &[2]).unwrap(), 0),
        &[3.0, 4.0, 3.0, 4.0],
    ),
    (
        "select",
        |q| matrix(q).gt(&row(q).scalar_like(2)).select(&matrix(q), &-matrix(q)),
        &[-1.0, -2.0, 3.0, 4.0],
    ),
    ("iota", |q| q.graph().iota(Shape::new(DType::F32, [3]), 0), &[0.0, 1.0, 2.0]),
    ("concatenate", |q| q.graph().concatenate(&[&row(q), &row(q)], 0), &[10.0, 20.0, 10.0, 20.0]),
    ("any", |q| matrix(q).gt(&matrix(q).scalar_like(3)).any([1]).convert(DType::F32), &[0.0, 1.0]),
    ("bf16 rounds", |q| (row(q).convert(DType::BF16) + 0.01).convert(DType::F32), &[10.0, 20.0]),
    ("sum of nothing", |q| counting(q, &[0, 2]).sum([0]), &[0.0, 0.0]),
    ("max of nothing", |q| counting(q, &[0, 1]).max([0]), &[f32::NEG_INFINITY]),
    ("nothing plus one", |q| counting(q, &[2, 0]) + 1.0, &[]),
];

#[test]
fn table() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let values: Vec<Array> = CASES.iter().map(|(_, compute, _)| compute(&queue)).collect();
        for ((name, _, expected), value) in CASES.iter().zip(values) {
            assert_eq!(value.to_vec::<f32>().unwrap(), *expected, "{name} in {mode:?}");
        }
    }
}

#[test]
fn a_chain_equals_ndarray() {
    let (a, b) = (Array2::from_shape_fn((5, 7), |(i, j)| ((i * 7 + j) % 11) as f32 - 5.0), {
        Array2::from_shape_fn((7, 3), |(i, j)| ((i * 5 + j * 2) % 13) as f32 - 6.0)
    });
    let expected = (&a.dot(&b) * 2.0 - 1.0).sum_axis(Axis(0)).into_dyn();
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (a, b) = (queue.from_ndarray(&a).unwrap(), queue.from_ndarray(&b).unwrap());
        let value = (a.matmul(&b) * 2.0 - 1.0).sum([0]);
        // Small integers: exact in any order.
        assert_eq!(value.to_ndarray::<f32>().unwrap(), expected, "{mode:?}");
    }
}

/// All results of an op of several, one of them, and another after that.
#[test]
fn several_results() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let x = queue.from_slice(&[3f32, 1.0, 2.0], &[3]).unwrap();
        let i = queue.graph().iota(Shape::new(DType::I32, [3]), 0);
        let sorted = queue.graph().sort(&[&x, &i], 0, true, |a, b| a[0].lt(&b[0]));
        assert_eq!(sorted[1].to_vec::<i32>().unwrap(), [1, 2, 0], "{mode:?}");
        assert_eq!(sorted[0].to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0], "{mode:?}");
    }
}

#[test]
fn elements_of_their_own_type() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let flags = queue.from_slice(&[true, false], &[2]).unwrap();
        assert_eq!(flags.not().to_vec::<bool>().unwrap(), [false, true], "{mode:?}");
        let x = queue.from_slice(&[bf16::from_f32(1.5)], &[1]).unwrap();
        assert_eq!((x * 3.0).to_vec::<bf16>().unwrap(), [bf16::from_f32(4.5)], "{mode:?}");
        let big = queue.from_slice(&[u64::MAX - 1], &[]).unwrap();
        assert_eq!((&big + &big.scalar_like(1)).item::<u64>().unwrap(), u64::MAX, "{mode:?}");
    }
}

/// Values that are read early, late, and twice.
#[test]
fn order_of_reading_does_not_matter() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let mut values = vec![counting(&queue, &[2])];
        for _ in 0..9 {
            values.push(values[values.len() - 1].clone() * 2.0 + 1.0);
        }
        for i in [9, 3, 3, 0, 7, 9, 1] {
            let last = (1 << i) as f32;
            let expected = [last - 1.0, 2.0 * last - 1.0];
            assert_eq!(values[i].to_vec::<f32>().unwrap(), expected, "{i} in {mode:?}");
        }
    }
}
