//! Files of programs.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use rectiflow_pjrt::Program;

use super::bytecode;

/// A program and what to call it.
pub(crate) struct ProgramFile {
    pub(crate) name: String,
    pub(crate) program: Program,
}

const BYTECODE: &[u8] = b"ML\xefR";

impl ProgramFile {
    /// Reads a file; its content, not its name, says what it is.
    pub(crate) fn read(path: &Path) -> Result<ProgramFile> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let shown = path.display();
        let bytes = fs::read(path).with_context(|| format!("cannot read the program {shown}"))?;
        let program = program(bytes).with_context(|| format!("cannot run {shown}"))?;
        Ok(ProgramFile { name, program })
    }
}

fn program(bytes: Vec<u8>) -> Result<Program> {
    if bytes.starts_with(BYTECODE) {
        check_counts(|name| bytecode::integer_attribute(&bytes, name))?;
        return Ok(Program::stablehlo(bytes));
    }
    if let Some(text) = as_text(&bytes) {
        if text.trim_start().starts_with("HloModule ") {
            bail!(
                "it is HLO text, which plugins do not read; give the module as StableHLO text or \
                 bytecode, or as a serialized HloModuleProto"
            );
        }
        if text.trim().is_empty() {
            bail!("it is empty; expected a program");
        }
        check_counts(|name| text_attribute(text, name))?;
        return Ok(Program::stablehlo(bytes));
    }
    // Field 1 of HloModuleProto, its name, comes first in every serialized one.
    if bytes.first() == Some(&0x0a) {
        return Ok(Program::hlo_proto(bytes));
    }
    bail!(
        "it is neither StableHLO text, nor MLIR bytecode (which begins with ML\\xefR), nor a \
         serialized HloModuleProto; it begins with `{}`",
        bytes[..bytes.len().min(8)].escape_ascii()
    )
}

/// Text has no control characters but those that lay it out.
fn as_text(bytes: &[u8]) -> Option<&str> {
    let is_layout = |byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    let is_plain = bytes.iter().all(|byte| !byte.is_ascii_control() || is_layout(*byte));
    str::from_utf8(bytes).ok().filter(|_| is_plain)
}

/// The value of an integer attribute, as in `mhlo.num_partitions = 2 : i32`.
fn text_attribute(text: &str, name: &str) -> Option<i64> {
    let (_, rest) = text.split_once(name)?;
    let digits = rest.trim_start().strip_prefix('=')?.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Refuses a module that says it is for several devices: told to use one, a plugin would compile it
/// for one, and it may then compute something else.
fn check_counts(attribute: impl Fn(&str) -> Option<i64>) -> Result<()> {
    let counts = [("mhlo.num_partitions", "partitions"), ("mhlo.num_replicas", "replicas")];
    for (name, what) in counts {
        let n = attribute(name).unwrap_or(1);
        if n > 1 {
            bail!(
                "it is a program for {n} {what}, and `rectiflow run` uses one device; lower it \
                 for one device, without shardings"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(bytes: &[u8]) -> Result<String> {
        program(bytes.to_vec()).map(|program| program.format().to_owned())
    }

    #[test]
    fn content_tells_what_a_program_is() {
        assert_eq!(format(b"module {}").unwrap(), "mlir");
        assert_eq!(format(b"\n\n// a comment\nfunc.func @main() { return }").unwrap(), "mlir");
        assert_eq!(format(b"ML\xefR\x0dStableHLO_v1\x00").unwrap(), "mlir");
        assert_eq!(format(b"\x0a\x04main\x12\x04main").unwrap(), "hlo");
    }

    #[test]
    fn what_cannot_run_is_refused_by_what_it_is() {
        let refused = |bytes: &[u8]| format!("{:#}", format(bytes).unwrap_err());
        assert!(refused(b"HloModule m\nENTRY main {}").contains("HLO text"));
        assert!(refused(b"").contains("empty"));
        assert!(refused(b"\x7fELF\x02\x01").contains("\\x7fELF"));
        let two = refused(b"module attributes {mhlo.num_replicas = 2 : i32} {}");
        assert!(two.contains("2 replicas"), "{two}");
    }
}
