//! Native functions that programs call: typed XLA FFI handlers in Rust.
//!
//! A handler is registered under a name, and a program calls it by a custom call
//! with `api_version = 4`:
//!
//! ```text
//! %y = stablehlo.custom_call @scale(%x) {api_version = 4 : i32,
//!     backend_config = {factor = 2.0 : f32}} : (tensor<8xf32>) -> tensor<8xf32>
//! ```
//!
//! ```no_run
//! # use rectiflow_pjrt::{Plugin, ffi};
//! fn scale(call: &mut ffi::CallFrame<'_>) -> ffi::Result<()> {
//!     let factor = call.attributes.scalar::<f32>("factor")?;
//!     let x = call.argument(0)?.elements::<f32>()?;
//!     let y = call.result(0)?.elements_mut::<f32>()?;
//!     for (y, x) in y.iter_mut().zip(x) {
//!         *y = factor * x;
//!     }
//!     Ok(())
//! }
//!
//! let plugin = Plugin::load("pjrt_c_api_cpu_plugin.so")?;
//! plugin.register_ffi("scale", "Host", scale)?;
//! # Ok::<(), rectiflow_pjrt::Error>(())
//! ```
//!
//! XLA passes a handler no data of its own. So a handler must be a function, or
//! a closure that captures nothing; each gets its own C entry point at compile
//! time, and there is no limit on their number. State goes into statics.

mod array;
mod attributes;
mod call;

pub use array::{Array, ArrayMut};
pub use attributes::{Attribute, Attributes};
pub use call::CallFrame;

use rectiflow_pjrt_sys as sys;

pub use crate::error::{Error, ErrorCode, Result};

use crate::api::function;
use crate::plugin::Plugin;

/// A function a program can call.
///
/// Runs on the plugin's threads, several at once if programs do. An error fails
/// the execution with its code; a panic fails it with `INTERNAL`.
pub trait Handler: Fn(&mut CallFrame<'_>) -> Result<()> + Copy + Send + Sync + 'static {}

impl<F> Handler for F where F: Fn(&mut CallFrame<'_>) -> Result<()> + Copy + Send + Sync + 'static {}

impl Plugin {
    /// Makes a handler callable by programs compiled from now on, on every client
    /// of the plugin, until the process ends. On CPU `platform` is `Host`.
    ///
    /// Only platforms whose arrays are in host memory can use handlers in Rust.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the plugin lacks the FFI extension, `INVALID_ARGUMENT`
    /// for a platform whose memory handlers cannot read and for an empty name or
    /// one with a NUL, `ALREADY_EXISTS` for a name this plugin handle or a clone of
    /// it has registered (the plugin itself would keep the first one silently),
    /// and what the plugin refuses.
    ///
    /// A closure that captures something fails to build.
    pub fn register_ffi<F: Handler>(&self, name: &str, platform: &str, handler: F) -> Result<()> {
        const { assert!(size_of::<F>() == 0, "an FFI handler must not capture anything") };
        if !platform.eq_ignore_ascii_case("host") && !platform.eq_ignore_ascii_case("cpu") {
            return Err(Error::invalid(format!(
                "handlers read host memory, which arrays of platform {platform} are not in"
            )));
        }
        if name.is_empty() || name.contains('\0') {
            return Err(Error::invalid(format!("{name:?} cannot be the name of a handler")));
        }
        let mut names = self.ffi_names();
        if names.contains(name) {
            let message = format!("a handler named {name} is registered already");
            return Err(Error::with_code(ErrorCode::AlreadyExists, message));
        }
        // The entry point conjures `F` back from nothing, which is sound because a
        // value of it existed here and, being `Copy`, never ceases to.
        let _ = handler;
        let table = self.extension::<sys::PJRT_FFI_Extension>()?;
        let function =
            function!(sys::PJRT_FFI_Extension, register_handler, "PJRT_FFI_Register_Handler");
        let entry: unsafe extern "C" fn(_) -> _ = call::entry::<F>;
        // SAFETY: the texts outlive the call, `entry` the process; it has the
        // signature of an `XLA_FFI_Handler`.
        unsafe {
            table.get(function, |args| {
                args.target_name = name.as_ptr().cast();
                args.target_name_size = name.len();
                args.handler = entry as *mut std::ffi::c_void;
                args.platform_name = platform.as_ptr().cast();
                args.platform_name_size = platform.len();
            })?;
        }
        names.insert(name.to_owned());
        Ok(())
    }
}
