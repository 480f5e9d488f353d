//! Files that appear whole or not at all.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tempfile::NamedTempFile;

/// A file to be written later, which is known to be writable now.
pub(crate) struct WholeFile {
    path: PathBuf,
}

impl WholeFile {
    /// Fails where a file could not be written, so that nobody computes for an hour first.
    pub(crate) fn at(path: &Path) -> Result<WholeFile> {
        // A link stays one: what it leads to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            bail!("cannot write {}: it is there and is not a regular file", path.display());
        }
        let file = WholeFile { path };
        // Removed at once: a process that is stopped while it works leaves nothing behind.
        drop(file.temporary()?);
        Ok(file)
    }

    /// Lets `fill` write a file beside the path, and then puts it there.
    pub(crate) fn write(&self, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let temporary = self.temporary()?;
        let shown = self.path.display();
        let permissions = temporary.as_file().metadata()?.permissions();
        fill(temporary.path()).with_context(|| format!("cannot write {shown}"))?;
        // `fill` may have put another file there, for its owner alone, as `safetensors` does.
        fs::set_permissions(temporary.path(), permissions)?;
        temporary.persist(&self.path).with_context(|| format!("cannot write {shown}"))?;
        Ok(())
    }

    fn temporary(&self) -> Result<NamedTempFile> {
        let folder = match self.path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".tmp")
            // As other files: the process's umask takes its share away.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(|| {
                let (shown, folder) = (self.path.display(), folder.display());
                format!("cannot write {shown}: its folder {folder} must exist and be writable")
            })
    }
}
