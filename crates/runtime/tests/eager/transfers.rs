//! From the host, and to it.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ndarray::{Array2, ArrayD, ShapeBuilder, array, s};
use rectiflow_hlo::{DType, Graph, Shape};
use rectiflow_runtime::{
    Code, EagerMode, EagerOptions, Queue, Read, Runtime, RuntimeOptions, Traced,
};
use safetensors::{Dtype, tensor::TensorView};

use crate::{MODES, counting, queue};

/// Views arrive as their elements are seen, however they lie in memory, and as values of ops too.
#[test]
fn views_of_host_arrays() {
    let base = Array2::from_shape_fn((4, 6), |(i, j)| (10 * i + j) as f32);
    let fortran = Array2::from_shape_vec((2, 3).f(), (0..6).map(|i| i as f32).collect()).unwrap();
    let views: [ArrayD<f32>; 2] = [base.clone().into_dyn(), fortran.clone().into_dyn()];
    for mode in MODES {
        let (_, queue) = queue(mode);
        let same = |view: ndarray::ArrayViewD<'_, f32>| {
            let x = queue.from_ndarray(&view).unwrap();
            assert_eq!(x.to_ndarray::<f32>().unwrap(), view, "{mode:?}");
            assert_eq!((x + 1.0).to_ndarray::<f32>().unwrap(), &view + 1.0, "{mode:?}");
        };
        for view in &views {
            same(view.view());
            same(view.t());
            same(view.slice(s![..;-1, ..]).into_dyn());
            same(view.slice(s![1..2, ..;2]).into_dyn());
            same(view.slice(s![.., 1]).into_dyn());
            same(view.slice(s![0..0, ..]).into_dyn());
            same(view.index_axis(ndarray::Axis(0), 1).insert_axis(ndarray::Axis(0)));
        }
        same(ndarray::aview0(&7.0).into_dyn());
        same(array![1f32, 2.0].broadcast((3, 2)).unwrap().into_dyn());
    }
}

#[test]
fn tensors_of_files() {
    let bytes = [1f32, -2.0].map(f32::to_le_bytes).concat();
    let view = TensorView::new(Dtype::F32, vec![2, 1], &bytes).unwrap();
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let x = queue.from_safetensors(&view).unwrap();
    assert_eq!(*x.shape(), Shape::new(DType::F32, [2, 1]));
    assert_eq!((x * 2.0).to_vec::<f32>().unwrap(), [2.0, -4.0]);
    let narrow = TensorView::new(Dtype::F8_E4M3, vec![2], &[0x38, 0xB8]).unwrap();
    let x = queue.from_safetensors(&narrow).unwrap().convert(DType::F32);
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, -1.0]);
}

#[test]
fn a_wrong_number_of_elements() {
    let (_, queue) = queue(EagerMode::DeferNever);
    for error in [
        queue.from_slice(&[1f32; 3], &[2]).unwrap_err(),
        queue.from_bytes(&[0; 3], DType::F32, &[1]).unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::Array);
        assert!(error.to_string().contains("f32 with dims ["), "{error}");
    }
}

#[test]
fn buffers_are_taken_over() {
    let (runtime, queue) = queue(EagerMode::DeferAndFuse);
    let buffer = runtime.client().unwrap().buffer_from_slice(&[1i32, 2], &[2]).unwrap();
    let x = queue.from_buffer(buffer).unwrap();
    assert_eq!((&x + &x).to_vec::<i32>().unwrap(), [2, 4]);

    let options = RuntimeOptions { device_count: Some(2), ..RuntimeOptions::default() };
    let two = Runtime::new(&options).unwrap();
    let foreign = two.client().unwrap().buffer_from_slice(&[1i32], &[1]).unwrap();
    assert_eq!(queue.from_buffer(foreign).unwrap_err().code(), Code::Array);
    let other = two.new_queue(&EagerOptions { device: 1, ..EagerOptions::default() }).unwrap();
    let first = two.client().unwrap().buffer_from_slice(&[1i32], &[1]).unwrap();
    assert_eq!(other.from_buffer(first).unwrap_err().code(), Code::Array);
}

