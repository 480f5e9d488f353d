//! Programs to compile.

/// A program in a form PJRT compiles.
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
