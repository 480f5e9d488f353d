//! Which instructions a compiled program has, read from the HLO proto that the plugin gives back.
//!
//! Field numbers are those of XLA's `hlo.proto`; all other fields are skipped, so a newer plugin's
//! instructions do no harm.

use anyhow::{Result, ensure};
use prost::Message;
use rectiflow_pjrt::Program;

#[derive(Message)]
struct ModuleWithConfig {
    #[prost(message, optional, tag = "1")]
    module: Option<Module>,
}

#[derive(Message)]
struct Module {
    #[prost(message, repeated, tag = "3")]
    computations: Vec<Computation>,
}

#[derive(Message)]
struct Computation {
    #[prost(message, repeated, tag = "2")]
    instructions: Vec<Instruction>,
}

#[derive(Message)]
struct Instruction {
    #[prost(string, tag = "2")]
    opcode: String,
}

/// HLO opcodes of an optimized program, `all-reduce` and the like, one for each instruction.
///
/// # Errors
/// The program is not an HLO proto, or cannot be parsed.
pub fn opcodes(program: &Program) -> Result<Vec<String>> {
    let module = match program.format() {
        "hlo_with_config" => ModuleWithConfig::decode(program.code())?.module,
        "hlo" => Some(Module::decode(program.code())?),
        other => anyhow::bail!("an HLO proto, found {other}"),
    };
    let computations = module.map(|module| module.computations).unwrap_or_default();
    ensure!(!computations.is_empty(), "an HLO module without computations");
    let instructions = computations.into_iter().flat_map(|computation| computation.instructions);
    Ok(instructions.map(|instruction| instruction.opcode).collect())
}
