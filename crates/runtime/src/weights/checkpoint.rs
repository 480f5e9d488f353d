//! Which tensors a model's files hold.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use rectiflow_hlo::Shape;
use serde::Deserialize;

use super::mapped::{Entry, MappedFile};
use crate::error::{Code, Error, Result};

/// The tensors of one file or of several shards, by name. Cheap to clone.
#[derive(Clone)]
pub struct Checkpoint {
    tensors: Arc<BTreeMap<String, Tensor>>,
    /// Only names that begin so are seen, without it.
    prefix: String,
    path: PathBuf,
}

/// A tensor in a file. Its bytes are read when they are first looked at.
#[derive(Clone)]
pub struct Tensor {
    pub(super) file: Arc<MappedFile>,
    shape: Shape,
    range: Range<usize>,
}

impl Tensor {
    /// Dtype and dims, as the file states them.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Row-major elements, little endian.
    pub fn bytes(&self) -> &[u8] {
        self.file.bytes(self.range.clone())
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        &self.file.path
    }
}

/// So that a transfer can hold on to the file while it reads.
impl AsRef<[u8]> for Tensor {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// `*.safetensors.index.json`: which shard holds which tensor.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// Names that diffusers and transformers save weights under, without `.safetensors`.
const STEMS: [&str; 2] = ["diffusion_pytorch_model", "model"];

impl Checkpoint {
    /// Opens a `.safetensors` file, an index of shards (`.safetensors.index.json`), or a folder
    /// with either under the names that diffusers and transformers use. Reads headers only.
    ///
    /// # Errors
    /// Nothing there, a damaged file, a shard missing or without a tensor that the index promises.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint> {
        let path = path.as_ref();
        let file = if path.is_dir() { weights_in(path)? } else { path.to_path_buf() };
        let is_index = file.extension().is_some_and(|extension| extension == "json");
        let tensors = if is_index { open_shards(&file)? } else { open_file(&file)? };
        Ok(Checkpoint { tensors: Arc::new(tensors), prefix: String::new(), path: file })
    }

    /// The tensors whose names begin with `prefix`, under what follows it.
    pub fn with_prefix(&self, prefix: &str) -> Checkpoint {
        Checkpoint { prefix: format!("{}{prefix}", self.prefix), ..self.clone() }
    }

    /// Names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let begins = self.tensors.range(self.prefix.clone()..);
        begins.map_while(|(name, _)| name.strip_prefix(&self.prefix))
    }

    /// A tensor.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(&format!("{}{name}", self.prefix))
    }

    /// The file, or the index, that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name as the files have it.
    pub(super) fn full_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.names().count();
        write!(f, "Checkpoint({}, {n} tensors)", self.path.display())
    }
}

/// The index or the single file in a folder; an index wins, as in diffusers.
fn weights_in(folder: &Path) -> Result<PathBuf> {
    let names = STEMS.iter().flat_map(|stem| {
        ["safetensors.index.json", "safetensors"].map(|extension| format!("{stem}.{extension}"))
    });
    let found = names.clone().map(|name| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let expected = names.collect::<Vec<_>>().join(", ");
        let what = format!("no weights in {}: expected one of {expected}", folder.display());
        Error::new(Code::Checkpoint, what)
    })
}

fn open_file(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let (file, entries) = MappedFile::open(path)?;
    let tensor =
        |Entry { name, shape, range }| (name, Tensor { file: Arc::clone(&file), shape, range });
    Ok(entries.into_iter().map(tensor).collect())
}

fn open_shards(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let unreadable = |e: Box<dyn std::error::Error + Send + Sync>| {
        Error::because(Code::Checkpoint, format!("cannot read the index {}", path.display()), e)
    };
    let text = std::fs::read(path).map_err(|e| unreadable(e.into()))?;
    let index: Index = serde_json::from_slice(&text).map_err(|e| unreadable(e.into()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut shards: BTreeMap<&str, BTreeMap<String, Tensor>> = BTreeMap::new();
    let mut tensors = BTreeMap::new();
    for (name, shard) in &index.weight_map {
        if Path::new(shard).components().count() != 1 {
            let what = format!("{} names shard {shard}: expected a file beside it", path.display());
            return Err(Error::new(Code::Checkpoint, what));
        }
        if !shards.contains_key(shard.as_str()) {
            shards.insert(shard, open_file(&folder.join(shard))?);
        }
        let tensor =
            shards.get(shard.as_str()).and_then(|tensors| tensors.get(name)).ok_or_else(|| {
                let what = format!(
                    "{} says that {name} is in {shard}, which has no such tensor",
                    path.display()
                );
                Error::new(Code::Checkpoint, what)
            })?;
        tensors.insert(name.clone(), tensor.clone());
    }
    Ok(tensors)
}
