//! Queues of several runtimes, and of none.

use rectiflow_runtime::{
    Code, EagerMode, EagerOptions, FlushReason, Read, Runtime, RuntimeOptions,
};

use crate::{counting, queue};

#[test]
fn runtimes_have_queues_of_their_own() {
    let (one, first) = queue(EagerMode::DeferAndFuse);
    let (two, second) = queue(EagerMode::DeferNever);
    let (x, y) = (counting(&first, &[2]) + 1.0, counting(&second, &[2]) + 2.0);
    assert_eq!((x.is_realized(), y.is_realized()), (false, true));
    drop(two);
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    drop((one, first));
    assert_eq!((y * 2.0).to_vec::<f32>().unwrap(), [4.0, 6.0]);
    assert_eq!(second.flushes(FlushReason::HostRead).flushes, 0);
}

#[test]
fn a_runtime_has_one_queue_and_can_make_more() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]);
    let again = runtime.queue().unwrap();
    assert_eq!((&x + &counting(again, &[2])).to_vec::<f32>().unwrap(), [0.0, 2.0]);
    let other = runtime.new_queue(&EagerOptions::default()).unwrap();
    assert_eq!((other.mode(), queue.mode()), (EagerMode::DeferNever, EagerMode::DeferAndFuse));
    assert!((&x + &counting(&other, &[2])).to_vec::<f32>().is_err());
    assert_eq!(other.n_ops(), 0);
}

#[test]
fn no_queue_without_a_plugin() {
    let options = RuntimeOptions { autoload: false, ..RuntimeOptions::default() };
    let runtime = Runtime::new(&options).unwrap();
    assert_eq!(runtime.queue().unwrap_err().code(), Code::AutoloadOff);
    assert_eq!(runtime.new_queue(&EagerOptions::default()).unwrap_err().code(), Code::AutoloadOff);
    runtime.load().unwrap();
    runtime.queue().unwrap();
}

#[test]
fn no_queue_on_a_device_that_is_not_there() {
    let (runtime, _) = queue(EagerMode::DeferNever);
    let options = EagerOptions { device: 99, ..EagerOptions::default() };
    let error = runtime.new_queue(&options).unwrap_err();
    assert_eq!(error.code(), Code::Options);
    assert!(error.to_string().starts_with("no device number 99: this process can use"), "{error}");
}
