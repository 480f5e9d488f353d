//! The one error type of this crate.

use std::fmt;
use std::sync::Arc;

use rectiflow_pjrt as pjrt;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, coarse enough to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// A device's name is none that this crate knows.
    UnknownDevice,
    /// Options contradict each other or cannot be met.
    Options,
    /// The plugin is not loaded, and loading it by itself was turned off.
    AutoloadOff,
    /// There is no plugin for the device on this machine, or none that could be installed.
    NoPlugin,
    /// The plugin failed at something other than compiling.
    Plugin,
    /// The compiler refused the program or its options.
    Compile,
    /// In cache-only mode: the executable is not in the cache.
    CacheMiss,
    /// Weights cannot be read, or do not fit the model.
    Checkpoint,
    /// The caller stopped the work.
    Cancelled,
    /// An op was written on values that it cannot take; the message names the line of model code.
    Shape,
    /// The device failed at running a program.
    Execute,
    /// An array is not what it was used as: of another type, of another queue, or no array yet.
    Array,
    /// A folder of executables cannot be listed or cleaned.
    CacheFolder,
}

/// Why something could not be loaded, compiled or found.
///
/// Callers act on [`Error::code`]; people read the message, which says what was expected, what was
/// found and what to do. Cheap to clone: all threads that wait for one compile get its error.
#[derive(Debug, Clone)]
pub struct Error(Arc<Repr>);

#[derive(Debug)]
struct Repr {
    code: Code,
    message: String,
    cause: Option<Cause>,
}

#[derive(Debug)]
enum Cause {
    Pjrt(pjrt::Error),
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Arc::new(Repr { code, message: message.into(), cause: None }))
    }

    pub(crate) fn because(
        code: Code,
        message: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let cause = Some(Cause::Other(cause.into()));
        Error(Arc::new(Repr { code, message: message.into(), cause }))
    }

    pub(crate) fn pjrt(code: Code, message: impl Into<String>, cause: pjrt::Error) -> Self {
        Error(Arc::new(Repr { code, message: message.into(), cause: Some(Cause::Pjrt(cause)) }))
    }

    pub(crate) fn shape(cause: rectiflow_hlo::Error) -> Self {
        Error::new(Code::Shape, cause.to_string())
    }

    pub(crate) fn execute(cause: pjrt::Error) -> Self {
        Error::pjrt(Code::Execute, "cannot run the program", cause)
    }

    /// The same error in other words.
    pub(crate) fn because_of(error: &Error, message: String) -> Self {
        let cause = error.plugin_error().cloned();
        match cause {
            Some(cause) => {
                // The words already tell the cause.
                let told = message.replace(&format!(": {cause}"), "");
                Error::pjrt(error.code(), told, cause)
            }
            None => Error::new(error.code(), message),
        }
    }

    /// What went wrong.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The plugin's error, where one was the cause: its code tells, for instance, a program too
    /// large for the device from one that is wrong.
    pub fn plugin_error(&self) -> Option<&pjrt::Error> {
        match &self.0.cause {
            Some(Cause::Pjrt(error)) => Some(error),
            _ => None,
        }
    }
}

/// The message and, after a colon, what caused it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.cause {
            Some(Cause::Pjrt(cause)) => write!(f, ": {cause}"),
            Some(Cause::Other(cause)) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

/// `source` stays empty, since the message already tells the cause.
impl std::error::Error for Error {}
