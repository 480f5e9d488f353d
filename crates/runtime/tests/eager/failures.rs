//! Ops that the compiler or the device refuses.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use rectiflow_hlo::{CustomCall, DType};
use rectiflow_pjrt::ffi::{CallFrame, Error, ErrorCode, Result};
use rectiflow_runtime::{Array, Code, EagerMode, Queue, Read, Runtime};

use crate::{MODES, counting, here, queue};

/// Products of integers of two bits are what the CPU plugin refuses.
fn narrow(queue: &Queue) -> Array {
    queue.from_bytes(&[1; 9], DType::I2, &[3, 3]).unwrap()
}

#[test]
fn what_does_not_compile_fails_alone() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let (x, narrow) = (counting(&queue, &[3]), narrow(&queue));
        let before = (&x + 1.0).sum([0]);
        let (refused, here) = (narrow.matmul(&narrow), here!());
        let dependent = refused.convert(DType::F32) + &before;
        let after = &before * 2.0;
        let last = (&after + &x).max([0]);
        for array in [&dependent, &refused] {
            let error = array.to_bytes().unwrap_err();
            assert_eq!(error.code(), Code::Compile, "{error}");
            assert!(error.to_string().starts_with(&here), "{here} {error}");
            assert!(error.to_string().contains("operand type S2"), "{error}");
        }
        assert_eq!(after.item::<f32>().unwrap(), 12.0, "{mode:?}");
        assert_eq!(last.item::<f32>().unwrap(), 14.0, "{mode:?}");
        assert_eq!(before.item::<f32>().unwrap(), 6.0, "{mode:?}");
    }
}

/// A refused program is remembered: coming again, its ops run one by one at once.
#[test]
fn what_does_not_compile_is_not_tried_again() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let (x, narrow) = (counting(&queue, &[3]), narrow(&queue));
    let errors = [0; 4].map(|_| {
        let before = runtime.stats().errors;
        let refused = narrow.matmul(&narrow).convert(DType::F32);
        let sum = (&x + 1.0).sum([0]);
        assert!(refused.to_bytes().is_err());
        assert_eq!(sum.item::<f32>().unwrap(), 6.0);
        runtime.stats().errors - before
    });
    // The second time, all ops are one program, since they repeat those of the first.
    assert_eq!(errors, [2, 2, 1, 1], "as one program, and the op itself");
}

/// The same when the program is compiled on the queue's own thread.
#[test]
fn what_does_not_compile_is_told_by_synchronize() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let (x, narrow) = (counting(&queue, &[3]), narrow(&queue));
    let (refused, here) = (narrow.matmul(&narrow), here!());
    let fine = (&x + 1.0).sum([0]);
    let error = queue.synchronize().unwrap_err();
    assert!(error.to_string().starts_with(&here), "{error}");
    assert!(refused.to_bytes().is_err());
    assert_eq!(fine.item::<f32>().unwrap(), 6.0);
    drop(refused);
    queue.synchronize().unwrap();
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

fn refuse(call: &mut CallFrame<'_>) -> Result<()> {
    let x = call.argument(0)?.elements::<f32>()?;
    Err(Error::with_code(ErrorCode::OutOfRange, format!("{} is too much", x[0])))
}

fn count(call: &mut CallFrame<'_>) -> Result<()> {
    CALLS.fetch_add(1, SeqCst);
    let x = call.argument(0)?.elements::<f32>()?;
    call.result(0)?.elements_mut::<f32>()?.copy_from_slice(x);
    Ok(())
}

fn register(runtime: &Runtime) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let plugin = runtime.client().unwrap().plugin();
        plugin.register_ffi("eager.refuse", "Host", refuse).unwrap();
        plugin.register_ffi("eager.count", "Host", count).unwrap();
    });
}

#[track_caller]
fn call(name: &str, x: &Array) -> Array {
    x.graph().custom_call(&CustomCall::new(name), &[x], &[x.shape().clone()]).swap_remove(0)
}

#[test]
fn what_fails_on_the_device_is_told_at_the_read() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        register(&runtime);
        let base = counting(&queue, &[2]);
        let x = &base + 7.0;
        let (refused, here) = (call("eager.refuse", &x), here!());
        let error = refused.to_vec::<f32>().unwrap_err();
        assert_eq!(error.code(), Code::Execute, "{mode:?} {error}");
        assert!(error.to_string().starts_with(&here), "{mode:?} {here} {error}");
        assert!(error.to_string().contains("7 is too much"), "{mode:?} {error}");
        let again = refused.wait().unwrap_err();
        assert!(again.to_string().contains("7 is too much"), "{mode:?} {again}");
        assert_eq!((x + 1.0).to_vec::<f32>().unwrap(), [8.0, 9.0], "{mode:?}");
    }
}

#[test]
fn what_fails_on_the_device_poisons_what_needs_it() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        register(&runtime);
        let x = counting(&queue, &[2]) + 7.0;
        let refused = call("eager.refuse", &x);
        let dependent = &refused * 2.0;
        let error = dependent.to_vec::<f32>().unwrap_err();
        assert!(error.to_string().contains("7 is too much"), "{mode:?} {error}");
        assert!(error.to_string().starts_with(file!()), "{mode:?} {error}");
    }
}

/// Long enough that it is not over by chance.
#[test]
fn blocking_an_op_is_done_when_it_is_recorded() {
    let (_, queue) = queue(EagerMode::DeferNeverAndLaunchBlocking);
    let x = counting(&queue, &[1000, 1000]);
    for _ in 0..3 {
        let product = x.matmul(&x);
        assert!(product.buffer().unwrap().ready().unwrap().is_ready().unwrap());
    }
}

/// Blocking, the op is known to have failed before the next is recorded, which then never runs.
#[test]
fn blocking_it_is_told_already_there() {
    let (runtime, queue) = queue(EagerMode::DeferNeverAndLaunchBlocking);
    register(&runtime);
    call("eager.count", &counting(&queue, &[2])).wait().unwrap();
    let x = counting(&queue, &[2]);
    let calls = CALLS.load(SeqCst);
    let (refused, here) = (call("eager.refuse", &x), here!());
    let requests = runtime.stats().requests;
    let dependent = call("eager.count", &refused);
    assert_eq!(runtime.stats().requests, requests, "nothing is launched");
    let error = dependent.to_vec::<f32>().unwrap_err();
    assert!(error.to_string().starts_with(&here), "{error}");
    assert_eq!(CALLS.load(SeqCst), calls);
}

#[test]
fn synchronize_tells_what_failed_on_the_device() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        register(&runtime);
        let (refused, here) = (call("eager.refuse", &counting(&queue, &[2])), here!());
        let error = queue.synchronize().unwrap_err();
        assert!(error.to_string().starts_with(&here), "{mode:?} {error}");
        drop(refused);
        queue.synchronize().unwrap();
    }
}
