//! Code of users that runs inside a callback of the plugin.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, ErrorCode, Result};

/// Runs `run`; a panic, which must not unwind into the plugin, becomes an `INTERNAL` error that
/// names `what` panicked.
pub(crate) fn caught<T>(what: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let message = format!("{what} panicked: {}", text(panic));
        Err(Error::with_code(ErrorCode::Internal, message))
    })
}

/// What a panic said. A payload that is no text is not dropped: its drop could panic again.
fn text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| {
        std::mem::forget(panic);
        "no message".to_owned()
    })
}
