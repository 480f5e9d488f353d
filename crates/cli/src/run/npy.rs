//! NumPy's `.npy` files.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use npyz::{DType, Endianness, NpyHeader, TypeStr};

use super::dtype;
use super::input::{Elements, Input, Order};

const MAGIC: &[u8] = b"\x93NUMPY";

pub(super) fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

pub(super) fn read(mut file: Vec<u8>, path: &Path) -> Result<Input> {
    let mut rest = &file[..];
    let header = NpyHeader::from_reader(&mut rest).context("its header is damaged")?;
    let start = file.len() - rest.len();
    let element = match header.dtype() {
        DType::Plain(element) => element,
        other => bail!("it has a structured type, {}; expected numbers", other.descr()),
    };
    let (elements, part) = elements(&element)?;
    let dims = header.shape().iter().map(|dim| i64::try_from(*dim));
    let dims = dims.collect::<Result<Vec<_>, _>>().context("its shape is too large")?;
    let width = header.dtype().num_bytes().unwrap_or(0);
    let expected = dims.iter().try_fold(width, |n, dim| n.checked_mul(*dim as usize));
    if expected != Some(file.len() - start) {
        let found = file.len() - start;
        bail!("it should have {} bytes of elements, and has {found}", expected.unwrap_or(0));
    }
    if element.endianness() == Endianness::Big {
        file[start..].chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    let order = match header.order() {
        npyz::Order::C => Order::FirstOutermost,
        npyz::Order::Fortran => Order::LastOutermost,
    };
    Ok(Input::at_end_of(file, start, elements, dims, order, path.display().to_string()))
}

/// What the elements are, and the bytes of the numbers that they consist of.
fn elements(element: &TypeStr) -> Result<(Elements, usize)> {
    let text = element.to_string();
    let letter = text.trim_start_matches(['<', '>', '|', '=']).chars().next().unwrap_or(' ');
    let bytes = element.num_bytes().unwrap_or(0);
    if letter == 'V' {
        return Ok((Elements::Untyped(bytes), 1));
    }
    match dtype::from_numpy(letter, bytes as u64) {
        Some(element_type) => {
            let part = if letter == 'c' { bytes / 2 } else { bytes };
            Ok((Elements::Typed(element_type), part))
        }
        None => bail!(
            "it has elements of type `{text}`, which no program takes; expected booleans, \
             integers, floats of 16 to 64 bits or complex numbers"
        ),
    }
}
