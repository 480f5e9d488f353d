//! Events as futures and as blocking waits.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use rectiflow_pjrt::{ElementType, Error, ErrorCode, Result};

use crate::{client, double, skipped};

/// The smallest executor there is.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut ctx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut ctx) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn ready_events_complete() -> Result<()> {
    let x = client().buffer_from_slice(&[1f32; 8], &[8])?;
    let y = double().execute(&[&x])?.remove(0);
    y.ready()?.wait()?;
    assert!(y.ready()?.is_ready()?);
    block_on(y.ready()?)
}

/// An array that will never have contents.
fn failed() -> Result<rectiflow_pjrt::Buffer> {
    let error = Error::with_code(ErrorCode::DataLoss, "the disk is gone");
    let memory = client().default_device()?.default_memory()?;
    client().error_buffer(&error, ElementType::F32, &[8], &memory)
}

#[test]
fn failures_surface_everywhere() -> Result<()> {
    let failed = match failed() {
        Err(error) if error.is_unimplemented() => {
            skipped("failures_surface_everywhere", error);
            return Ok(());
        }
        other => other?,
    };
    let check = |error: Error| {
        assert_eq!(error.code(), ErrorCode::DataLoss, "{error}");
        assert!(error.to_string().contains("the disk is gone"), "{error}");
    };
    check(failed.ready()?.wait().unwrap_err());
    check(block_on(failed.ready()?).unwrap_err());
    check(failed.to_vec::<f32>().unwrap_err());
    check(failed.read_into_owned(vec![0; 32])?.wait().unwrap_err());
    // An execution either refuses the array or passes the failure on.
    let double = double();
    let used = double.execute(&[&failed]).and_then(|outputs| outputs[0].to_vec::<f32>());
    assert!(used.unwrap_err().to_string().contains("the disk is gone"));
    Ok(())
}

#[test]
fn dropped_events_do_not_disturb() -> Result<()> {
    let x = client().buffer_from_slice(&[1f32; 8], &[8])?;
    drop(x.ready()?);
    if let Ok(failed) = failed() {
        drop(failed.ready()?);
    }
    let mut polled = Box::pin(x.ready()?);
    let _ = polled.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    drop(polled);
    Ok(())
}
