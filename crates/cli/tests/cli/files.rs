//! Files of arrays, written by hand or by the `safetensors` crate.

use std::fs;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::sandbox::Sandbox;

/// Name, type, dimensions, bytes.
pub(crate) type Tensor<'a> = (&'a str, Dtype, &'a [usize], Vec<u8>);

pub(crate) fn f32s(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(crate) fn safetensors(sandbox: &Sandbox, file: &str, tensors: &[Tensor<'_>]) {
    let views = tensors.iter().map(|(name, dtype, dims, bytes)| {
        (*name, TensorView::new(*dtype, dims.to_vec(), bytes).expect("a tensor"))
    });
    let bytes = safetensors::serialize(views, None).expect("a file");
    sandbox.write(file, bytes);
}

/// Type, dimensions and bytes of a tensor in a file.
pub(crate) fn tensor(path: &Path, name: &str) -> (Dtype, Vec<usize>, Vec<u8>) {
    let bytes = fs::read(path).expect("a file");
    let tensors = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let tensor = tensors.tensor(name).expect("a tensor");
    (tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec())
}

/// `fortran` is Python's `True` or `False`.
pub(crate) fn npy(
    sandbox: &Sandbox,
    file: &str,
    descr: &str,
    fortran: &str,
    shape: &str,
    bytes: &[u8],
) {
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    let file_bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat();
    sandbox.write(file, file_bytes);
}
