//! Numbers in model code, which may change without compiling anything.

use rectiflow_runtime::{EagerMode, Read};

use crate::{MODES, counting, queue};

const NUMBERS: [f64; 12] =
    [0.0, 1.0, -1.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0, 0.1, 1e-30, 3e37, 7.0];

/// Compared by bits, but that one NaN is as good as another.
fn is(found: f32, expected: f32) -> bool {
    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
}

#[test]
fn a_new_number_compiles_nothing() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let x = queue.from_slice(&[3f32, -0.0], &[2]).unwrap();
        // These four ops again and again are a loop, which is found as they come the second time.
        let first = if mode == EagerMode::DeferAndFuse { 1 } else { 0 };
        let mut compiles = None;
        for (i, number) in NUMBERS.into_iter().enumerate() {
            let values = [&x * number, &x + number, number - &x, &x / number];
            let single = number as f32;
            for (value, op) in values.iter().zip([
                |x: f32, n: f32| x * n,
                |x, n| x + n,
                |x, n| n - x,
                |x, n| x / n,
            ]) {
                for (found, x) in value.to_vec::<f32>().unwrap().into_iter().zip([3.0, -0.0]) {
                    let expected = op(x, single);
                    assert!(is(found, expected), "{x} {number}: {found} {expected} {mode:?}");
                }
            }
            if i >= first {
                let now = runtime.stats().compiles;
                assert_eq!(*compiles.get_or_insert(now), now, "{number} in {mode:?}");
            }
        }
    }
}

/// In one program with all that surrounds it, where none of the ops is read on its own.
#[test]
fn in_a_fused_program_too() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]);
    for number in NUMBERS {
        let y = ((&x + number) * &x).sum([0]);
        let n = number as f32;
        assert!(is(y.item().unwrap(), (0.0 + n) * 0.0 + (1.0 + n)), "{number}");
    }
    queue.synchronize().unwrap();
    assert_eq!(runtime.stats().compiles, 1);
}

#[test]
fn numbers_of_other_types() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let x = queue.from_slice(&[3i32], &[1]).unwrap();
        let mut compiles = Vec::new();
        for number in [0, 1, -1, i32::MAX] {
            let sum = &x + &x.scalar_like(number);
            assert_eq!(sum.item::<i32>().unwrap(), number.wrapping_add(3), "{mode:?}");
            compiles.push(runtime.stats().compiles);
        }
        compiles.dedup();
        assert_eq!(compiles.len(), 1, "{mode:?}");
    }
}

/// What begins a reduction or fills a padding is part of the program, since it hardly changes and
/// compilers make better code of it: each is one.
#[test]
fn neutral_numbers_are_constants() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let x = counting(&queue, &[3]);
        let mut compiles = vec![runtime.stats().compiles];
        for (init, expected) in [(0, 3.0), (10, 13.0), (0, 3.0), (10, 13.0)] {
            let sum = x.reduce(&x.scalar_like(init), [0], |a, b| a + b);
            assert_eq!(sum.item::<f32>().unwrap(), expected, "{mode:?}");
            compiles.push(runtime.stats().compiles);
        }
        assert_eq!(compiles, [0, 1, 2, 2, 2], "{mode:?}");
    }
}

/// An initial value that is an array, not a constant, is an argument.
#[test]
fn neutral_values_of_arrays_are_arguments() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let x = counting(&queue, &[3]);
        for init in [0f32, 10.0, -5.0] {
            let init_array = queue.scalar(init).unwrap();
            let sum = x.reduce(&init_array, [0], |a, b| a + b);
            assert_eq!(sum.item::<f32>().unwrap(), init + 3.0, "{mode:?}");
        }
        assert_eq!(runtime.stats().compiles, 1, "{mode:?}");
    }
}
