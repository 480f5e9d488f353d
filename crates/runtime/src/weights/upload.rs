//! From mapped files to a device.

use std::ops::ControlFlow;

use rectiflow_hlo::{DType, Shape};
use rectiflow_pjrt::{self as pjrt, Buffer, Client, Device, HostSemantics};

use super::{
    cast::cast,
    checkpoint::Tensor,
    plan::{Item, Plan},
};
use crate::element::element_type;
use crate::error::{Code, Error, Result};

/// How far an upload is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Parameters handed to the device.
    pub parameters: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of all parameters.
    pub total_bytes: u64,
}

impl Plan {
    /// Sends each parameter to `device`, in order. A tensor that needs no conversion goes from the
    /// mapped file without a copy of ours; one that does is converted by itself.
    ///
    /// Returns when all are handed over, before the device has them all; a transfer that fails
    /// shows where the buffer is used. `progress` is called after each parameter and may stop the
    /// upload, which drops what was sent.
    ///
    /// # Errors
    /// Those of the device, with the parameter's tensor; [`Code::Cancelled`] when `progress` stops.
    pub fn upload(
        &self,
        client: &Client,
        device: &Device,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Buffer>> {
        let mut done = Progress { parameters: 0, bytes: 0, total_bytes: self.bytes() };
        let mut buffers = Vec::with_capacity(self.items.len());
        for item in &self.items {
            buffers.push(item.upload(client, device)?);
            done.parameters += 1;
            done.bytes += item.bytes();
            if progress(done).is_break() {
                let what = format!(
                    "upload stopped after {} of {} parameters",
                    done.parameters,
                    self.len()
                );
                return Err(Error::new(Code::Cancelled, what));
            }
        }
        Ok(buffers)
    }
}

impl Item {
    fn upload(&self, client: &Client, device: &Device) -> Result<Buffer> {
        let element_type = element_type(self.shape.dtype)?;
        let dims = &self.shape.dims;
        if let [tensor] = &self.tensors[..]
            && tensor.shape().dtype == self.shape.dtype
        {
            let whole = tensor.clone();
            let semantics = HostSemantics::UntilTransferCompletes;
            let sent = client.buffer_from_owned(whole, element_type, dims, semantics, device);
            return sent.map_err(|cause| self.failed(cause));
        }
        let bytes = self.tensors.iter().map(|tensor| part(tensor, self.shape.dtype));
        // One array on the host, so that the device's layout is the plugin's concern.
        let bytes = bytes.fold(Vec::with_capacity(self.bytes() as usize), |mut all, part| {
            all.extend_from_slice(&part);
            all
        });
        let semantics = HostSemantics::UntilTransferCompletes;
        let sent = client.buffer_from_owned(bytes, element_type, dims, semantics, device);
        sent.map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: pjrt::Error) -> Error {
        let path = self.tensors.first().map(|tensor| tensor.path().display().to_string());
        let from = path.map(|path| format!(" from {path}")).unwrap_or_default();
        Error::pjrt(
            Code::Plugin,
            format!("cannot upload {}{from}", Shape::clone(&self.shape)),
            cause,
        )
    }
}

/// Bytes of a tensor in the wanted dtype.
fn part(tensor: &Tensor, dtype: DType) -> std::borrow::Cow<'_, [u8]> {
    if tensor.shape().dtype == dtype {
        tensor.bytes().into()
    } else {
        cast(tensor.bytes(), tensor.shape().dtype, dtype).into()
    }
}
