//! Compiling, loading and restoring executables.

use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::{Padded, function};
use crate::client::{Client, non_null};
use crate::compile_options::CompileOptions;
use crate::device::Device;
use crate::device_description::{DeviceDescription, Owner};
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::flags;
use crate::loaded::{Handle, LoadedExecutable};
use crate::plugin::Plugin;
use crate::program::Program;
use crate::topology::Topology;

impl Client {
    /// Compiles a program for this client's devices. Blocks for the whole
    /// compile.
    ///
    /// # Trust
    /// Plugins check programs less than they could: text such as a `@main` without
    /// a body, one that calls itself, or dimensions whose product overflows ends
    /// the process inside some. Compile programs that a checked builder printed, or
    /// whose source you trust: see [`Program`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for bad options, and whatever the compiler refuses. An
    /// unknown XLA flag comes with the flags it may have meant.
    pub fn compile(&self, program: &Program, options: &CompileOptions) -> Result<LoadedExecutable> {
        let _span = tracing::debug_span!("compile", bytes = program.code.len()).entered();
        let encoded = self.encode(options)?;
        options.check_propagation(program)?;
        let mut c_program = c_program(program);
        // SAFETY: program and options outlive the call.
        let args = unsafe {
            self.api().get(function!(PJRT_Client_Compile), |args| {
                args.client = self.0.raw.as_ptr();
                args.program = c_program.as_mut_ptr();
                args.compile_options = encoded.as_ptr().cast();
                args.compile_options_size = encoded.len();
            })
        }
        .map_err(|error| explain(error, options, self.plugin()))?;
        let raw = non_null(args.executable, "PJRT_Client_Compile")?;
        // SAFETY: a fresh executable of this client.
        unsafe { LoadedExecutable::new(raw, &self.0) }
    }

    /// Loads an executable compiled without a client, or for a topology.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` on plugins without `PJRT_Client_Load` (serialize and
    /// [`Client::deserialize`] instead), `INVALID_ARGUMENT` if the executable is
    /// another plugin's.
    pub fn load(
        &self,
        executable: &Executable,
        options: &CompileOptions,
    ) -> Result<LoadedExecutable> {
        if executable.plugin().api().address() != self.api().address() {
            return Err(Error::invalid("the executable was compiled by another plugin"));
        }
        let encoded = self.encode(options)?;
        // SAFETY: executable and options outlive the call.
        let args = unsafe {
            self.api().get(function!(PJRT_Client_Load), |args| {
                args.client = self.0.raw.as_ptr();
                args.executable = executable.raw();
                args.compile_options = encoded.as_ptr().cast();
                args.compile_options_size = encoded.len();
            })?
        };
        let raw = non_null(args.loaded_executable, "PJRT_Client_Load")?;
        // SAFETY: a fresh executable of this client.
        unsafe { LoadedExecutable::new(raw, &self.0) }
    }

    /// Restores and loads what [`Executable::serialize`] wrote, by the same
    /// build of the same plugin.
    ///
    /// # Trust
    /// The bytes hold machine code that the plugin will run. Restore only what
    /// you would also run as a program.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_DeserializeAndLoad`.
    pub fn deserialize(&self, serialized: &[u8]) -> Result<LoadedExecutable> {
        self.deserialize_raw(serialized, None)
    }

    /// As [`Client::deserialize`], with other compile options, for instance
    /// another device assignment.
    ///
    /// # Errors
    /// Those of `PJRT_Executable_DeserializeAndLoad`.
    pub fn deserialize_with(
        &self,
        serialized: &[u8],
        options: &CompileOptions,
    ) -> Result<LoadedExecutable> {
        self.deserialize_raw(serialized, Some(&self.encode(options)?))
    }

    /// The options in the plugin's form, if this client has the devices for them.
    fn encode(&self, options: &CompileOptions) -> Result<Vec<u8>> {
        let encoded = options.to_proto()?;
        options.check_devices(|| self.devices()?.iter().map(Device::id).collect())?;
        Ok(encoded)
    }

