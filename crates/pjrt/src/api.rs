//! The one path by which this crate calls a plugin.
//!
//! A plugin hands out a table of function pointers. The table is append-only:
//! one built against an older header is shorter than ours. So it stays behind
//! a pointer, is never copied or borrowed as a whole, and each call first checks
//! that the table reaches the entry it wants.
//!
//! Plugins are C++ behind a C interface. That an entry does what the header says,
//! and lets no exception out, which would be undefined behaviour here, can neither
//! be checked nor caught on this side: PJRT returns errors as values, and whoever
//! loads a plugin answers for the rest (`Plugin::load`). Every `SAFETY` comment
//! about a call takes that for granted.

use std::mem::size_of;
use std::ptr::NonNull;

use rectiflow_pjrt_sys as sys;

pub(crate) use crate::c_data::{CStruct, Padded, slice, string};
use crate::error::{Error, ErrorCode, Result};

/// A C function of a table of type `T`, taking `A` and returning an error.
type CFunction<A> = Option<unsafe extern "C" fn(*mut A) -> *mut sys::PJRT_Error>;

/// Where a function sits in a table, and what it is called in messages.
pub(crate) struct Function<T, A> {
    pub(crate) name: &'static str,
    /// Offset of the first byte behind the entry.
    pub(crate) end: usize,
    /// Reads the entry. May only be called on a table of at least `end` bytes.
    pub(crate) read: unsafe fn(*const T) -> CFunction<A>,
}

/// Names a function of a table: `function!(PJRT_Client_Create)` for the main
/// table, `function!(Table, entry, Args)` for an extension's.
macro_rules! function {
    ($name:ident) => {
        $crate::api::function!(rectiflow_pjrt_sys::PJRT_Api, $name, stringify!($name))
    };
    ($table:ty, $entry:ident, $name:expr) => {
        &$crate::api::Function {
            name: $name,
            end: std::mem::offset_of!($table, $entry) + size_of::<*const ()>(),
            read: |table: *const $table| {
                // The macro is also used inside `unsafe` blocks.
                #[allow(unused_unsafe)]
                // SAFETY: only called on a table that reaches behind the entry.
                let entry = unsafe { (&raw const (*table).$entry).read() };
                entry
            },
        }
    };
}
pub(crate) use function;

/// The plugin's function table. The library behind it is never unloaded, so the
/// pointer is good for the life of the process.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    table: NonNull<sys::PJRT_Api>,
    size: usize,
}

// SAFETY: PJRT wants the table written before `GetPjrtApi` returns and never
// after, and its functions to be callable from any thread.
unsafe impl Send for Api {}
// SAFETY: as above; there is no mutation through `Api`.
unsafe impl Sync for Api {}

impl Api {
    /// # Safety
    /// `table` must point to a PJRT table that lives as long as the process.
    pub(crate) unsafe fn new(table: NonNull<sys::PJRT_Api>) -> Self {
        // SAFETY: `struct_size` is the first field of every PJRT struct.
        let size = unsafe { (&raw const (*table.as_ptr()).struct_size).read() };
        Api { table, size }
    }

    pub(crate) fn address(self) -> usize {
        self.table.as_ptr() as usize
    }

    /// Bytes of the table, as the plugin states them.
    pub(crate) fn size(self) -> usize {
        self.size
    }

    /// Reads a data field that precedes all functions, if the table has it.
    pub(crate) fn header(self) -> Option<Header> {
        if self.size < std::mem::offset_of!(sys::PJRT_Api, PJRT_Error_Destroy) {
            return None;
        }
        let table = self.table.as_ptr();
        // SAFETY: the size check above covers every field read here.
        unsafe {
            Some(Header {
                extensions: (&raw const (*table).extension_start).read(),
                major: (&raw const (*table).pjrt_api_version.major_version).read(),
                minor: (&raw const (*table).pjrt_api_version.minor_version).read(),
            })
        }
    }

    /// Calls a function of the main table.
    ///
    /// # Safety
    /// Pointers inside `args` must be valid for what the function does with them.
    #[inline]
    pub(crate) unsafe fn call<A: CStruct>(
        self,
        function: &Function<sys::PJRT_Api, A>,
        args: &mut Padded<A>,
    ) -> Result<()> {
        // SAFETY: `self.table` holds `self.size` bytes; the rest is the caller's promise.
        unsafe { self.call_in(self.table.as_ptr(), self.size, function, args) }
    }

    /// Fills a fresh argument struct, calls the function, and returns the struct
    /// with what the plugin wrote into it.
    ///
    /// # Safety
    /// Pointers that `fill` stores must be valid for what the function does with them.
    pub(crate) unsafe fn get<A: CStruct>(
        self,
        function: &Function<sys::PJRT_Api, A>,
        fill: impl FnOnce(&mut A),
    ) -> Result<Padded<A>> {
        let mut args = Padded::new();
        fill(&mut args);
        // SAFETY: as promised by the caller.
        unsafe { self.call(function, &mut args)? };
        Ok(args)
    }

