//! The note that an installation leaves beside its library, to tell damage later.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result};
use crate::manifest::{Purpose, Row};

const NAME: &str = "installed.json";

/// A pinned file that is installed in the cache folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Installed {
    /// The library or, for headers, the include folder.
    pub path: PathBuf,
    /// The library's length when it was installed; 0 for a folder.
    pub size: u64,
    /// The library's SHA-256 when it was installed; empty for a folder.
    pub sha256: String,
}

impl Installed {
    /// Writes the note into `folder`, whose `name` is what was installed.
    pub(crate) fn write(folder: &Path, name: &str, row: &Row) -> Result<()> {
        let path = folder.join(name);
        let (size, sha256) = match path.is_dir() {
            true => (0, String::new()),
            false => digest(&path, |_| ()).map_err(|e| Error::read(&path, e))?,
        };
        let note = json!({
            "package": row.package, "version": row.version, "wheel_sha256": row.sha256,
            "name": name, "size": size, "sha256": sha256,
        });
        let target = folder.join(NAME);
        fs::write(&target, format!("{note:#}\n")).map_err(|e| Error::write(&target, e))
    }

    /// What is installed in `folder` for `row`; `None` when nothing, something else, or a file
    /// whose length is no longer what it was.
    pub(crate) fn read(folder: &Path, row: &Row) -> Option<Installed> {
        let installed = Installed::noted(folder, row)?;
        let there = match installed.sha256.is_empty() {
            true => installed.path.is_dir(),
            false => fs::metadata(&installed.path).is_ok_and(|m| m.len() == installed.size),
        };
        there.then_some(installed)
    }

    /// What the note says, whether or not it is still so.
    pub(crate) fn noted(folder: &Path, row: &Row) -> Option<Installed> {
        let text = fs::read_to_string(folder.join(NAME)).ok()?;
        let note: Value = serde_json::from_str(&text).ok()?;
        if note["wheel_sha256"] != row.sha256 {
            return None;
        }
        let name = note["name"].as_str()?;
        let sha256 = note["sha256"].as_str()?;
        // The note lies in a folder that others may write to: it must not lead out of it, and only
        // a folder of headers goes without a digest.
        let beside = Path::new(name).components().all(|c| matches!(c, Component::Normal(_)));
        if !beside || sha256.is_empty() != (row.purpose == Purpose::Headers) {
            return None;
        }
        let (path, sha256) = (folder.join(name), sha256.to_owned());
        Some(Installed { path, size: note["size"].as_u64()?, sha256 })
    }

    /// Compares the file with what was installed, byte for byte.
    pub(crate) fn verify(&self) -> Result<()> {
        if self.sha256.is_empty() {
            return Ok(());
        }
        let (size, found) = digest(&self.path, |_| ()).map_err(|e| Error::read(&self.path, e))?;
        if found == self.sha256 {
            return Ok(());
        }
        let message = format!(
            "{} is not what was installed: expected {} bytes with sha256 {}, found {size} with \
             {found}; remove its folder and install it again",
            self.path.display(),
            self.size,
            self.sha256
        );
        Err(Error::new(Code::Damaged, message))
    }
}

/// A file's length and SHA-256; `each` hears of every piece that is read.
pub(crate) fn digest(path: &Path, mut each: impl FnMut(u64)) -> io::Result<(u64, String)> {
    let mut file = fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut size = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        size += count as u64;
        each(count as u64);
    }
    Ok((size, hasher.finalize().iter().map(|b| format!("{b:02x}")).collect()))
}
