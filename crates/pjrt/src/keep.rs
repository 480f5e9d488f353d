//! Host memory that a plugin uses after the call that passed it.

use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::client::{ClientRef, non_null};
use crate::error::{Error, Result};
use crate::event::{Event, log_failed};

/// Drops its contents only when taken out; otherwise leaks them. A plugin that
/// will not say when it is done with memory costs that memory, not safety.
pub(crate) struct LeakUnlessRun<O>(Option<Box<O>>);

impl<O> LeakUnlessRun<O> {
    pub(crate) fn new(data: Box<O>) -> Self {
        LeakUnlessRun(Some(data))
    }

    pub(crate) fn into_inner(mut self) -> Box<O> {
        self.0.take().expect("taken once, by value")
    }
}

impl<O> Drop for LeakUnlessRun<O> {
    fn drop(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// Holds `data` until the plugin reports, through `done`, that it needs it no more.
pub(crate) fn keep_until_done<O: Send + 'static>(
    client: &ClientRef,
    done: *mut sys::PJRT_Event,
    data: Box<O>,
) -> Result<()> {
    let data = LeakUnlessRun::new(data);
    let raw = non_null(done, "done_with_host_buffer")?;
    // SAFETY: a fresh event of this client.
    let event = unsafe { Event::new(raw, Arc::clone(client), "done_with_host_buffer") };
    keep_until(&event, data)?;
    event.detach();
    Ok(())
}

/// As [`keep_until_done`], for an event the caller goes on to use.
pub(crate) fn keep_until<O: Send + 'static>(event: &Event, data: LeakUnlessRun<O>) -> Result<()> {
    let callback = move |outcome| {
        drop(data.into_inner());
        log_failed("copy host memory to a device", outcome);
    };
    event.on_ready(callback).map_err(|error| {
        Error::with_code(error.code(), format!("cannot tell when host memory is free: {error}"))
    })
}
