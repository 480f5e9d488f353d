//! The one error type of this crate.

use std::fmt;
use std::path::{Path, PathBuf};

use rectiflow_pjrt_sys as sys;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure an [`Error`] is: the status codes of PJRT.
///
/// Failures found on this side of the C API (a wrong length, a plugin that is
/// too old) carry the code a plugin would have used for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ErrorCode {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

const CODES: [(u32, ErrorCode, &str); 16] = [
    (1, ErrorCode::Cancelled, "CANCELLED"),
    (2, ErrorCode::Unknown, "UNKNOWN"),
    (3, ErrorCode::InvalidArgument, "INVALID_ARGUMENT"),
    (4, ErrorCode::DeadlineExceeded, "DEADLINE_EXCEEDED"),
    (5, ErrorCode::NotFound, "NOT_FOUND"),
    (6, ErrorCode::AlreadyExists, "ALREADY_EXISTS"),
    (7, ErrorCode::PermissionDenied, "PERMISSION_DENIED"),
    (8, ErrorCode::ResourceExhausted, "RESOURCE_EXHAUSTED"),
    (9, ErrorCode::FailedPrecondition, "FAILED_PRECONDITION"),
    (10, ErrorCode::Aborted, "ABORTED"),
    (11, ErrorCode::OutOfRange, "OUT_OF_RANGE"),
    (12, ErrorCode::Unimplemented, "UNIMPLEMENTED"),
    (13, ErrorCode::Internal, "INTERNAL"),
    (14, ErrorCode::Unavailable, "UNAVAILABLE"),
    (15, ErrorCode::DataLoss, "DATA_LOSS"),
    (16, ErrorCode::Unauthenticated, "UNAUTHENTICATED"),
];

impl ErrorCode {
    /// A code this list does not know is `Unknown`, as absl treats it.
    pub(crate) fn from_raw(raw: u32) -> Self {
        CODES.iter().find(|row| row.0 == raw).map_or(Self::Unknown, |row| row.1)
    }

    pub(crate) fn raw(self) -> u32 {
        self.row().0
    }

    pub(crate) fn to_pjrt(self) -> sys::PJRT_Error_Code {
        sys::PJRT_Error_Code(self.raw() as _)
    }

    /// The name in the PJRT header, such as `INVALID_ARGUMENT`.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> &'static (u32, ErrorCode, &'static str) {
        CODES.iter().find(|row| row.1 == self).expect("every code has a row")
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failed PJRT operation.
///
/// Says which C function failed, with which code, and what the plugin said.
#[derive(Debug, Clone)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone)]
struct Repr {
    kind: Kind,
    code: ErrorCode,
    hint: Option<String>,
}

#[derive(Debug, Clone)]
enum Kind {
    /// The plugin returned a `PJRT_Error`.
    Plugin { function: &'static str, message: String },
    /// The plugin's table ends before the function.
    TableTooShort { function: &'static str, needed: usize, found: usize },
    /// The table has the slot, and it is null.
    NullFunction { function: &'static str },
    /// The plugin does not list an extension.
    NoExtension { extension: &'static str },
    /// The library could not be opened, or is not a PJRT plugin.
    Load { path: PathBuf, message: String },
    /// The arguments were refused before any C call.
    Refused { message: String },
}

impl Error {
    fn new(kind: Kind, code: ErrorCode) -> Self {
        Error(Box::new(Repr { kind, code, hint: None }))
    }

    pub(crate) fn plugin(function: &'static str, code: ErrorCode, message: String) -> Self {
        Self::new(Kind::Plugin { function, message }, code)
    }

    pub(crate) fn table_too_short(function: &'static str, needed: usize, found: usize) -> Self {
        Self::new(Kind::TableTooShort { function, needed, found }, ErrorCode::Unimplemented)
    }

    pub(crate) fn null_function(function: &'static str) -> Self {
        Self::new(Kind::NullFunction { function }, ErrorCode::Unimplemented)
    }

    pub(crate) fn no_extension(extension: &'static str) -> Self {
        Self::new(Kind::NoExtension { extension }, ErrorCode::Unimplemented)
    }

    pub(crate) fn load(path: &Path, code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(Kind::Load { path: path.to_owned(), message: message.into() }, code)
    }

    /// An error of the caller's own making, for [`KeyValueStore`](crate::KeyValueStore)
    /// implementations and [`AliasFulfiller::fail`](crate::AliasFulfiller::fail).
    pub fn with_code(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(Kind::Refused { message: message.into() }, code)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::with_code(ErrorCode::InvalidArgument, message)
    }

    pub(crate) fn hinted(mut self, hint: String) -> Self {
        self.0.hint = Some(hint);
        self
    }

    /// The status code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The C function that failed, where one was involved.
    pub fn function(&self) -> Option<&'static str> {
        match &self.0.kind {
            Kind::Plugin { function, .. }
            | Kind::TableTooShort { function, .. }
            | Kind::NullFunction { function } => Some(function),
            _ => None,
        }
    }

    /// What the plugin itself said, unchanged.
    pub fn plugin_message(&self) -> Option<&str> {
        match &self.0.kind {
            Kind::Plugin { message, .. } => Some(message),
            _ => None,
        }
    }

    /// Whether the plugin lacks the function or the extension, or answered
    /// that it does not implement it.
    pub fn is_unimplemented(&self) -> bool {
        self.0.code == ErrorCode::Unimplemented
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            Kind::Plugin { function, message } => {
                write!(f, "{function} failed with {}: {}", self.0.code, message.trim_end())?;
            }
            Kind::TableTooShort { function, needed, found } => write!(
                f,
                "the plugin is too old for {function}: its function table has {found} bytes, \
                 {needed} are needed"
            )?,
            Kind::NullFunction { function } => {
                write!(f, "the plugin does not provide {function}: its table entry is null")?;
            }
            Kind::NoExtension { extension } => {
                write!(f, "the plugin has no {extension} extension")?;
            }
            Kind::Load { path, message } => {
                write!(f, "cannot load plugin {}: {message}", path.display())?;
            }
            Kind::Refused { message } => f.write_str(message)?,
        }
        match &self.0.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
