//! Folders that vanish unless they are moved into place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Code, Error, Result};

/// A new folder with a name of its own, removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes `<parent>/.<name>.<process>-<count>`.
    pub(crate) fn new(parent: &Path, name: &str) -> Result<Folder> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!(".{name}.{}-{count}", std::process::id()));
        fs::create_dir_all(parent).map_err(|e| Error::write(parent, e))?;
        fs::create_dir(&path).map_err(|e| Error::write(&path, e))?;
        Ok(Folder(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Moves the folder to `target` in one step, so that no one ever sees a part of it. What was
    /// at `target` is removed; the caller holds the lock that keeps others from using it.
    pub(crate) fn publish(self, target: &Path) -> Result<()> {
        check_free(target)?;
        if target.exists() {
            fs::remove_dir_all(target).map_err(|e| Error::write(target, e))?;
        }
        fs::rename(&self.0, target).map_err(|e| Error::write(target, e))
    }
}

/// Refuses a target that is anything but nothing or a folder: what a person put there is not ours
/// to delete, and the system's own words for it lead astray.
pub(crate) fn check_free(target: &Path) -> Result<()> {
    let (Ok(found), false) = (fs::symlink_metadata(target), target.is_dir()) else {
        return Ok(());
    };
    let what = match fs::read_link(target) {
        Ok(to) if target.exists() => format!("a symbolic link to {}, no folder", to.display()),
        Ok(to) => format!("a symbolic link to {}, which does not exist", to.display()),
        Err(_) if found.is_file() => "a file".to_owned(),
        Err(_) => "no folder".to_owned(),
    };
    let message = format!(
        "{} is in the way: a folder is to be made there, found {what}; move it away",
        target.display()
    );
    Err(Error::new(Code::CacheUnwritable, message))
}

/// After a move there is nothing to remove, and a leftover is swept by the next installation.
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes what killed processes left of `name`. The caller holds the lock of `name`, so no
/// living process uses these.
pub(crate) fn sweep(parent: &Path, name: &str) {
    let start = format!(".{name}.");
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&start) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
