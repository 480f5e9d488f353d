//! Results in a safetensors file.

use std::borrow::Cow;

use anyhow::{Context as _, Result, bail};
use rectiflow_pjrt::{Buffer, packing};
use safetensors::{Dtype, View};

use super::dtype;
use crate::whole_file::WholeFile;

struct Tensor {
    dtype: Dtype,
    dims: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.dims
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes results under their numbers.
pub(super) fn write(results: &[Buffer], file: &WholeFile) -> Result<()> {
    let tensors = results.iter().enumerate().map(|(i, result)| {
        tensor(result).with_context(|| format!("cannot save result {i}, {}", result.shape()))
    });
    let tensors = tensors.collect::<Result<Vec<_>>>()?;
    let named = tensors.iter().enumerate().map(|(i, tensor)| (i.to_string(), tensor));
    file.write(|path| Ok(safetensors::serialize_to_file(named, None, path)?))
}

fn tensor(result: &Buffer) -> Result<Tensor> {
    let element_type = result.element_type();
    let Some(dtype) = dtype::to_safetensors(element_type) else {
        bail!("safetensors cannot hold {element_type}; convert it in the program, or print it");
    };
    let mut bytes = result.to_bytes()?;
    if element_type.is_sub_byte() {
        bytes = packing::pack(&bytes, element_type)?;
    }
    let dims = result.dims().iter().map(|dim| usize::try_from(*dim));
    Ok(Tensor { dtype, dims: dims.collect::<Result<_, _>>()?, bytes })
}
