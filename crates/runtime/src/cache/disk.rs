//! Executables in a folder.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::entry::{self, Damage};
use super::key::Key;
use super::lock::KeyLock;

pub(super) const EXECUTABLE: &str = "executable";
pub(super) const LOCK: &str = "lock";
pub(super) const TEMPORARY: &str = "tmp";

/// A folder of executables that any number of processes share.
///
/// Needs no plugin: it lists, cleans and explains what it holds. A [`Cache`](crate::Cache) also
/// reads and writes it.
///
/// The folder may be moved or copied: nothing inside says where it is. It holds machine code, and
/// is to be trusted like a folder of programs.
#[derive(Debug, Clone)]
pub struct Disk {
    pub(super) folder: PathBuf,
    pub(super) cap_bytes: u64,
}

impl Disk {
    /// The executables in `folder`, which need not exist yet, of `cap_bytes` at most.
    pub fn new(folder: impl Into<PathBuf>, cap_bytes: u64) -> Disk {
        Disk { folder: folder.into(), cap_bytes }
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn path(&self, key: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{key}.{extension}"))
    }

    /// What was serialized for the key, if it is there, and marks it as used now.
    pub(super) fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, Damage> {
        let path = self.path(&key.to_string(), EXECUTABLE);
        let payload = entry::payload(&path)?;
        if payload.is_some() {
            // The file's date is its last use, so that using it does not mean writing it. In a
            // folder that cannot be written, nothing is evicted either.
            let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        Ok(payload)
    }

    /// The right to compile for the key. Blocks while another process has it.
    pub(super) fn lock(&self, key: &Key) -> io::Result<KeyLock> {
        fs::create_dir_all(&self.folder)?;
        KeyLock::acquire(&self.path(&key.to_string(), LOCK))
    }

    /// Keeps an executable, and makes room for it by removing those unused for longest.
    ///
    /// Readers see the whole file or none. It is not forced to the disk: what a power failure tears
    /// is found by its digest.
    pub(super) fn write(
        &self,
        key: &Key,
        name: &str,
        compile_time: Duration,
        payload: &[u8],
    ) -> io::Result<()> {
        let head = entry::head(key, name, compile_time, payload);
        let bytes = (head.len() + payload.len()) as u64;
        if bytes > self.cap_bytes {
            let cap = self.cap_bytes;
            let message = format!("its {bytes} bytes are more than the cap of {cap}");
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, message));
        }
        let mut file = tempfile::Builder::new()
            .prefix(&format!("{key}."))
            .suffix(&format!(".{TEMPORARY}"))
            // As other files: the process's umask takes its share away.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&self.folder)?;
        file.write_all(&head)?;
        file.write_all(payload)?;
        file.as_file().set_modified(SystemTime::now())?;
        let path = self.path(&key.to_string(), EXECUTABLE);
        file.persist(&path)?;
        self.evict(&path);
        Ok(())
    }
}
