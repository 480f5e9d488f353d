//! Completion of asynchronous work.

use std::ffi::c_void;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, Padded, function};
use crate::caught::caught;
use crate::client::ClientRef;
use crate::error::{Error, Result};

/// Work that a device or a copy will finish, and whether it failed.
///
/// An event is a future, and it can be waited for by blocking. A failure that
/// nobody asked for is logged when the event is dropped; it never vanishes.
#[must_use = "an event carries the error of the work it stands for"]
pub struct Event {
    raw: NonNull<sys::PJRT_Event>,
    client: ClientRef,
    what: &'static str,
    /// Set once the outcome was handed to the caller.
    observed: AtomicBool,
    /// Present once the event was polled.
    shared: Option<Arc<Mutex<Polled>>>,
}

// SAFETY: PJRT events may be awaited, polled and freed from any thread; the
// client they belong to is kept alive by `client`.
unsafe impl Send for Event {}
// SAFETY: as above; the C functions used on `&Event` are thread-safe.
unsafe impl Sync for Event {}

#[derive(Default)]
struct Polled {
    outcome: Option<Result<()>>,
    waker: Option<Waker>,
}

impl Event {
    /// # Safety
    /// `raw` must be an event of `client` that nobody else frees.
    pub(crate) unsafe fn new(
        raw: NonNull<sys::PJRT_Event>,
        client: ClientRef,
        what: &'static str,
    ) -> Self {
        Event { raw, client, what, observed: AtomicBool::new(false), shared: None }
    }

    /// Blocks until the work is finished.
    ///
    /// # Errors
    /// The failure of the work itself.
    pub fn wait(&self) -> Result<()> {
        self.observed.store(true, Ordering::Relaxed);
        let mut args = Padded::<sys::PJRT_Event_Await_Args>::new();
        args.event = self.raw.as_ptr();
        // SAFETY: `raw` is live until `drop`.
        unsafe { self.api().call(function!(PJRT_Event_Await), &mut args) }
    }

    /// Whether the work is finished, successfully or not. Does not block.
    ///
    /// # Errors
    /// Those of the query, not of the work.
    pub fn is_ready(&self) -> Result<bool> {
        let mut args = Padded::<sys::PJRT_Event_IsReady_Args>::new();
        args.event = self.raw.as_ptr();
        // SAFETY: `raw` is live until `drop`.
        unsafe { self.api().call(function!(PJRT_Event_IsReady), &mut args)? };
        Ok(args.is_ready)
    }

    /// Ends interest in the event: a callback already looks at its outcome.
    pub(crate) fn detach(self) {
        self.observed.store(true, Ordering::Relaxed);
    }

    fn api(&self) -> Api {
        self.client.api()
    }

    /// Runs `callback` with the outcome, on whichever thread completes the work,
    /// or at once if it is complete. If this returns an error the callback was
    /// dropped without running.
    pub(crate) fn on_ready<F>(&self, callback: F) -> Result<()>
    where
        F: FnOnce(Result<()>) + Send + 'static,
    {
        let boxed = Box::into_raw(Box::new(Pending { callback, api: self.api(), what: self.what }));
        let mut args = Padded::<sys::PJRT_Event_OnReady_Args>::new();
        args.event = self.raw.as_ptr();
        args.callback = Some(run_callback::<F>);
        args.user_arg = boxed.cast();
        // SAFETY: `raw` is live; `boxed` is freed by the callback, which PJRT runs
        // exactly once after accepting it.
        let accepted = unsafe { self.api().call(function!(PJRT_Event_OnReady), &mut args) };
        if accepted.is_err() {
            // SAFETY: a refused callback never runs, so the box is still ours.
            drop(unsafe { Box::from_raw(boxed) });
        }
        accepted
    }
}

struct Pending<F> {
    callback: F,
    api: Api,
    what: &'static str,
}

unsafe extern "C" fn run_callback<F>(error: *mut sys::PJRT_Error, user_arg: *mut c_void)
where
    F: FnOnce(Result<()>) + Send + 'static,
{
    // SAFETY: `user_arg` is the box made by `on_ready`; PJRT passes it once.
    let pending = unsafe { Box::from_raw(user_arg.cast::<Pending<F>>()) };
    let Pending { callback, api, what } = *pending;
    let outcome = match NonNull::new(error) {
        None => Ok(()),
        // SAFETY: the callback owns the error it is given.
        Some(error) => Err(unsafe { api.take_error(what, error) }),
    };
    let run = || {
        callback(outcome);
        Ok(())
    };
    if let Err(panic) = caught("a completion callback", run) {
        tracing::error!(what, %panic);
    }
}

impl Future for Event {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = match &self.shared {
            Some(shared) => Arc::clone(shared),
            None => {
                let shared = Arc::new(Mutex::new(Polled::default()));
                let completed = Arc::clone(&shared);
                self.on_ready(move |outcome| complete(&completed, outcome))?;
                self.shared = Some(Arc::clone(&shared));
                shared
            }
        };
        let mut polled = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match &polled.outcome {
            Some(outcome) => {
                self.observed.store(true, Ordering::Relaxed);
                Poll::Ready(outcome.clone())
            }
            None => {
                polled.waker = Some(ctx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn complete(shared: &Mutex<Polled>, outcome: Result<()>) {
    let mut polled = shared.lock().unwrap_or_else(PoisonError::into_inner);
    polled.outcome = Some(outcome);
    let waker = polled.waker.take();
    // Woken outside the lock: the task may poll at once on another thread.
    drop(polled);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let what = self.what;
        if !self.observed.load(Ordering::Relaxed) {
            let logged = self.on_ready(move |outcome| {
                if let Err(error) = outcome {
                    tracing::error!(what, %error, "work failed and nobody waited for it");
                }
            });
            log_failed("observe a dropped event", logged);
        }
        let mut args = Padded::<sys::PJRT_Event_Destroy_Args>::new();
        args.event = self.raw.as_ptr();
        // SAFETY: `raw` is owned by `self` and not used again.
        let freed = unsafe { self.api().call(function!(PJRT_Event_Destroy), &mut args) };
        log_failed("free an event", freed);
    }
}

/// For `drop`, which cannot return an error.
pub(crate) fn log_failed(what: &'static str, outcome: Result<(), Error>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "failed to {what}");
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("what", &self.what).finish_non_exhaustive()
    }
}
