//! What a compiled program is, apart from running it.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, Padded, function, slice, string};
use crate::device_description::Owner;
use crate::element_type::ElementType;
use crate::error::Result;
use crate::event::log_failed;
use crate::plugin::Plugin;
use crate::program::Program;
use crate::shape::Shape;

/// A compiled program. Cheap to clone. Cannot run before it is loaded.
#[derive(Clone)]
pub struct Executable(Arc<Inner>);

struct Inner {
    raw: NonNull<sys::PJRT_Executable>,
    owner: Owner,
}

// SAFETY: PJRT executables are constant and their queries thread-safe; the
// owner outlives `raw`.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Executable {
    /// # Safety
    /// `raw` must be a live executable of `owner`'s plugin that nobody else frees.
    pub(crate) unsafe fn new(raw: NonNull<sys::PJRT_Executable>, owner: Owner) -> Self {
        Executable(Arc::new(Inner { raw, owner }))
    }

    /// The name of the module.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_Name`.
    pub fn name(&self) -> Result<String> {
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let args =
                self.api().get(function!(PJRT_Executable_Name), |a| a.executable = self.raw())?;
            Ok(string(args.executable_name, args.executable_name_size))
        }
    }

    /// Copies of the program that run on different data.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_NumReplicas`.
    pub fn n_replicas(&self) -> Result<usize> {
        let function = function!(PJRT_Executable_NumReplicas);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.executable = self.raw())? }.num_replicas)
    }

    /// Devices that share one copy of the program.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_NumPartitions`.
    pub fn n_partitions(&self) -> Result<usize> {
        let function = function!(PJRT_Executable_NumPartitions);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.executable = self.raw())? }.num_partitions)
    }

    /// Arrays the program returns on each device.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_NumOutputs`.
    pub fn n_outputs(&self) -> Result<usize> {
        let function = function!(PJRT_Executable_NumOutputs);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.executable = self.raw())? }.num_outputs)
    }

    /// A text equal for equal compiles.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where the platform has none.
    pub fn fingerprint(&self) -> Result<String> {
        // SAFETY: `raw` is live, and so is the text it owns.
        unsafe {
            let function = function!(PJRT_Executable_Fingerprint);
            let args = self.api().get(function, |a| a.executable = self.raw())?;
            Ok(string(args.executable_fingerprint, args.executable_fingerprint_size))
        }
    }

    /// Bytes of machine code; -1 or 0 on platforms that do not count.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_SizeOfGeneratedCodeInBytes`.
    pub fn code_bytes(&self) -> Result<i64> {
        let function = function!(PJRT_Executable_SizeOfGeneratedCodeInBytes);
        // SAFETY: `raw` is live.
        Ok(unsafe { self.api().get(function, |a| a.executable = self.raw())? }.size_in_bytes)
    }

    /// Shapes of the outputs on each device, as the plugin reports them.
    ///
    /// # Errors
    /// Those of the two C functions, and an element type unknown to this crate.
    pub fn output_shapes(&self) -> Result<Vec<Shape>> {
        let types = self.output_types()?;
        // The plugin reads `num_outputs` only from newer versions on; it is given.
        let n = types.len();
        // SAFETY: `raw` is live; `dim_sizes` has one entry per output, and `dims`
        // as many as they sum to, both owned by the executable.
        let (sizes, dims) = unsafe {
            let args = self.api().get(function!(PJRT_Executable_OutputDimensions), |args| {
                args.executable = self.raw();
                args.num_outputs = n;
            })?;
            let sizes = slice(args.dim_sizes, n);
            (sizes, slice(args.dims, sizes.iter().sum()))
        };
        let mut rest = dims;
        let shape = |(element_type, rank): (ElementType, &usize)| {
            let (dims, tail) = rest.split_at(*rank);
            rest = tail;
            Shape::trusted(element_type, dims)
        };
        Ok(types.into_iter().zip(sizes).map(shape).collect())
    }

    fn output_types(&self) -> Result<Vec<ElementType>> {
        // SAFETY: `raw` is live, and so is the list it owns.
        let types = unsafe {
            let function = function!(PJRT_Executable_OutputElementTypes);
            let args = self.api().get(function, |a| a.executable = self.raw())?;
            slice(args.output_types, args.num_output_types)
        };
        types.iter().map(|raw| ElementType::from_pjrt(*raw)).collect()
    }

    /// Memory kind of each output.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_OutputMemoryKinds`.
    pub fn output_memory_kinds(&self) -> Result<Vec<String>> {
        // SAFETY: `raw` is live, and so are the lists it owns.
        unsafe {
            let function = function!(PJRT_Executable_OutputMemoryKinds);
            let args = self.api().get(function, |a| a.executable = self.raw())?;
            Ok(strings(args.memory_kinds, args.memory_kind_sizes, args.num_outputs))
        }
    }

    /// Memory kind of each parameter.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` on older plugins.
    pub fn parameter_memory_kinds(&self) -> Result<Vec<String>> {
        // SAFETY: `raw` is live, and so are the lists it owns.
        unsafe {
            let function = function!(PJRT_Executable_ParameterMemoryKinds);
            let args = self.api().get(function, |a| a.executable = self.raw())?;
            Ok(strings(args.memory_kinds, args.memory_kind_sizes, args.num_parameters))
        }
    }

    /// The program after optimization, usually as an HLO proto.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_OptimizedProgram`.
    pub fn optimized_program(&self) -> Result<Program> {
        let function = function!(PJRT_Executable_OptimizedProgram);
        let mut program = Padded::<sys::PJRT_Program>::new();
        // SAFETY: a null code pointer asks for the size alone.
        let mut args = unsafe {
            self.api().get(function, |args| {
                args.executable = self.raw();
                args.program = program.as_mut_ptr();
            })?
        };
        let mut code = vec![0u8; program.code_size];
        program.code = code.as_mut_ptr().cast();
        args.program = program.as_mut_ptr();
        // SAFETY: `code` holds as many bytes as the first call asked for.
        unsafe { self.api().call(function, &mut args)? };
        // SAFETY: the format is a text of the plugin's.
        let format = unsafe { string(program.format, program.format_size) };
        code.truncate(program.code_size);
        Ok(Program { code, format })
    }

    /// Bytes for [`Client::deserialize`](crate::Client::deserialize), readable
    /// by the same build of the same plugin.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_Serialize`.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        // SAFETY: `raw` is live; the bytes live until the deleter runs.
        unsafe {
            let function = function!(PJRT_Executable_Serialize);
            let args = self.api().get(function, |a| a.executable = self.raw())?;
            let bytes = slice(args.serialized_bytes.cast(), args.serialized_bytes_size).to_vec();
            if let Some(free) = args.serialized_executable_deleter {
                free(args.serialized_executable);
            }
            Ok(bytes)
        }
    }

    /// The plugin that compiled it.
    pub fn plugin(&self) -> &Plugin {
        self.0.owner.plugin()
    }

    pub(crate) fn raw(&self) -> *mut sys::PJRT_Executable {
        self.0.raw.as_ptr()
    }

    pub(crate) fn api(&self) -> Api {
        self.plugin().api()
    }
}

/// # Safety
/// `texts` and `sizes` must hold `n` entries each, describing texts.
unsafe fn strings(
    texts: *const *const std::ffi::c_char,
    sizes: *const usize,
    n: usize,
) -> Vec<String> {
    // SAFETY: as promised by the caller.
    let (texts, sizes) = unsafe { (slice(texts, n), slice(sizes, n)) };
    // SAFETY: each text has the stated size.
    texts.iter().zip(sizes).map(|(text, size)| unsafe { string(*text, *size) }).collect()
}

impl Drop for Inner {
    fn drop(&mut self) {
        let raw = self.raw.as_ptr();
        let function = function!(PJRT_Executable_Destroy);
        // SAFETY: the last owner frees it once.
        let freed = unsafe { self.owner.plugin().api().get(function, |a| a.executable = raw) };
        log_failed("destroy an executable", freed.map(|_| ()));
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable").field("name", &self.name()).finish_non_exhaustive()
    }
}
