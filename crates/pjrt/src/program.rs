//! Programs to compile.

/// A program in a form PJRT compiles.
///
/// # Trust
/// Nothing is checked here: the plugin's compiler parses the bytes inside this
/// process, and some input ends the process or does worse. What a program may call
/// runs too: a custom call runs any code registered under its name, some of which
/// comes with the plugin. Compile what a checked builder printed, or a source that
/// you would also run as a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub(crate) code: Vec<u8>,
    pub(crate) format: String,
}

impl Program {
    /// StableHLO (with Shardy, if used) as MLIR text or as portable bytecode;
    /// the plugin tells them apart.
    pub fn stablehlo(code: impl Into<Vec<u8>>) -> Self {
        Program { code: code.into(), format: "mlir".to_owned() }
    }

    /// A serialized `HloModuleProto`.
    pub fn hlo_proto(bytes: impl Into<Vec<u8>>) -> Self {
        Program { code: bytes.into(), format: "hlo".to_owned() }
    }

    /// The bytes of the program.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// PJRT's name of the format: `mlir`, `hlo` or `hlo_with_config`.
    pub fn format(&self) -> &str {
        &self.format
    }
}
