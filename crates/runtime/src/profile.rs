//! What a compile is for.

use crate::compile_options::FlagValue;

/// Sets of XLA flags with a purpose. What an executable computes is the same within rounding.
///
/// Measured on the CPU plugin (XLA of jaxlib 0.11.2, 2 busy cores): of LLVM's levels 0 to 3 only
/// level 0 compiles faster, single ops by about a quarter and unrolled transformer blocks by between
/// nothing and a fifth. Its elementwise loops run up to 10 times slower.
/// `xla_llvm_disable_expensive_passes`, fast math and the number of parts that code is split into
/// made no difference above the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// The compiler is quick: for programs that run a few times.
    FastCompile,
    /// The executable is quick: for programs that run often.
    #[default]
    Serve,
}

impl Profile {
    /// Flags for a platform; none for one that this crate does not know, since a plugin refuses
    /// what it does not know.
    pub fn flags(self, platform: &str) -> Vec<(&'static str, FlagValue)> {
        // Rounds to the type that was asked for after each op, as PyTorch does.
        let rounding = ("xla_allow_excess_precision", FlagValue::Bool(false));
        match platform {
            "cpu" => {
                // XLA's own default loses NaN in minima and maxima.
                let mut flags = vec![rounding, ("xla_cpu_enable_fast_min_max", false.into())];
                if self == Profile::FastCompile {
                    flags.push(("xla_backend_optimization_level", 0.into()));
                }
                flags
            }
            "tpu" => {
                let effort = match self {
                    Profile::FastCompile => "EFFORT_O1",
                    Profile::Serve => "EFFORT_O2",
                };
                vec![rounding, ("xla_optimization_level", effort.into())]
            }
            "cuda" => vec![rounding],
            _ => Vec::new(),
        }
    }
}
