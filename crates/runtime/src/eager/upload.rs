//! Arrays from what the host has.

use std::ops::ControlFlow;
use std::sync::Arc;

use ndarray::{ArrayBase, Data, Dimension};
use rectiflow_hlo::{DType, Shape};
use rectiflow_pjrt::{Buffer, HostArray, HostElement};
use safetensors::tensor::TensorView;

use super::slot::{Slot, Source};
use super::{Array, Queue, Read};
use crate::element;
use crate::error::{Code, Error, Result};
use crate::weights::{Plan, Progress, dtype_of};

impl Queue {
    /// Copies an array to the device, in any memory order: its strides are no part of a program.
    ///
    /// Returns when the host array is no longer needed; the copy may still be under way.
    ///
    /// # Errors
    /// What the plugin refuses.
    pub fn from_ndarray<S, D>(&self, array: &ArrayBase<S, D>) -> Result<Array>
    where
        S: Data,
        S::Elem: HostElement,
        D: Dimension,
    {
        if let Some(elements) = array.as_slice() {
            let dims: Vec<i64> = array.shape().iter().map(|&dim| dim as i64).collect();
            return self.from_slice(elements, &dims);
        }
        // Copied here, since elements outside a view's slice cannot be lent safely.
        self.from_ndarray(&array.as_standard_layout())
    }

    /// Copies elements in row-major order to the device. Otherwise as [`Queue::from_ndarray`].
    ///
    /// # Errors
    /// [`Code::Array`] if the number of elements is not that of `dims`, and what the plugin refuses.
    pub fn from_slice<T: HostElement>(&self, elements: &[T], dims: &[i64]) -> Result<Array> {
        let array = HostArray::of_slice(elements, dims);
        self.send(array, T::ELEMENT_TYPE.name(), dims)
    }

    /// Copies the bytes of elements in row-major order, little endian, elements below a byte one
    /// byte each. Otherwise as [`Queue::from_slice`].
    ///
    /// # Errors
    /// As [`Queue::from_slice`].
    pub fn from_bytes(&self, bytes: &[u8], dtype: DType, dims: &[i64]) -> Result<Array> {
        let array = HostArray::dense(bytes, element::element_type(dtype)?, dims);
        self.send(array, dtype.mlir(), dims)
    }

    /// A scalar.
    ///
    /// # Errors
    /// What the plugin refuses.
    pub fn scalar<T: HostElement>(&self, value: T) -> Result<Array> {
        self.from_slice(&[value], &[])
    }

    /// Copies a tensor of a safetensors file. Otherwise as [`Queue::from_bytes`].
    ///
    /// # Errors
    /// [`Code::Array`] for an element type that graphs do not know, and what the plugin refuses.
    pub fn from_safetensors(&self, tensor: &TensorView<'_>) -> Result<Array> {
        let dtype = dtype_of(tensor.dtype()).ok_or_else(|| {
            let message = format!("tensors of {:?} cannot be used in a graph", tensor.dtype());
            Error::new(Code::Array, message)
        })?;
        let dims: Vec<i64> = tensor.shape().iter().map(|&dim| dim as i64).collect();
        self.from_bytes(tensor.data(), dtype, &dims)
    }

    /// Sends the parameters of a checkpoint, in the plan's order; see [`Plan::upload`], also for
    /// `progress` and for when it returns.
    ///
    /// # Errors
    /// As [`Plan::upload`].
    pub fn upload(
        &self,
        plan: &Plan,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Array>> {
        let buffers = plan.upload(&self.inner.client, &self.inner.device, progress)?;
        buffers.into_iter().map(|buffer| self.from_buffer(buffer)).collect()
    }

    /// Takes over an array that is on this queue's device, such as an uploaded weight.
    ///
    /// # Errors
    /// [`Code::Array`] for an array of another client or device, or of a type that graphs do not
    /// know.
    pub fn from_buffer(&self, buffer: Buffer) -> Result<Array> {
        let device = buffer.device().map_err(Error::execute)?;
        if device != self.inner.device {
            let message = format!(
                "expected an array on {:?}, the device of this queue, found one on {device:?}",
                self.inner.device
            );
            return Err(Error::new(Code::Array, message));
        }
        let shape = Arc::new(element::shape(buffer.shape())?);
        let slot = Slot::ready(Arc::clone(&shape), Source::Outside, buffer);
        Ok(self.graph.value(shape, Arc::new(slot)))
    }

    /// The same array, without a copy, as one of this queue, which must be on the same device.
    /// Blocks until its own queue has launched what computes it.
    ///
    /// # Errors
    /// [`Code::Array`] for an array of another device, and the array's own error.
    pub fn adopt(&self, array: &Array) -> Result<Array> {
        array.realize()?;
        let slot = Slot::of(array)?;
        let device = slot.wait()?.device().map_err(Error::execute)?;
        if device != self.inner.device {
            let message = "an array of another device cannot be adopted; read it and send it again";
            return Err(Error::new(Code::Array, message));
        }
        Ok(self.graph.value(Arc::clone(&slot.shape), slot))
    }

    fn send(
        &self,
        array: rectiflow_pjrt::Result<HostArray<'_>>,
        element_type: &str,
        dims: &[i64],
    ) -> Result<Array> {
        let sent =
            array.and_then(|array| self.inner.client.buffer_from_host(&array, &self.inner.device));
        let buffer = sent.map_err(|error| {
            let message = format!("cannot send an array of {element_type} with dims {dims:?}");
            Error::pjrt(Code::Array, message, error)
        })?;
        let shape = Arc::new(element::shape(buffer.shape())?);
        let slot = Slot::ready(Arc::clone(&shape), Source::Outside, buffer);
        Ok(self.graph.value(shape, Arc::new(slot)))
    }
}

impl Error {
    pub(super) fn upload(shape: &Shape, error: rectiflow_pjrt::Error) -> Error {
        Error::pjrt(Code::Array, format!("cannot send {shape} to the device"), error)
    }
}
