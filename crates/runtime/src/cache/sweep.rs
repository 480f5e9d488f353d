//! Listing and cleaning a folder of executables.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk::{Disk, EXECUTABLE, LOCK, TEMPORARY};
use super::entry::{self, Entry};
use super::key::Key;
use super::lock::KeyLock;
use super::why::{Candidate, Why};
use crate::error::{Code, Error, Result};

/// What a folder holds.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Listing {
    /// Executables, the last used first.
    pub entries: Vec<Entry>,
    /// Files that are named like executables and are none, with what is wrong with them.
    pub damaged: Vec<(PathBuf, String)>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Swept {
    /// Executables.
    pub executables: usize,
    /// Bytes of all files, those of interrupted writes included.
    pub bytes: u64,
}

impl Disk {
    /// Lists the executables. Reads their descriptions, not their code: damage to that is found
    /// when it is loaded.
    ///
    /// # Errors
    /// [`Code::CacheFolder`] when the folder cannot be read. One that does not exist is empty.
    pub fn ls(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for path in self.files(EXECUTABLE).map_err(|error| self.failed("list", error))? {
            match entry::describe(&path) {
                Ok(Some(entry)) => listing.entries.push(entry),
                // Removed since it was listed.
                Ok(None) => {}
                Err(damage) => listing.damaged.push((path, damage.to_string())),
            }
        }
        listing.entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_used));
        Ok(listing)
    }

    /// Removes damaged files, what killed processes left, and then the executables unused for
    /// longest until the rest fits the cap. Safe while other processes use the folder.
    ///
    /// # Errors
    /// [`Code::CacheFolder`] when the folder cannot be read or a file cannot be removed.
    pub fn gc(&self) -> Result<Swept> {
        let mut swept = Swept::default();
        for (path, _) in self.ls()?.damaged {
            self.remove(&path, &mut swept)?;
        }
        self.sweep_leftovers(&mut swept)?;
        self.shrink(None, &mut swept)?;
        Ok(swept)
    }

    /// Removes all executables. Safe while other processes use the folder: one that is reading
    /// an executable gets it whole.
    ///
    /// # Errors
    /// As [`Disk::gc`].
    pub fn clear(&self) -> Result<Swept> {
        let mut swept = Swept::default();
        for path in self.files(EXECUTABLE).map_err(|error| self.failed("list", error))? {
            self.remove(&path, &mut swept)?;
            swept.executables += 1;
        }
        self.sweep_leftovers(&mut swept)?;
        Ok(swept)
    }

    /// Compares a key with the executables here: the nearest other one, and the parts that differ.
    ///
    /// # Errors
    /// As [`Disk::ls`].
    pub fn why(&self, name: &str, key: &Key) -> Result<Why> {
        let entries = self.ls()?.entries;
        Ok(Why::new(name, key, entries.into_iter().map(Candidate::from)))
    }

    /// After a write: a folder that cannot be cleaned still holds the right executables.
    pub(super) fn evict(&self, keep: &Path) {
        let mut swept = Swept::default();
        let done =
            self.shrink(Some(keep), &mut swept).and_then(|()| self.sweep_leftovers(&mut swept));
        if let Err(error) = done {
            tracing::warn!(%error, "the folder of executables may grow above its cap");
        }
    }

    fn shrink(&self, keep: Option<&Path>, swept: &mut Swept) -> Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for path in self.files(EXECUTABLE).map_err(|error| self.failed("list", error))? {
            // One that is gone takes no room.
            let Ok(metadata) = path.metadata() else { continue };
            let used = metadata.modified().map_err(|error| self.failed("list", error))?;
            files.push((used, metadata.len(), path));
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in files.iter().filter(|(_, _, path)| Some(path.as_path()) != keep) {
            if total <= self.cap_bytes {
                break;
            }
            self.remove(path, swept)?;
            swept.executables += 1;
            total -= bytes;
            tracing::debug!(path = %path.display(), "removed an executable to make room");
        }
        Ok(())
    }

    /// Removes the unfinished files of processes that died: nobody holds their key's lock.
    fn sweep_leftovers(&self, swept: &mut Swept) -> Result<()> {
        let files = |extension| self.files(extension).map_err(|error| self.failed("list", error));
        for path in files(TEMPORARY)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let key = name.split('.').next().unwrap_or_default();
            if let Some(_lock) = KeyLock::try_acquire(&self.path(key, LOCK)) {
                self.remove(&path, swept)?;
            }
        }
        for path in files(LOCK)? {
            // Letting go of it removes it.
            drop(KeyLock::try_acquire(&path));
        }
        Ok(())
    }

    /// Files of ours, by extension: all others are left alone.
    fn files(&self, extension: &str) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let is_ours = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let key = name.split('.').next().unwrap_or_default();
            let is_key = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_key && path.extension().is_some_and(|found| found == extension)
        };
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        Ok(paths.into_iter().filter(|path| is_ours(path)).collect())
    }

    fn remove(&self, path: &Path, swept: &mut Swept) -> Result<()> {
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        match fs::remove_file(path) {
            Ok(()) => swept.bytes += bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(self.failed("clean", error)),
        }
        Ok(())
    }

    fn failed(&self, verb: &str, error: io::Error) -> Error {
        let folder = self.folder.display();
        Error::because(Code::CacheFolder, format!("cannot {verb} the folder {folder}"), error)
    }
}
