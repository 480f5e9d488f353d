//! Constants of model code, which become arguments.

use rectiflow_hlo::{Class, DType, Literal, Shape};
use rectiflow_runtime::Read;

use crate::{MODES, queue};

/// One of every type, as a scalar and everywhere in an array; no type is left out.
#[test]
fn one_of_every_type() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        for &dtype in DType::ALL.iter().filter(|dtype| dtype.bits() > 0) {
            // Two bits hold no more than 1 with a sign.
            for dims in [&[][..], &[2, 3], &[0]] {
                let one = queue.graph().full(Shape::new(dtype, dims), 1);
                let one = if dtype.class() == Class::Complex { one.real() } else { one };
                let count = dims.iter().product::<i64>() as usize;
                let found = one.convert(DType::F32).to_vec::<f32>();
                let found = found.unwrap_or_else(|error| panic!("{dtype} {dims:?}: {error}"));
                assert_eq!(found, vec![1.0; count], "{dtype} {dims:?} {mode:?}");
            }
        }
    }
}

/// Elements and their number are kept, of types whose elements share bytes on the device too.
#[test]
fn dense() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let graph = queue.graph();
        let table = graph.constant(Literal::from_slice(&[3i32, -1, 2], [3]).unwrap());
        assert_eq!(table.to_vec::<i32>().unwrap(), [3, -1, 2]);
        let flags = graph.constant(Literal::from_slice(&[true, false], [2]).unwrap());
        assert_eq!(flags.not().to_vec::<bool>().unwrap(), [false, true]);
        let nibbles = Literal::from_bytes(Shape::new(DType::U4, [3]), [1, 15, 7]).unwrap();
        let nibbles = graph.constant(nibbles).convert(DType::I32);
        assert_eq!(nibbles.to_vec::<i32>().unwrap(), [1, 15, 7], "{mode:?}");
        let none = graph.constant(Literal::from_slice::<f32>(&[], [0, 2]).unwrap());
        assert_eq!(none.sum([0]).to_vec::<f32>().unwrap(), [0.0, 0.0]);
    }
}

/// A number is sent once, and an array of it never: it is repeated on the device.
#[test]
fn a_number_everywhere_is_one_number() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let shape = Shape::new(DType::F32, [1000]);
        let sums: Vec<f32> =
            (0..5).map(|i| queue.graph().full(shape.clone(), i).sum([0]).item().unwrap()).collect();
        assert_eq!(sums, [0.0, 1000.0, 2000.0, 3000.0, 4000.0], "{mode:?}");
        assert_eq!(queue.n_ops(), 10, "each is repeated, and summed");
        assert_eq!(runtime.stats().compiles, 1, "one program does both, in {mode:?}");
    }
}

/// More numbers than are kept on the device.
#[test]
fn many_numbers() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let x = queue.scalar(1f32).unwrap();
        for i in (0..1500).chain([0, 1499]) {
            let y = &x + f64::from(i);
            if i % 300 == 0 || i == 1499 {
                assert_eq!(y.item::<f32>().unwrap(), 1.0 + i as f32, "{mode:?}");
            }
        }
    }
}
