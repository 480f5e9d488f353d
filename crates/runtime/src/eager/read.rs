//! From eager arrays to the host.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ndarray::{ArrayD, IxDyn};
use rectiflow_hlo::Tensor;
use rectiflow_pjrt::{Buffer, HostElement, HostRead};

use super::{Inner, Slot};
use crate::error::{Code, Error, Result};

/// What a value of a [`Queue`](super::Queue) can do beyond recording ops.
///
/// Reading runs what is pending up to the op that computes the value
/// ([`FlushReason::HostRead`](super::FlushReason::HostRead)). Every method gives the error of the
/// op, at its line of model code, if the value could not be computed; and [`Code::Array`] on a
/// value of a program that is only traced.
pub trait Read {
    /// Launches what computes the value, without waiting for the device. Blocks for compiling.
    ///
    /// # Errors
    /// See [`Read`].
    fn realize(&self) -> Result<()>;

    /// Whether the value's program was launched, or need not be.
    fn is_realized(&self) -> bool;

    /// Blocks until the device has computed the value.
    ///
    /// # Errors
    /// See [`Read`].
    fn wait(&self) -> Result<()>;

    /// The elements in row-major order. Blocks until they are on the host.
    ///
    /// # Errors
    /// See [`Read`]; [`Code::Array`] if `T` is not the element type.
    fn to_vec<T: HostElement>(&self) -> Result<Vec<T>>;

    /// The elements with their dims. Otherwise as [`Read::to_vec`].
    ///
    /// # Errors
    /// As [`Read::to_vec`].
    fn to_ndarray<T: HostElement>(&self) -> Result<ArrayD<T>>;

    /// The bytes of the elements in row-major order, little endian, elements below a byte one byte
    /// each. Otherwise as [`Read::to_vec`].
    ///
    /// # Errors
    /// See [`Read`].
    fn to_bytes(&self) -> Result<Vec<u8>>;

    /// The only element. Otherwise as [`Read::to_vec`].
    ///
    /// # Errors
    /// As [`Read::to_vec`]; [`Code::Array`] unless there is exactly one element.
    fn item<T: HostElement>(&self) -> Result<T>;

    /// Starts to bring the bytes of [`Read::to_bytes`] to the host, and returns a future of them.
    /// Blocks for compiling, not for the device.
    ///
    /// # Errors
    /// See [`Read`].
    fn read(&self) -> Result<Reading>;

    /// The array on the device, which may still be computing it.
    ///
    /// # Errors
    /// See [`Read`].
    fn buffer(&self) -> Result<impl Deref<Target = Buffer> + Send + Sync>;
}

/// A buffer that its array keeps.
struct Held(Arc<Slot>);

impl Deref for Held {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        match self.0.value.get() {
            Some(Ok(buffer)) => buffer,
            _ => unreachable!("made of a slot with a buffer"),
        }
    }
}

fn held(tensor: &Tensor) -> Result<Held> {
    let slot = Slot::of(tensor)?;
    let Some(queue) = Inner::of(tensor) else {
        unreachable!("a slot is the handle of a queue's tensor")
    };
    if let Some(message) = slot.has_no_buffer() {
        return Err(Error::new(Code::Array, message));
    }
    queue.realize(tensor.graph(), &slot);
    slot.wait()?;
    Ok(Held(slot))
}

/// The bytes of an array on their way to the host.
#[must_use = "the bytes are in what this becomes"]
pub struct Reading {
    read: HostRead<Vec<u8>>,
    held: Held,
}

impl Reading {
    /// Blocks until the bytes are there.
    ///
    /// # Errors
    /// What the device failed at, at the line of the op.
    pub fn wait(self) -> Result<Vec<u8>> {
        self.read.wait().map_err(|error| self.held.explain(error))
    }
}

impl Future for Reading {
    type Output = Result<Vec<u8>>;

    fn poll(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.read).poll(ctx);
        polled.map_err(|error| self.held.explain(error))
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.read.fmt(f)
    }
}

impl Held {
    fn explain(&self, error: rectiflow_pjrt::Error) -> Error {
        self.0.explain(error)
    }

    fn check<T: HostElement>(&self) -> Result<()> {
        if T::ELEMENT_TYPE == self.element_type() {
            return Ok(());
        }
        let message = format!("{} cannot be read as elements of {}", self.0.shape, T::ELEMENT_TYPE);
        Err(Error::new(Code::Array, message))
    }
}

impl Read for Tensor {
    fn realize(&self) -> Result<()> {
        held(self).map(|_| ())
    }

    fn is_realized(&self) -> bool {
        Slot::of(self).is_ok_and(|slot| slot.value.get().is_some())
    }

    fn wait(&self) -> Result<()> {
        let held = held(self)?;
        held.ready().and_then(|event| event.wait()).map_err(|error| held.explain(error))
    }

    fn to_vec<T: HostElement>(&self) -> Result<Vec<T>> {
        let held = held(self)?;
        held.check::<T>()?;
        held.to_vec().map_err(|error| held.explain(error))
    }

    fn to_ndarray<T: HostElement>(&self) -> Result<ArrayD<T>> {
        let dims: Vec<usize> = self.dims().iter().map(|&dim| dim as usize).collect();
        let array = ArrayD::from_shape_vec(IxDyn(&dims), self.to_vec()?);
        array.map_err(|error| Error::because(Code::Array, format!("{}", self.shape()), error))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let held = held(self)?;
        held.to_bytes().map_err(|error| held.explain(error))
    }

    fn item<T: HostElement>(&self) -> Result<T> {
        match self.to_vec()?[..] {
            [element] => Ok(element),
            _ => Err(Error::new(
                Code::Array,
                format!("expected an array of one element, found {}", self.shape()),
            )),
        }
    }

    fn read(&self) -> Result<Reading> {
        let held = held(self)?;
        let start = || held.read_into_owned(vec![0; held.shape().host_bytes()?]);
        let read = start().map_err(|error| held.explain(error))?;
        Ok(Reading { read, held })
    }

    fn buffer(&self) -> Result<impl Deref<Target = Buffer> + Send + Sync> {
        held(self)
    }
}
