//! From a device to host memory.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use rectiflow_pjrt_sys as sys;

use crate::api::{Padded, function};
use crate::buffer::Buffer;
use crate::caught::caught;
use crate::client::non_null;
use crate::element_type::HostElement;
use crate::error::{Error, ErrorCode, Result};
use crate::event::Event;
use crate::host_array::check_len;
use crate::keep::LeakUnlessRun;
use crate::order::MinorToMajor;
use crate::packing::sign_extend;

impl Buffer {
    /// Copies the array into a new vector, dense, outermost dimension first.
    /// Blocks until the array is computed and copied.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if `T` is not the array's element type, `UNIMPLEMENTED`
    /// for an output of dynamic size, or of another dimension order on a plugin
    /// that cannot reorder, and the failure of the work that produces the array.
    pub fn to_vec<T: HostElement>(&self) -> Result<Vec<T>> {
        if T::ELEMENT_TYPE != self.element_type() {
            return Err(Error::invalid(format!(
                "an array of {} cannot be read as {}",
                self.shape(),
                T::ELEMENT_TYPE
            )));
        }
        let bytes = self.shape().host_bytes()?;
        let len = bytes / size_of::<T>();
        // Zeros first: nobody but the plugin can say whether it wrote them all.
        let mut elements = Box::<[T]>::new_zeroed_slice(len);
        // SAFETY: the box has room for `bytes` bytes and outlives the wait.
        unsafe { self.read_raw(elements.as_mut_ptr().cast(), bytes)? };
        if !T::ANY_BYTES {
            // SAFETY: all `bytes` bytes were zeroed, and then written.
            let raw = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), bytes) };
            if raw.iter().any(|byte| *byte > 1) {
                return Err(Error::invalid(
                    "the plugin returned a boolean that is neither 0 nor 1",
                ));
            }
        }
        // SAFETY: all elements are initialised, and were checked unless every
        // pattern of bytes is a valid `T`.
        Ok(unsafe { elements.assume_init() }.into_vec())
    }

    /// Copies the array's bytes; see [`Buffer::to_vec`].
    ///
    /// # Errors
    /// As [`Buffer::to_vec`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let len = self.shape().host_bytes()?;
        let mut bytes = vec![0; len];
        // SAFETY: the vector has room for `len` bytes and outlives the wait.
        unsafe { self.read_raw(bytes.as_mut_ptr(), len)? };
        Ok(bytes)
    }

    /// Copies the array into memory of the caller's. Blocks as [`Buffer::to_vec`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless `dst` is exactly as long as the array; otherwise
    /// as [`Buffer::to_vec`].
    pub fn read_into(&self, dst: &mut [u8]) -> Result<()> {
        check_len(self.shape(), dst.len())?;
        // SAFETY: `dst` is borrowed for longer than the wait.
        unsafe { self.read_raw(dst.as_mut_ptr(), dst.len()) }
    }

    /// Starts a copy into memory that the caller hands over and gets back from
    /// the returned future, or by [`HostRead::wait`]. Does not block.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless `dst` is exactly as long as the array, and
    /// `UNIMPLEMENTED` as [`Buffer::to_vec`].
    pub fn read_into_owned<O>(&self, dst: O) -> Result<HostRead<O>>
    where
        O: AsMut<[u8]> + Send + 'static,
    {
        // Boxed first: the bytes must not move while they are written.
        let mut dst = Box::new(dst);
        let bytes = (*dst).as_mut();
        check_len(self.shape(), bytes.len())?;
        self.check_readable()?;
        let (ptr, len) = (bytes.as_mut_ptr(), bytes.len());
        let shared = Arc::new(Shared::default());
        let completed = Arc::clone(&shared);
        // SAFETY: `dst` is held by the callback below until the copy is finished,
        // and untouched until then.
        let event = unsafe { self.start_read(ptr, len)? };
        let dst = LeakUnlessRun::new(dst);
        let element_type = self.element_type();
        event.on_ready(move |outcome| {
            // `as_mut` is the caller's code: should it panic, whoever waits must still be told.
            let filled = caught("the memory read into", || {
                let mut dst = dst.into_inner();
                sign_extend((*dst).as_mut(), element_type);
                Ok(*dst)
            });
            completed.complete(outcome.and(filled));
        })?;
        event.detach();
        Ok(HostRead { shared })
    }

    /// # Safety
    /// `dst` must have room for `len` initialised bytes, the size of the array.
    unsafe fn read_raw(&self, dst: *mut u8, len: usize) -> Result<()> {
        self.check_readable()?;
        if len == 0 {
            // Nothing to copy, but the failure of the work must still surface.
            return self.ready()?.wait();
        }
        // SAFETY: `dst` stays valid, because the copy is awaited right here. PJRT
        // completes the event only when it no longer writes.
        unsafe { self.start_read(dst, len)? }.wait()?;
        // SAFETY: `len` initialised bytes, and the copy is finished.
        let bytes = unsafe { std::slice::from_raw_parts_mut(dst, len) };
        sign_extend(bytes, self.element_type());
        Ok(())
    }

    /// # Safety
    /// `dst` must have room for `len` bytes until the event completes.
    unsafe fn start_read(&self, dst: *mut u8, len: usize) -> Result<Event> {
        // Always asked for: a device may store the array in another order.
        let order = MinorToMajor::of_rank(self.dims().len());
        let mut layout = order.layout();
        let mut args = Padded::<sys::PJRT_Buffer_ToHostBuffer_Args>::new();
        args.src = self.raw.as_ptr();
        args.host_layout = layout.as_mut_ptr();
        args.dst = dst.cast();
        args.dst_size = len;
        let function = function!(PJRT_Buffer_ToHostBuffer);
        // SAFETY: the layout outlives the call, `dst` is the caller's promise.
        unsafe { self.api().call(function, &mut args)? };
        let event = non_null(args.event, function.name)?;
        // SAFETY: a fresh event of this client.
        Ok(unsafe { Event::new(event, Arc::clone(&self.client), function.name) })
    }
}

