//! One safetensors file in memory, by way of the page cache.

use std::{
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use memmap2::Mmap;
use rectiflow_hlo::{DType, Shape};
use safetensors::{Dtype, SafeTensors};

use crate::error::{Code, Error, Result};

/// A mapped file and where its tensors are.
pub(super) struct MappedFile {
    pub(super) path: PathBuf,
    map: Mmap,
}

/// What the header says of a tensor.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// In bytes of the file.
    pub(super) range: Range<usize>,
}

impl MappedFile {
    /// Maps a file and reads its header.
    pub(super) fn open(path: &Path) -> Result<(Arc<MappedFile>, Vec<Entry>)> {
        let unreadable = |e: std::io::Error| {
            Error::because(Code::Checkpoint, format!("cannot read weights {}", path.display()), e)
        };
        let file = File::open(path).map_err(unreadable)?;
        // SAFETY: the bytes are only ever read, as plain bytes, so a file that another process
        // changes meanwhile gives other numbers and nothing worse; one that is cut short ends the
        // process by SIGBUS, as it does for every program that maps files.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
        let entries = entries(&map).map_err(|reason| {
            let what = format!(
                "{} is not a whole safetensors file ({} bytes); download or convert it again",
                path.display(),
                map.len()
            );
            Error::because(Code::Checkpoint, what, reason)
        })?;
        Ok((Arc::new(MappedFile { path: path.to_path_buf(), map }), entries))
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.map[range]
    }
}

/// The header's tensors; the crate checks that their ranges tile the file.
fn entries(
    bytes: &[u8],
) -> std::result::Result<Vec<Entry>, Box<dyn std::error::Error + Send + Sync>> {
    let (header_len, metadata) = SafeTensors::read_metadata(bytes)?;
    /// Length of the number that says how long the header is.
    const PREFIX: usize = 8;
    let start = PREFIX + header_len;
    let tensor = |(name, info): (String, &safetensors::tensor::TensorInfo)| {
        let dims: Vec<i64> = info.shape.iter().map(|&dim| dim as i64).collect();
        let dtype = dtype_of(info.dtype).ok_or_else(|| format!("{name} is {:?}", info.dtype))?;
        let (from, to) = info.data_offsets;
        Ok(Entry { name, shape: Shape::new(dtype, dims), range: start + from..start + to })
    };
    let entries: Vec<Entry> =
        metadata.tensors().into_iter().map(tensor).collect::<std::result::Result<_, String>>()?;
    match entries.iter().map(|entry| entry.range.end).max().unwrap_or(start) {
        end if end == bytes.len() => Ok(entries),
        end => Err(format!("its header describes {end} bytes").into()),
    }
}

pub(crate) fn dtype_of(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::BOOL => DType::Pred,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::F8_E5M2 => DType::F8E5M2,
        Dtype::F8_E4M3 => DType::F8E4M3FN,
        Dtype::I16 => DType::I16,
        Dtype::U16 => DType::U16,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::I32 => DType::I32,
        Dtype::U32 => DType::U32,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        Dtype::I64 => DType::I64,
        Dtype::U64 => DType::U64,
        _ => return None,
    })
}
