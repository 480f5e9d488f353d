//! What compiles a program anew, and what does not.

use ndarray::{Array2, ArrayView2, s};
use rectiflow_hlo::Tensor;
use rectiflow_runtime::{
    Array, CacheOptions, Code, EagerMode, EagerOptions, Queue, Read, Runtime, RuntimeOptions,
};

use crate::{MODES, counting, here, queue};

/// Two ops, which are no loop when they are recorded twice or three times.
fn model(x: &Tensor) -> Tensor {
    x.matmul(x).tanh()
}

/// As [`model`], on other lines.
fn same_model(x: &Tensor) -> Tensor {
    let product = x.matmul(x);
    product.tanh()
}

fn upload(queue: &Queue, view: ArrayView2<'_, f32>) -> Array {
    queue.from_ndarray(&view).unwrap()
}

fn is_model_of(array: &Array, view: ArrayView2<'_, f32>) {
    let expected = view.dot(&view).mapv(f32::tanh);
    for (found, expected) in array.to_vec::<f32>().unwrap().into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

/// Neither names nor lines, strides nor values, nor a queue of its own.
#[test]
fn no_reason_to_compile() {
    let base = Array2::from_shape_fn((6, 6), |(i, j)| (i as f32 - 2.0 * j as f32) / 12.0);
    let (plain, strided) = (base.slice(s![..3, ..3]), base.slice(s![..;2, ..;-2]));
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        is_model_of(&model(&upload(&queue, plain)), plain);
        let compiles = runtime.stats().compiles;
        assert_eq!(compiles, if mode == EagerMode::DeferAndFuse { 1 } else { 2 });
        let never = |what: &str| assert_eq!(runtime.stats().compiles, compiles, "{what} {mode:?}");
        {
            let _scope = queue.graph().scope("another name");
            is_model_of(&same_model(&upload(&queue, plain)), plain);
        }
        never("a scope and other lines");
        let second = runtime.new_queue(&EagerOptions { mode, ..Default::default() }).unwrap();
        for view in [plain.t(), strided, strided.t()] {
            is_model_of(&model(&upload(&second, view)), view);
        }
        never("another queue, other strides and values");
    }
}

#[test]
fn a_new_shape_compiles_once() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let set = if mode == EagerMode::DeferAndFuse { 1 } else { 2 };
        for (dim, compiles) in [(2, set), (3, 2 * set), (2, 2 * set), (3, 2 * set), (4, 3 * set)] {
            drop(model(&counting(&queue, &[dim, dim])).to_vec::<f32>().unwrap());
            assert_eq!(runtime.stats().compiles, compiles, "{dim} in {mode:?}");
        }
    }
}

/// Queues that declare other functions before find the same program.
#[test]
fn functions_have_no_names_in_keys() {
    for mode in MODES {
        let (runtime, first) = queue(mode);
        let second = runtime.new_queue(&EagerOptions { mode, ..Default::default() }).unwrap();
        let shapes = [counting(&first, &[2]).shape().clone()];
        drop(second.graph().function(&shapes, |x| vec![-&x[0]]));
        for queue in [&first, &second] {
            let function = queue.graph().function(&shapes, |x| vec![&x[0] * 2.0 + 1.0]);
            let y = queue.graph().call(&function, &[&counting(queue, &[2])]).swap_remove(0);
            assert_eq!(y.to_vec::<f32>().unwrap(), [1.0, 3.0]);
        }
        assert_eq!(runtime.stats().compiles, 1, "{mode:?}");
    }
}

/// Compile options are the queue's own.
#[test]
fn options_are_a_reason() {
    let (runtime, queue) = queue(EagerMode::DeferNever);
    let mut options = EagerOptions::default();
    options.compile = options.compile.flag("xla_cpu_enable_fast_math", true);
    let fast = runtime.new_queue(&options).unwrap();
    for (queue, compiles) in [(&queue, 1), (&fast, 2), (&queue, 2), (&fast, 2)] {
        counting(queue, &[2]).tanh().wait().unwrap();
        assert_eq!(runtime.stats().compiles, compiles);
    }
}

#[test]
fn another_process_finds_them_on_disk() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        for compiles in [2, 0] {
            let eager = EagerOptions { mode, ..EagerOptions::default() };
            let cache = CacheOptions::in_folder(folder.path());
            let options = RuntimeOptions { eager, cache, ..RuntimeOptions::default() };
            let runtime = Runtime::new(&options).unwrap();
            let x = counting(runtime.queue().unwrap(), &[2, 2]);
            x.sum([0]).wait().unwrap();
            x.tanh().wait().unwrap();
            assert_eq!(runtime.stats().compiles, compiles, "{mode:?}");
        }
    }
}

/// A program that is not in the cache is an error at the read, where nothing may be compiled; one
/// that is there runs.
#[test]
fn a_miss_is_an_error_of_the_op() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let run = |cache_only: bool| {
            let eager = EagerOptions { mode, ..EagerOptions::default() };
            let cache = CacheOptions { cache_only, ..CacheOptions::in_folder(folder.path()) };
            let options = RuntimeOptions { eager, cache, ..RuntimeOptions::default() };
            Runtime::new(&options).unwrap()
        };
        let warm = run(false);
        counting(warm.queue().unwrap(), &[2]).tanh().wait().unwrap();
        let runtime = run(true);
        let queue = runtime.queue().unwrap();
        let x = counting(queue, &[2]);
        let known = x.tanh();
        let (unknown, here) = (known.cosine(), here!());
        let dependent = &unknown * &unknown;
        for array in [&dependent, &unknown] {
            let error = array.to_vec::<f32>().unwrap_err();
            assert_eq!(error.code(), Code::CacheMiss, "{mode:?} {error}");
            assert!(error.to_string().starts_with(&here), "{mode:?} {error}");
        }
        assert_eq!(known.to_vec::<f32>().unwrap()[0], 0.0, "{mode:?}");
        assert_eq!(runtime.stats().compiles, 0);
    }
}