fn two_queues() -> (Runtime, Queue, Queue) {
    let (runtime, one) = queue(EagerMode::DeferAndFuse);
    let two = runtime.new_queue(&EagerOptions::default()).unwrap();
    (runtime, one, two)
}

#[test]
fn an_array_of_another_queue_is_adopted() {
    let (_runtime, one, two) = two_queues();
    let x = counting(&one, &[2]) + 1.0;
    let adopted = two.adopt(&x).unwrap();
    assert_eq!((adopted * 2.0).to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!((x * 3.0).to_vec::<f32>().unwrap(), [3.0, 6.0], "it stays one of its own queue");

    let (_, foreign) = queue(EagerMode::DeferNever);
    let error = foreign.adopt(&counting(&one, &[1])).unwrap_err();
    assert_eq!(error.code(), Code::Array);
}

#[test]
fn queues_do_not_mix() {
    let (_runtime, one, two) = two_queues();
    let (x, y) = (counting(&one, &[2]), counting(&two, &[2]));
    let (mixed, here) = (&x + &y, crate::here!());
    let error = mixed.to_vec::<f32>().unwrap_err();
    assert_eq!(error.code(), Code::Shape);
    assert!(error.to_string().starts_with(&here), "{error}");
    assert!(error.to_string().contains("a value of another graph"), "{error}");
    assert_eq!((&x + 1.0).to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!((&y + 1.0).to_vec::<f32>().unwrap(), [1.0, 2.0]);
}

#[test]
fn a_value_that_is_only_traced_cannot_be_read() {
    let graph = Graph::new();
    let x = graph.parameter("x", Shape::new(DType::F32, [2]));
    for error in [(&x + 1.0).to_vec::<f32>().unwrap_err(), x.wait().unwrap_err()] {
        assert_eq!(error.code(), Code::Array);
        assert!(error.to_string().contains("being traced, tensor<2xf32>"), "{error}");
    }
    let mut error = None;
    let traced = Traced::new("f", &[x.shape().clone()], |x| {
        error = x[0].item::<f32>().err();
        vec![x[0].clone()]
    });
    assert!(traced.is_ok());
    assert_eq!(error.unwrap().code(), Code::Array);
}

#[test]
fn elements_are_read_as_what_they_are() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let x = counting(&queue, &[2]) + 0.0;
        for error in [x.to_vec::<i32>().unwrap_err(), x.to_ndarray::<f64>().err().unwrap()] {
            assert_eq!(error.code(), Code::Array);
            assert!(error.to_string().starts_with("tensor<2xf32> cannot be read as"), "{error}");
        }
        let error = x.item::<f32>().unwrap_err();
        assert_eq!(error.code(), Code::Array);
        assert_eq!(error.to_string(), "expected an array of one element, found tensor<2xf32>");
        assert!(counting(&queue, &[0]).item::<f32>().is_err());
        assert_eq!(counting(&queue, &[1, 1]).item::<f32>().unwrap(), 0.0);
        assert_eq!(x.to_bytes().unwrap(), [0f32, 1.0].map(f32::to_le_bytes).concat());
    }
}

/// A read outlives the array and the queue.
#[test]
fn a_read_is_a_future() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        let expected = [1f32, 2.0].map(f32::to_le_bytes).concat();
        let x = counting(&queue, &[2]) + 1.0;
        assert_eq!(x.read().unwrap().wait().unwrap(), expected, "{mode:?}");
        let mut reading = pin!(x.read().unwrap());
        drop((x, queue, runtime));
        let mut context = Context::from_waker(Waker::noop());
        let bytes = loop {
            match reading.as_mut().poll(&mut context) {
                Poll::Ready(bytes) => break bytes.unwrap(),
                Poll::Pending => std::thread::yield_now(),
            }
        };
        assert_eq!(bytes, expected, "{mode:?}");
    }
}

#[test]
fn a_buffer_can_be_borrowed() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]) + 1.0;
    assert!(!x.is_realized());
    let buffer = x.buffer().unwrap();
    assert!(x.is_realized());
    assert_eq!(buffer.to_vec::<f32>().unwrap(), [1.0, 2.0]);
}