    fn deserialize_raw(
        &self,
        serialized: &[u8],
        options: Option<&[u8]>,
    ) -> Result<LoadedExecutable> {
        // SAFETY: the bytes outlive the call.
        let args = unsafe {
            self.api().get(function!(PJRT_Executable_DeserializeAndLoad), |args| {
                args.client = self.0.raw.as_ptr();
                args.serialized_executable = serialized.as_ptr().cast();
                args.serialized_executable_size = serialized.len();
                if let Some(options) = options {
                    args.overridden_serialized_compile_options = options.as_ptr().cast();
                    args.overridden_serialized_compile_options_size = options.len();
                }
            })?
        };
        let raw = non_null(args.loaded_executable, "PJRT_Executable_DeserializeAndLoad")?;
        // SAFETY: a fresh executable of this client.
        unsafe { LoadedExecutable::new(raw, &self.0) }
    }
}

impl Plugin {
    /// Compiles for a topology, with or without the hardware. Blocks for the
    /// whole compile.
    ///
    /// # Trust
    /// The plugin's compiler parses the program inside this process; see
    /// [`Program`] and [`Client::compile`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the topology is another plugin's, `UNIMPLEMENTED`
    /// where a plugin only compiles with a client, and whatever the compiler
    /// refuses.
    pub fn compile(
        &self,
        program: &Program,
        topology: &Topology,
        options: &CompileOptions,
    ) -> Result<Executable> {
        let _span = tracing::debug_span!("compile_ahead", bytes = program.code.len()).entered();
        if topology.plugin().api().address() != self.api().address() {
            return Err(Error::invalid("the topology belongs to another plugin"));
        }
        let encoded = options.to_proto()?;
        options
            .check_devices(|| topology.devices()?.iter().map(DeviceDescription::id).collect())?;
        options.check_propagation(program)?;
        let mut c_program = c_program(program);
        // SAFETY: topology, program and options outlive the call.
        let args = unsafe {
            self.api().get(function!(PJRT_Compile), |args| {
                args.topology = topology.raw.as_ptr();
                args.program = c_program.as_mut_ptr();
                args.compile_options = encoded.as_ptr().cast();
                args.compile_options_size = encoded.len();
                if let Owner::Client(client) = &topology.owner {
                    args.client = client.raw.as_ptr();
                }
            })
        }
        .map_err(|error| explain(error, options, self))?;
        let raw = non_null(args.executable, "PJRT_Compile")?;
        // SAFETY: a fresh executable; the topology's owner keeps the plugin.
        Ok(unsafe { Executable::new(raw, topology.owner.clone()) })
    }
}

/// The C form of a program; borrows it.
fn c_program(program: &Program) -> Padded<sys::PJRT_Program> {
    let mut c = Padded::<sys::PJRT_Program>::new();
    // The field is mutable for `OptimizedProgram`; a compile only reads it.
    c.code = program.code.as_ptr().cast_mut().cast();
    c.code_size = program.code.len();
    c.format = program.format.as_ptr().cast();
    c.format_size = program.format.len();
    c
}

fn explain(error: Error, options: &CompileOptions, plugin: &Plugin) -> Error {
    flags::explain(error, options.flag_names(), || plugin.flag_names())
}

impl LoadedExecutable {
    /// Serializes the executable; see [`Executable::serialize`].
    ///
    /// # Errors
    /// Those of `PJRT_Executable_Serialize`.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        self.executable().serialize()
    }
}

/// Used by `LoadedExecutable::new`.
pub(crate) fn executable_of(loaded: &Arc<Handle>) -> Result<Executable> {
    let function = function!(PJRT_LoadedExecutable_GetExecutable);
    let raw = loaded.raw.as_ptr();
    // SAFETY: `raw` is live.
    let args = unsafe { loaded.client.api().get(function, |a| a.loaded_executable = raw)? };
    let raw = non_null(args.executable, "PJRT_LoadedExecutable_GetExecutable")?;
    // SAFETY: a fresh executable. It looks into the loaded one, which its owner keeps.
    Ok(unsafe { Executable::new(raw, Owner::Loaded(Arc::clone(loaded))) })
}
