//! The crate's one error: a code to act on, a message to read.

use std::fmt;
use std::io;
use std::path::Path;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, coarse enough to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// Nothing is pinned for this platform on this machine, or a platform's name is unknown.
    Unsupported,
    /// There is no plugin, and this call does not install one by itself.
    NotInstalled,
    /// A path that was asked for does not exist.
    NotFound,
    /// A setting has a value that cannot be used.
    BadSetting,
    /// The server could not be reached at all.
    Offline,
    /// The server answered with something other than the file.
    Http,
    /// The index does not list the pinned file.
    NotInIndex,
    /// A file ends before its pinned size.
    Truncated,
    /// A file is not the pinned one.
    WrongHash,
    /// A wheel does not unpack, or lacks the file that it was pinned for.
    BadArchive,
    /// A library is for another processor or operating system.
    WrongArchitecture,
    /// A library needs a newer glibc than the running one.
    GlibcTooOld,
    /// A file is no library, or one that does not export `GetPjrtApi`.
    NotAPlugin,
    /// The cache folder cannot be written.
    CacheUnwritable,
    /// The disk is full.
    NoSpace,
    /// An installed file was changed or removed after it was installed.
    Damaged,
    /// Any other failure of the file system.
    Io,
    /// libclang is missing, or bindgen refused the headers.
    Bindgen,
}

/// Why a plugin could not be found or installed.
///
/// One type for the whole crate: callers act on [`Error::code`], people read the message, which
/// says what was expected, what was found and what to do.
#[derive(Debug)]
pub struct Error {
    code: Code,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Error { code, message: message.into(), source: None }
    }

    /// A failure to read something that should be readable.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Error::new(Code::Io, format!("cannot read {}", path.display())).because(source)
    }

    /// A failure to write below the cache folder, which has two causes that a person can remove.
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let path = path.display();
        let error = match source.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => Error::new(
                Code::NoSpace,
                format!(
                    "no space left for {path}; free some, or set RECTIFLOW_CACHE to a folder \
                     on another disk"
                ),
            ),
            Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
            | Kind::NotADirectory
            | Kind::NotFound => Error::new(
                Code::CacheUnwritable,
                format!("cannot write {path}; set RECTIFLOW_CACHE to a folder you can write"),
            ),
            _ => Error::new(Code::Io, format!("cannot write {path}")),
        };
        error.because(source)
    }

    pub(crate) fn because(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What went wrong.
    pub fn code(&self) -> Code {
        self.code
    }
}

/// The message and, after a colon, what caused it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

/// `source` stays empty, since the message already tells the cause.
impl std::error::Error for Error {}
