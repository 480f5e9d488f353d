//! What a plugin offers beyond the main table.

use std::ptr::NonNull;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, CStruct, Function, Padded};
use crate::error::{Error, Result};

/// An extension a plugin lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extension {
    /// The number PJRT gives the extension, known to this crate or not.
    pub kind: u32,
    /// The name in the PJRT header; `None` for a kind newer than this crate.
    pub name: Option<&'static str>,
    /// Bytes of the extension's table, which tell its version.
    pub size: usize,
}

/// In the order of `PJRT_Extension_Type`.
const NAMES: [&str; 25] = [
    "Gpu_Custom_Call",
    "Profiler",
    "Custom_Partitioner",
    "Stream",
    "Layouts",
    "FFI",
    "MemoryDescriptions",
    "Triton",
    "RawBuffer",
    "PhaseCompile",
    "Example",
    "Unknown",
    "CrossHostTransfers",
    "ExecutableMetadata",
    "Callback",
    "HostAllocator",
    "TpuTopology",
    "TpuExecutable",
    "Megascale",
    "Shardings",
    "AbiVersion",
    "Collectives",
    "MultiSlice",
    "HostMemoryAllocator",
    "XlaTransform",
];

/// An extension of the plugin together with where it is.
#[derive(Clone, Copy)]
pub(crate) struct Located {
    pub(crate) extension: Extension,
    base: NonNull<sys::PJRT_Extension_Base>,
}

// SAFETY: extension tables are constant and as long-lived as the main table.
unsafe impl Send for Located {}
// SAFETY: as above.
unsafe impl Sync for Located {}

/// Follows the chain of extensions.
///
/// # Safety
/// `start` must be null or the head of a well-formed chain that lives as long
/// as the process.
pub(crate) unsafe fn probe(start: *const sys::PJRT_Extension_Base) -> Vec<Located> {
    let mut found = Vec::new();
    let mut next = start.cast_mut();
    while let Some(base) = NonNull::new(next) {
        // SAFETY: every link of the chain begins with a `PJRT_Extension_Base`.
        let link = unsafe { base.as_ref() };
        let kind = link.type_.0;
        let name = NAMES.get(kind as usize).copied();
        found.push(Located { extension: Extension { kind, name, size: link.struct_size }, base });
        next = link.next;
    }
    found
}

/// A typed view of one extension's table.
pub(crate) struct Table<T> {
    api: Api,
    table: NonNull<T>,
    size: usize,
}

/// A C struct that begins with `PJRT_Extension_Base`.
///
/// # Safety
/// `KIND` must be the extension whose table has this type.
pub(crate) unsafe trait ExtensionTable {
    const KIND: sys::PJRT_Extension_Type;
    const NAME: &'static str;
}

impl<T: ExtensionTable> Table<T> {
    /// Finds the extension among those the plugin lists.
    pub(crate) fn find(api: Api, located: &[Located]) -> Result<Self> {
        let found = located.iter().find(|l| l.extension.kind == T::KIND.0);
        let found = found.ok_or_else(|| Error::no_extension(T::NAME))?;
        Ok(Table { api, table: found.base.cast(), size: found.extension.size })
    }

    /// Fills an argument struct, calls a function of the extension, and returns
    /// the struct with what the plugin wrote into it.
    ///
    /// # Safety
    /// Pointers that `fill` stores must be valid for what the function does with them.
    pub(crate) unsafe fn get<A: CStruct>(
        &self,
        function: &Function<T, A>,
        fill: impl FnOnce(&mut A),
    ) -> Result<Padded<A>> {
        let mut args = Padded::new();
        fill(&mut args);
        // SAFETY: the plugin states `size` for this table, and `ExtensionTable`
        // ties its type to its kind.
        unsafe { self.api.call_in(self.table.as_ptr(), self.size, function, &mut args)? };
        Ok(args)
    }
}

macro_rules! extension_tables {
    ($($table:ident = $kind:ident, $name:literal;)*) => {$(
        // SAFETY: pairs taken from the extension's own header.
        unsafe impl ExtensionTable for sys::$table {
            const KIND: sys::PJRT_Extension_Type = sys::PJRT_Extension_Type::$kind;
            const NAME: &'static str = $name;
        }
    )*};
}

extension_tables! {
    PJRT_FFI_Extension = PJRT_Extension_Type_FFI, "FFI";
    PJRT_Layouts_Extension = PJRT_Extension_Type_Layouts, "layouts";
    PJRT_MemoryDescriptions_Extension =
        PJRT_Extension_Type_MemoryDescriptions, "memory descriptions";
}
