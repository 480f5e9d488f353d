//! Device layouts, in XLA's text form such as `{1,0}` or `{1,0:T(8,128)}`.

use std::ptr::NonNull;

use rectiflow_pjrt_sys as sys;

use crate::api::{function, slice, string};
use crate::buffer::Buffer;
use crate::client::{Client, non_null};
use crate::error::Result;
use crate::event::log_failed;
use crate::executable::Executable;
use crate::extension::Table;
use crate::shape::Shape;

type Layouts = sys::PJRT_Layouts_Extension;

impl Buffer {
    /// How the device orders the array.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the plugin lacks the layouts extension.
    pub fn layout(&self) -> Result<String> {
        // SAFETY: the buffer is live.
        unsafe { layout_of(&self.client(), self.raw) }
    }
}

/// How the device orders an array.
///
/// # Safety
/// `raw` must be a live buffer of the client.
pub(crate) unsafe fn layout_of(client: &Client, raw: NonNull<sys::PJRT_Buffer>) -> Result<String> {
    let table = client.plugin().extension::<Layouts>()?;
    let name = "PJRT_Layouts_PJRT_Buffer_MemoryLayout";
    let function = function!(Layouts, PJRT_Layouts_PJRT_Buffer_MemoryLayout, name);
    // SAFETY: as promised by the caller.
    let args = unsafe { table.get(function, |a| a.buffer = raw.as_ptr())? };
    let owned = Owned { raw: non_null(args.layout, name)?, table: &table };
    // SAFETY: `owned` is live.
    unsafe { text(&table, owned.raw) }
}

impl Client {
    /// How arrays of a shape are ordered unless a program says otherwise.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the plugin lacks the layouts extension.
    pub fn default_layout(&self, shape: &Shape) -> Result<String> {
        self.plugin().check_type(shape.element_type())?;
        let table = self.plugin().extension::<Layouts>()?;
        let name = "PJRT_Layouts_PJRT_Client_GetDefaultLayout";
        let function = function!(Layouts, PJRT_Layouts_PJRT_Client_GetDefaultLayout, name);
        // SAFETY: client and shape outlive the call.
        let args = unsafe {
            table.get(function, |args| {
                args.client = self.0.raw.as_ptr();
                args.type_ = shape.element_type().to_pjrt();
                args.dims = shape.dims().as_ptr();
                args.num_dims = shape.dims().len();
            })?
        };
        let owned = Owned { raw: non_null(args.layout, name)?, table: &table };
        // SAFETY: `owned` is live.
        unsafe { text(&table, owned.raw) }
    }
}

impl Executable {
    /// How the program wants each parameter ordered.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the plugin lacks the function or the extension.
    pub fn parameter_layouts(&self) -> Result<Vec<String>> {
        let table = self.plugin().extension::<Layouts>()?;
        let name = "PJRT_Layouts_PJRT_Executable_GetParameterLayouts";
        let function = function!(Layouts, PJRT_Layouts_PJRT_Executable_GetParameterLayouts, name);
        // SAFETY: the executable is live and owns the list.
        unsafe {
            let args = table.get(function, |a| a.executable = self.raw())?;
            texts(&table, args.layouts, args.num_parameters)
        }
    }

    /// How the program orders each output.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the plugin lacks the function or the extension.
    pub fn output_layouts(&self) -> Result<Vec<String>> {
        let table = self.plugin().extension::<Layouts>()?;
        let name = "PJRT_Layouts_PJRT_Executable_GetOutputLayouts";
        let function = function!(Layouts, PJRT_Layouts_PJRT_Executable_GetOutputLayouts, name);
        // SAFETY: the executable is live and owns the list.
        unsafe {
            let args = table.get(function, |a| a.executable = self.raw())?;
            texts(&table, args.layouts, args.num_outputs)
        }
    }
}

/// A layout that must be freed.
struct Owned<'t> {
    raw: NonNull<sys::PJRT_Layouts_MemoryLayout>,
    table: &'t Table<Layouts>,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let name = "PJRT_Layouts_MemoryLayout_Destroy";
        let function = function!(Layouts, PJRT_Layouts_MemoryLayout_Destroy, name);
        // SAFETY: owned by `self` and not used again.
        let freed = unsafe { self.table.get(function, |a| a.layout = self.raw.as_ptr()) };
        log_failed("free a layout", freed.map(|_| ()));
    }
}

/// # Safety
/// `list` must hold `n` live layouts.
unsafe fn texts(
    table: &Table<Layouts>,
    list: *mut *mut sys::PJRT_Layouts_MemoryLayout,
    n: usize,
) -> Result<Vec<String>> {
    // SAFETY: as promised by the caller.
    let list = unsafe { slice(list.cast_const(), n) };
    let one = |raw: &*mut sys::PJRT_Layouts_MemoryLayout| {
        let raw = non_null(*raw, "a list of layouts")?;
        // SAFETY: each is live.
        unsafe { text(table, raw) }
    };
    list.iter().map(one).collect()
}

/// # Safety
/// `layout` must be live.
unsafe fn text(
    table: &Table<Layouts>,
    layout: NonNull<sys::PJRT_Layouts_MemoryLayout>,
) -> Result<String> {
    let name = "PJRT_Layouts_MemoryLayout_Serialize";
    let function = function!(Layouts, PJRT_Layouts_MemoryLayout_Serialize, name);
    // SAFETY: the layout is live; the text lives until the deleter runs.
    unsafe {
        let args = table.get(function, |a| a.layout = layout.as_ptr())?;
        let text = string(args.serialized_bytes, args.serialized_bytes_size);
        if let Some(free) = args.serialized_layout_deleter {
            free(args.serialized_layout);
        }
        Ok(text)
    }
}
