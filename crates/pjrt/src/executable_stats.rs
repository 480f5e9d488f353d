//! What a compiled program costs.

use crate::api::function;
use crate::error::Result;
use crate::executable::Executable;
use crate::value::{NamedValue, read_values};

impl Executable {
    /// What the program needs to run, per device.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where the platform does not know.
    pub fn memory_stats(&self) -> Result<CompiledMemoryStats> {
        let function = function!(PJRT_Executable_GetCompiledMemoryStats);
        // SAFETY: `raw` is live.
        let args = unsafe { self.api().get(function, |a| a.executable = self.raw())? };
        Ok(CompiledMemoryStats {
            code_bytes: args.generated_code_size_in_bytes,
            argument_bytes: args.argument_size_in_bytes,
            output_bytes: args.output_size_in_bytes,
            alias_bytes: args.alias_size_in_bytes,
            temp_bytes: args.temp_size_in_bytes,
            host_code_bytes: args.host_generated_code_size_in_bytes,
            host_argument_bytes: args.host_argument_size_in_bytes,
            host_output_bytes: args.host_output_size_in_bytes,
            host_alias_bytes: args.host_alias_size_in_bytes,
            host_temp_bytes: args.host_temp_size_in_bytes,
            peak_bytes: args.peak_memory_in_bytes,
            total_bytes: args.total_size_in_bytes,
        })
    }

    /// The compiler's cost estimates by name, such as `flops`.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where the platform has none.
    pub fn cost_analysis(&self) -> Result<Vec<NamedValue>> {
        // SAFETY: `raw` is live, and so are the values it owns.
        unsafe {
            let function = function!(PJRT_Executable_GetCostAnalysis);
            let args = self.api().get(function, |a| a.executable = self.raw())?;
            read_values(args.properties, args.num_properties)
        }
    }
}

/// Memory a compiled program needs, per device, in bytes. Fields a plugin is
/// too old to fill are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CompiledMemoryStats {
    /// Machine code.
    pub code_bytes: i64,
    /// Arguments.
    pub argument_bytes: i64,
    /// Outputs.
    pub output_bytes: i64,
    /// Arguments whose memory an output reuses.
    pub alias_bytes: i64,
    /// Temporaries.
    pub temp_bytes: i64,
    /// Machine code in host memory.
    pub host_code_bytes: i64,
    /// Arguments in host memory.
    pub host_argument_bytes: i64,
    /// Outputs in host memory.
    pub host_output_bytes: i64,
    /// Reused arguments in host memory.
    pub host_alias_bytes: i64,
    /// Temporaries in host memory.
    pub host_temp_bytes: i64,
    /// Most memory in use at once.
    pub peak_bytes: i64,
    /// All of it.
    pub total_bytes: i64,
}
