//! One process at a time for each key.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An exclusive lock on a file that exists only while it is held or waited for. The kernel lets go
/// of it when its process dies, however it dies.
#[derive(Debug)]
pub(super) struct KeyLock {
    _file: File,
    path: PathBuf,
}

impl KeyLock {
    /// Blocks while another holds it.
    pub(super) fn acquire(path: &Path) -> io::Result<KeyLock> {
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) => (),
                Err(TryLockError::WouldBlock) => {
                    tracing::info!(lock = %path.display(), "another compiles this; waiting for it");
                    file.lock()?;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if is_at(&file, path) {
                return Ok(KeyLock { _file: file, path: path.to_owned() });
            }
        }
    }

    /// `None` when another holds it.
    pub(super) fn try_acquire(path: &Path) -> Option<KeyLock> {
        let file = open(path).ok()?;
        let is_ours = file.try_lock().is_ok() && is_at(&file, path);
        is_ours.then(|| KeyLock { _file: file, path: path.to_owned() })
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        // Removed before it is let go: whoever waits for it then finds that it locked a file which
        // is no longer there, and begins anew.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(path)
}

/// Whether the open file is still the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(open), Ok(there)) => open.dev() == there.dev() && open.ino() == there.ino(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    /// Removing the file on release must never let two in.
    #[test]
    fn one_holder_at_a_time_though_the_file_comes_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.lock");
        let (inside, turns) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _lock = KeyLock::acquire(&path).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        thread::yield_now();
                        turns.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(turns.into_inner(), 800);
        assert!(!path.exists());
    }

    #[test]
    fn a_held_lock_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.lock");
        let held = KeyLock::acquire(&path).unwrap();
        assert!(KeyLock::try_acquire(&path).is_none());
        drop(held);
        assert!(KeyLock::try_acquire(&path).is_some());
    }
}