    /// Calls a function of any table of the plugin.
    ///
    /// # Safety
    /// As [`Api::call`], and `table` must hold `size` bytes.
    #[inline]
    pub(crate) unsafe fn call_in<T, A: CStruct>(
        self,
        table: *const T,
        size: usize,
        function: &Function<T, A>,
        args: &mut Padded<A>,
    ) -> Result<()> {
        // SAFETY: as promised by the caller.
        let entry = unsafe { lookup(table, size, function)? };
        // SAFETY: the entry has this signature in the header; `args` is at least
        // as long as the plugin expects, and its contents are the caller's promise.
        // The rest is trust in the plugin; see the head of this file.
        let error = unsafe { entry(args.as_mut_ptr()) };
        match NonNull::new(error) {
            None => Ok(()),
            // SAFETY: a returned error is owned by the caller and not yet freed.
            Some(error) => Err(unsafe { self.take_error(function.name, error) }),
        }
    }

    /// The bare entry, for code that measures the cost of everything else.
    #[cfg(feature = "baseline")]
    pub(crate) fn entry<A>(
        self,
        function: &Function<sys::PJRT_Api, A>,
    ) -> Result<unsafe extern "C" fn(*mut A) -> *mut sys::PJRT_Error> {
        // SAFETY: `self.table` holds `self.size` bytes.
        unsafe { lookup(self.table.as_ptr(), self.size, function) }
    }

    /// Turns a plugin's error into ours and frees it.
    ///
    /// # Safety
    /// `error` must be a live error of this plugin, which no one else frees.
    #[cold]
    pub(crate) unsafe fn take_error(
        self,
        function: &'static str,
        error: NonNull<sys::PJRT_Error>,
    ) -> Error {
        // SAFETY: `error` is live until `destroy_error` below.
        let (code, message) = unsafe { (self.error_code(error), self.error_message(error)) };
        // SAFETY: owned by us, freed once.
        unsafe { self.destroy_error(error) };
        Error::plugin(function, code, message)
    }

    unsafe fn error_code(self, error: NonNull<sys::PJRT_Error>) -> ErrorCode {
        let function = function!(PJRT_Error_GetCode);
        let mut args = Padded::<sys::PJRT_Error_GetCode_Args>::new();
        args.error = error.as_ptr();
        // SAFETY: the table holds `self.size` bytes.
        let Ok(get) = (unsafe { lookup(self.table.as_ptr(), self.size, function) }) else {
            return ErrorCode::Unknown;
        };
        // SAFETY: `error` is live, and `args` has the entry's type in the header.
        let nested = unsafe { get(args.as_mut_ptr()) };
        if let Some(nested) = NonNull::new(nested) {
            // SAFETY: the second error is ours to free too.
            unsafe { self.destroy_error(nested) };
            return ErrorCode::Unknown;
        }
        ErrorCode::from_raw(args.code.0)
    }

    unsafe fn error_message(self, error: NonNull<sys::PJRT_Error>) -> String {
        let end = std::mem::offset_of!(sys::PJRT_Api, PJRT_Error_Message) + size_of::<usize>();
        if self.size < end {
            return String::new();
        }
        // SAFETY: the table reaches behind the entry.
        let entry = unsafe { (&raw const (*self.table.as_ptr()).PJRT_Error_Message).read() };
        let Some(entry) = entry else { return String::new() };
        let mut args = Padded::<sys::PJRT_Error_Message_Args>::new();
        args.error = error.as_ptr();
        // SAFETY: `error` is live, and `args` has the entry's type in the header.
        unsafe { entry(args.as_mut_ptr()) };
        // SAFETY: the message lives as long as `error`, which outlives this call.
        unsafe { string(args.message, args.message_size) }
    }

    unsafe fn destroy_error(self, error: NonNull<sys::PJRT_Error>) {
        let end = std::mem::offset_of!(sys::PJRT_Api, PJRT_Error_Destroy) + size_of::<usize>();
        if self.size < end {
            return;
        }
        // SAFETY: the table reaches behind the entry.
        let entry = unsafe { (&raw const (*self.table.as_ptr()).PJRT_Error_Destroy).read() };
        let Some(entry) = entry else { return };
        let mut args = Padded::<sys::PJRT_Error_Destroy_Args>::new();
        args.error = error.as_ptr();
        // SAFETY: the caller owns `error` and does not use it again.
        unsafe { entry(args.as_mut_ptr()) };
    }
}

/// The fields of a table that precede its functions.
pub(crate) struct Header {
    pub(crate) extensions: *const sys::PJRT_Extension_Base,
    pub(crate) major: i32,
    pub(crate) minor: i32,
}

/// Finds an entry, or says why the plugin does not have it.
///
/// # Safety
/// `table` must hold `size` bytes.
#[inline]
unsafe fn lookup<T, A>(
    table: *const T,
    size: usize,
    function: &Function<T, A>,
) -> Result<unsafe extern "C" fn(*mut A) -> *mut sys::PJRT_Error> {
    if size < function.end {
        return Err(Error::table_too_short(function.name, function.end, size));
    }
    // SAFETY: the table reaches behind the entry.
    unsafe { (function.read)(table) }.ok_or_else(|| Error::null_function(function.name))
}
