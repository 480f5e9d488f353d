//! Puts a pinned wheel's library into the cache folder: once, whole, or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::PathBuf;

use crate::check::check_library;
use crate::download;
use crate::error::{Code, Error, Result};
use crate::find::Finder;
use crate::manifest::{Purpose, Row};
use crate::platform::Platform;
use crate::progress::Progress;
use crate::record::Installed;
use crate::staging;
use crate::unpack::unpack;

impl Finder {
    /// Installs the pinned plugin into the cache folder and returns the library's path.
    ///
    /// # Errors
    /// See [`install`](crate::install).
    pub fn install(&self, platform: Platform, progress: &mut dyn Progress) -> Result<PathBuf> {
        self.install_row(self.row(Purpose::Plugin(platform))?, progress)
    }

    /// Installs whatever a row of the manifest pins; returns the library or the include folder.
    ///
    /// # Errors
    /// See [`install`](crate::install).
    pub fn install_row(&self, row: &Row, progress: &mut dyn Progress) -> Result<PathBuf> {
        if let Some(installed) = self.undamaged(row, progress) {
            return Ok(installed.path);
        }
        let _lock = self.lock(row, progress)?;
        // Another process may have installed it while this one waited.
        if let Some(installed) = self.undamaged(row, progress) {
            return Ok(installed.path);
        }
        let settings = self.settings();
        let target = self.folder(row);
        let parent = target.parent().unwrap_or(&target);
        // Before minutes of download, and again before the move.
        staging::check_free(&target)?;
        staging::sweep(parent, &row.folder());
        let wheel = download::wheel(settings, row, progress)?;
        let staged = staging::Folder::new(parent, &row.folder())?;
        let name = unpack(&wheel.path, row, staged.path(), progress)?;
        if row.purpose != Purpose::Headers {
            let symbol = matches!(row.purpose, Purpose::Plugin(_)).then_some("GetPjrtApi");
            let library = staged.path().join(&name);
            check_library(&library, settings.machine, settings.glibc, symbol)?;
        }
        Installed::write(staged.path(), &name, row)?;
        staged.publish(&target)?;
        if !wheel.by_hand {
            // The library is in place; a wheel that stays only takes room.
            let _ = fs::remove_file(&wheel.path);
        }
        Ok(target.join(name))
    }

    /// What is installed in the cache folder for a row.
    pub fn installed(&self, row: &Row) -> Option<Installed> {
        Installed::read(&self.folder(row), row)
    }

    /// What is installed for a row, if it is still what was installed and can be used; what is
    /// damaged is said and then replaced.
    fn undamaged(&self, row: &Row, progress: &mut dyn Progress) -> Option<Installed> {
        match self.verify(row) {
            Ok(installed) => installed,
            Err(damage) => {
                progress.note(&format!("installing again: {damage}"));
                None
            }
        }
    }

    /// Reads an installed file again and compares it with what was installed; `None` when the row
    /// is not installed.
    ///
    /// # Errors
    /// [`Code::Damaged`] when it changed, or what [`check_plugin`](crate::check_plugin) says.
    pub fn verify(&self, row: &Row) -> Result<Option<Installed>> {
        let Some(installed) = Installed::noted(&self.folder(row), row) else {
            return Ok(None);
        };
        if !installed.path.exists() {
            let message = format!(
                "{} was removed; remove its folder and install it again",
                installed.path.display()
            );
            return Err(Error::new(Code::Damaged, message));
        }
        installed.verify()?;
        if let Purpose::Plugin(_) = row.purpose {
            let settings = self.settings();
            check_library(&installed.path, settings.machine, settings.glibc, Some("GetPjrtApi"))?;
        }
        Ok(Some(installed))
    }

    fn folder(&self, row: &Row) -> PathBuf {
        let kind = match row.purpose {
            Purpose::Plugin(_) => "plugins",
            Purpose::Headers => "headers",
            Purpose::Libclang => "tools",
        };
        self.settings().cache.join(kind).join(row.folder())
    }

    /// Takes the row's lock, which the system releases with the file, also when this process dies.
    fn lock(&self, row: &Row, progress: &mut dyn Progress) -> Result<File> {
        let cache = &self.settings().cache;
        let target = self.folder(row);
        let parent = target.parent().unwrap_or(cache).to_owned();
        for folder in [parent, cache.join("downloads"), cache.join("locks")] {
            fs::create_dir_all(&folder).map_err(|e| Error::write(&folder, e))?;
        }
        let path = cache.join("locks").join(format!("{}.lock", row.folder()));
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|e| Error::write(&path, e))?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(lock_failed(&path.display(), e)),
        }
        progress.note(&format!(
            "waiting for another process that installs {} {}",
            row.package, row.version
        ));
        file.lock().map_err(|e| lock_failed(&path.display(), e))?;
        Ok(file)
    }
}

fn lock_failed(path: &dyn std::fmt::Display, cause: std::io::Error) -> Error {
    let message =
        format!("cannot lock {path}; set RECTIFLOW_CACHE to a folder on a disk of this machine");
    Error::new(Code::Io, message).because(cause)
}
