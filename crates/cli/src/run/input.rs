//! Arrays in files.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use rectiflow_pjrt::{ElementType, packing};
use safetensors::tensor::{SafeTensors, TensorInfo};

use super::{dtype, npy};

/// An array in host memory, and where it is from.
pub(super) struct Input {
    pub(super) source: String,
    pub(super) elements: Elements,
    pub(super) dims: Vec<i64>,
    pub(super) order: Order,
    file: Arc<Vec<u8>>,
    range: Range<usize>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Elements {
    Typed(ElementType),
    /// This many bytes each, of a type that the program's parameter tells.
    Untyped(usize),
}

/// Which dimension is outermost in memory.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    FirstOutermost,
    LastOutermost,
}

/// All inputs, by what they are called: numbers, if they are for parameters.
pub(super) type Inputs = BTreeMap<String, Input>;

/// Reads all files. Arrays of .npy files are called by their place on the command line.
pub(super) fn read(paths: &[PathBuf]) -> Result<Inputs> {
    let mut inputs = Inputs::new();
    let mut kinds: [Option<&Path>; 2] = [None; 2];
    for (i, path) in paths.iter().enumerate() {
        let shown = path.display();
        let bytes = fs::read(path).with_context(|| format!("cannot read the input {shown}"))?;
        let is_npy = npy::is_npy(&bytes);
        kinds[usize::from(is_npy)] = Some(path);
        if let [Some(tensors), Some(npy)] = kinds {
            bail!(
                "cannot tell the order of parameters: {} names its tensors, and {} has its place \
                 on the command line; give all inputs as safetensors or all as .npy",
                tensors.display(),
                npy.display()
            );
        }
        let found = if is_npy {
            npy::read(bytes, path).map(|input| vec![(i.to_string(), input)])
        } else {
            tensors(bytes, path)
        };
        for (name, input) in found.with_context(|| format!("cannot use the input {shown}"))? {
            let source = input.source.clone();
            if let Some(other) = inputs.insert(name, input) {
                bail!("{source} and {} have one name; give each parameter once", other.source);
            }
        }
    }
    Ok(inputs)
}

fn tensors(bytes: Vec<u8>, path: &Path) -> Result<Vec<(String, Input)>> {
    let (head, metadata) = SafeTensors::read_metadata(&bytes)
        .context("it is neither a .npy file nor a whole safetensors file")?;
    let file = Arc::new(bytes);
    // Its length comes before the head.
    let start = size_of::<u64>() + head;
    let input = |(name, info): (String, &TensorInfo)| {
        let source = format!("tensor `{name}` of {}", path.display());
        let input = tensor(&file, start, info, source.clone());
        Ok((name, input.with_context(|| format!("cannot use {source}"))?))
    };
    metadata.tensors().into_iter().map(input).collect()
}

fn tensor(file: &Arc<Vec<u8>>, start: usize, info: &TensorInfo, source: String) -> Result<Input> {
    let Some(element_type) = dtype::from_safetensors(info.dtype) else {
        bail!("elements of type {:?} cannot be passed to a program", info.dtype);
    };
    let dims = info.shape.iter().map(|dim| i64::try_from(*dim)).collect::<Result<Vec<_>, _>>()?;
    let range = start + info.data_offsets.0..start + info.data_offsets.1;
    let elements = Elements::Typed(element_type);
    let (file, range) = if element_type.is_sub_byte() {
        // Programs take one element per byte.
        let n = info.shape.iter().product();
        let unpacked = packing::unpack(&file[range], element_type, n)?;
        (Arc::new(unpacked), 0..n)
    } else {
        (Arc::clone(file), range)
    };
    Ok(Input { source, elements, dims, order: Order::FirstOutermost, file, range })
}

impl Input {
    /// An array that is the end of a file.
    pub(super) fn at_end_of(
        file: Vec<u8>,
        start: usize,
        elements: Elements,
        dims: Vec<i64>,
        order: Order,
        source: String,
    ) -> Input {
        let range = start..file.len();
        Input { source, elements, dims, order, file: Arc::new(file), range }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.file[self.range.clone()]
    }

    /// The type of the elements, which `fit` has settled.
    pub(super) fn known_type(&self) -> ElementType {
        match self.elements {
            Elements::Typed(element_type) => element_type,
            Elements::Untyped(_) => unreachable!("`fit` gives every input a type"),
        }
    }

    /// Bytes from one element to the next, along each dimension.
    pub(super) fn byte_strides(&self) -> Vec<i64> {
        let mut stride = self.known_type().host_bytes() as i64;
        let mut strides = vec![0; self.dims.len()];
        let dims: Vec<usize> = match self.order {
            Order::FirstOutermost => (0..self.dims.len()).rev().collect(),
            Order::LastOutermost => (0..self.dims.len()).collect(),
        };
        for dim in dims {
            strides[dim] = stride;
            // Of an array without elements no stride counts.
            stride = stride.saturating_mul(self.dims[dim]);
        }
        strides
    }
}