/// A copy to the host under way. A future of the filled memory.
///
/// Dropping it does not cancel the copy; the memory is freed when it finishes.
#[must_use = "the memory comes back through this value"]
pub struct HostRead<O> {
    shared: Arc<Shared<O>>,
}

struct Shared<O> {
    state: Mutex<State<O>>,
    completed: Condvar,
}

struct State<O> {
    outcome: Option<Result<O>>,
    /// The outcome was handed out; there is no second one.
    taken: bool,
    waker: Option<Waker>,
}

impl<O> Default for Shared<O> {
    fn default() -> Self {
        let state = Mutex::new(State { outcome: None, taken: false, waker: None });
        Shared { state, completed: Condvar::new() }
    }
}

impl<O> Shared<O> {
    fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn complete(&self, outcome: Result<O>) {
        let mut state = self.lock();
        state.outcome = Some(outcome);
        let waker = state.waker.take();
        drop(state);
        self.completed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<O> State<O> {
    /// The outcome, once; after that an error.
    fn take(&mut self) -> Option<Result<O>> {
        if self.taken {
            let message = "the memory of this read was already handed out";
            return Some(Err(Error::with_code(ErrorCode::FailedPrecondition, message)));
        }
        let outcome = self.outcome.take();
        self.taken = outcome.is_some();
        outcome
    }
}

impl<O> HostRead<O> {
    /// Blocks until the copy is finished and returns the memory.
    ///
    /// # Errors
    /// The failure of the copy, or of the work that produces the array; the
    /// memory is dropped then. `FAILED_PRECONDITION` after the future was ready.
    pub fn wait(self) -> Result<O> {
        let mut state = self.shared.lock();
        loop {
            if let Some(outcome) = state.take() {
                return outcome;
            }
            state = self.shared.completed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<O> Future for HostRead<O> {
    type Output = Result<O>;

    fn poll(self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.shared.lock();
        match state.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                state.waker = Some(ctx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<O> fmt::Debug for HostRead<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ready = self.shared.lock().outcome.is_some();
        f.debug_struct("HostRead").field("ready", &ready).finish()
    }
}
