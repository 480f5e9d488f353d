//! Attributes of custom calls.

use super::{Attribute, list, quoted};

/// Values of a custom call's attributes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An `i32`.
    I32(i32),
    /// An `i64`.
    I64(i64),
    /// An `f32`, by its bits.
    F32(u32),
    /// An `f64`, by its bits.
    F64(u64),
    /// Text.
    String(String),
    /// An array of `i64`.
    I64s(Vec<i64>),
    /// A nested dictionary.
    Dictionary(Dictionary),
}

/// Attributes of a custom call, by name; written in the order of the names.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Dictionary(pub std::collections::BTreeMap<String, Value>);

impl Dictionary {
    /// MLIR has no attribute without a name.
    pub(crate) fn names_are_given(&self) -> bool {
        self.0.iter().all(|(name, value)| {
            let nested = match value {
                Value::Dictionary(entries) => entries.names_are_given(),
                _ => true,
            };
            !name.is_empty() && nested
        })
    }
}

impl Attribute for Dictionary {
    fn mlir(&self) -> Option<String> {
        let entries =
            self.0.iter().map(|(name, value)| format!("{} = {}", quoted(name), value.mlir()));
        Some(format!("{{{}}}", list(entries)))
    }
}

impl Value {
    fn mlir(&self) -> String {
        match self {
            Value::Bool(value) => value.to_string(),
            Value::I32(value) => format!("{value} : i32"),
            Value::I64(value) => format!("{value} : i64"),
            Value::F32(bits) => format!("0x{bits:08X} : f32"),
            Value::F64(bits) => format!("0x{bits:016X} : f64"),
            Value::String(text) => quoted(text),
            Value::I64s(values) => values.mlir().unwrap_or_default(),
            Value::Dictionary(entries) => entries.mlir().unwrap_or_default(),
        }
    }
}

/// Ranks of a custom call's operands or results, all of them row-major.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct RowMajor(pub Vec<usize>);

impl Attribute for RowMajor {
    fn mlir(&self) -> Option<String> {
        let layouts = self.0.iter().map(|&rank| {
            let order = list((0..rank).rev());
            let order = if rank == 0 { order } else { format!("[{order}]") };
            format!("dense<{order}> : tensor<{rank}xindex>")
        });
        Some(format!("[{}]", list(layouts)))
    }
}

/// Which operand each result shares its buffer with.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Aliases {
    /// As (result, operand).
    pub pairs: Vec<(i64, i64)>,
    /// Number of results: several make a tuple, whose members are named by index, one does not.
    pub n_results: usize,
}

impl Attribute for Aliases {
    fn mlir(&self) -> Option<String> {
        let aliases = self.pairs.iter().map(|(result, operand)| {
            let result = if self.n_results == 1 { String::new() } else { result.to_string() };
            format!(
                "#stablehlo.output_operand_alias<output_tuple_indices = [{result}], \
                 operand_index = {operand}, operand_tuple_indices = []>"
            )
        });
        if self.pairs.is_empty() { None } else { Some(format!("[{}]", list(aliases))) }
    }
}
