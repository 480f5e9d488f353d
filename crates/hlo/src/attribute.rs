//! Attributes of ops, and how each is spelled in StableHLO text.

use std::fmt::Write as _;

use crate::{DType, Literal, Shape};

/// A value that can be an attribute. `None` means that the attribute is not written: it is absent,
/// or the result type already says it.
pub trait Attribute {
    /// MLIR text of the value.
    fn mlir(&self) -> Option<String>;
}

/// Joins with `, `.
pub(crate) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// A quoted MLIR string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                let _ = write!(out, "\\{}", byte as char);
            }
            0x20..=0x7e => out.push(byte as char),
            _ => {
                let _ = write!(out, "\\{byte:02X}");
            }
        }
    }
    out.push('"');
    out
}

impl Attribute for i64 {
    fn mlir(&self) -> Option<String> {
        Some(format!("{self} : i64"))
    }
}

impl Attribute for i32 {
    fn mlir(&self) -> Option<String> {
        Some(format!("{self} : i32"))
    }
}

impl Attribute for bool {
    fn mlir(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Attribute for String {
    fn mlir(&self) -> Option<String> {
        Some(quoted(self))
    }
}

impl Attribute for Vec<i64> {
    fn mlir(&self) -> Option<String> {
        if self.is_empty() {
            Some("array<i64>".into())
        } else {
            Some(format!("array<i64: {}>", list(self)))
        }
    }
}

impl<T: Attribute> Attribute for Option<T> {
    fn mlir(&self) -> Option<String> {
        self.as_ref().and_then(T::mlir)
    }
}

impl Attribute for Literal {
    fn mlir(&self) -> Option<String> {
        Some(Literal::mlir(self))
    }
}

/// The result type says it.
impl Attribute for Shape {
    fn mlir(&self) -> Option<String> {
        None
    }
}

/// The result types say it.
impl Attribute for Vec<Shape> {
    fn mlir(&self) -> Option<String> {
        None
    }
}

/// The result type says it.
impl Attribute for DType {
    fn mlir(&self) -> Option<String> {
        None
    }
}

/// Rows of two numbers: low and high padding of each dim, or source and target of each pair.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pairs(pub Vec<(i64, i64)>);

impl<T: Into<Vec<(i64, i64)>>> From<T> for Pairs {
    fn from(pairs: T) -> Pairs {
        Pairs(pairs.into())
    }
}

impl Attribute for Pairs {
    fn mlir(&self) -> Option<String> {
        let rows = list(self.0.iter().map(|(a, b)| format!("[{a}, {b}]")));
        let rows = if rows.is_empty() { rows } else { format!("[{rows}]") };
        Some(format!("dense<{rows}> : tensor<{}x2xi64>", self.0.len()))
    }
}

/// Groups of replica or partition ids that take part in one collective; all of equal length.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ReplicaGroups(pub Vec<Vec<i64>>);

impl ReplicaGroups {
    /// Ids in each group.
    pub fn size(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }
}

impl<T: Into<Vec<Vec<i64>>>> From<T> for ReplicaGroups {
    fn from(groups: T) -> ReplicaGroups {
        ReplicaGroups(groups.into())
    }
}

impl Attribute for ReplicaGroups {
    fn mlir(&self) -> Option<String> {
        let rows = list(self.0.iter().map(|ids| format!("[{}]", list(ids))));
        let rows = if self.size() == 0 { String::new() } else { format!("[{rows}]") };
        Some(format!("dense<{rows}> : tensor<{}x{}xi64>", self.0.len(), self.size()))
    }
}

/// Number of the channel that a collective across partitions uses; unique in a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Channel(pub i64);

impl Attribute for Channel {
    fn mlir(&self) -> Option<String> {
        Some(format!("#stablehlo.channel_handle<handle = {}, type = 0>", self.0))
    }
}

/// Name of a function in the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Symbol(pub String);

impl Attribute for Symbol {
    fn mlir(&self) -> Option<String> {
        Some(format!("@{}", self.0))
    }
}

macro_rules! keywords {
    ($(#[doc = $doc:literal])+ $Name:ident = $mlir:literal { $($(#[doc = $vdoc:literal])+ $Variant:ident = $word:literal),* $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $Name { $($(#[doc = $vdoc])+ $Variant),* }
        impl $Name {
            fn word(self) -> &'static str {
                match self { $($Name::$Variant => $word),* }
            }
        }
        impl Attribute for $Name {
            fn mlir(&self) -> Option<String> {
                Some(format!(concat!("#stablehlo<", $mlir, " {}>"), self.word()))
            }
        }
    };
}

keywords! {
    /// Which comparison.
    Direction = "comparison_direction" {
        /// Equal.
        Eq = "EQ",
        /// Not equal; true for NaN.
        Ne = "NE",
        /// Greater or equal.
        Ge = "GE",
        /// Greater.
        Gt = "GT",
        /// Less or equal.
        Le = "LE",
        /// Less.
        Lt = "LT",
    }
}

keywords! {
    /// How elements compare.
    CompareType = "comparison_type" {
        /// IEEE: NaN is unordered.
        Float = "FLOAT",
        /// Total order of floats: -NaN, -inf, .., -0, +0, .., inf, NaN.
        TotalOrder = "TOTALORDER",
        /// Two's complement.
        Signed = "SIGNED",
        /// From zero; also for `pred`.
        Unsigned = "UNSIGNED",
    }
}

keywords! {
    /// How exactly a device multiplies floats; what each means is the platform's choice.
    Precision = "precision" {
        /// The fastest.
        Default = "DEFAULT",
        /// Better.
        High = "HIGH",
        /// The most exact.
        Highest = "HIGHEST",
    }
}

/// One per operand.
impl Attribute for Vec<Precision> {
    fn mlir(&self) -> Option<String> {
        Some(format!("[{}]", list(self.iter().filter_map(Attribute::mlir))))
    }
}

keywords! {
    /// Counter-based generator of random bits.
    RngAlgorithm = "rng_algorithm" {
        /// The platform's choice.
        Default = "DEFAULT",
        /// Threefry-2x32; the state is 2 x u64.
        ThreeFry = "THREE_FRY",
        /// Philox-4x32; the state is 2 or 3 x u64.
        Philox = "PHILOX",
    }
}

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

/// Dims of a result that the operands do not determine; the result type says them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ResultDims(pub Vec<i64>);

impl<T: Into<Vec<i64>>> From<T> for ResultDims {
    fn from(dims: T) -> ResultDims {
        ResultDims(dims.into())
    }
}

impl Attribute for ResultDims {
    fn mlir(&self) -> Option<String> {
        None
    }
}

/// An attribute that is there or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Unit(pub bool);

impl Attribute for Unit {
    fn mlir(&self) -> Option<String> {
        self.0.then(|| "unit".into())
    }
}

/// One `pred` per dim.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Flags(pub Vec<bool>);

impl Attribute for Flags {
    fn mlir(&self) -> Option<String> {
        if self.0.is_empty() { None } else { Some(format!("array<i1: {}>", list(&self.0))) }
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

/// Which operand each result shares its buffer with, as (result, operand).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Aliases(pub Vec<(i64, i64)>);

impl Attribute for Aliases {
    fn mlir(&self) -> Option<String> {
        let aliases = self.0.iter().map(|(result, operand)| {
            format!(
                "#stablehlo.output_operand_alias<output_tuple_indices = [{result}], \
                 operand_index = {operand}, operand_tuple_indices = []>"
            )
        });
        if self.0.is_empty() { None } else { Some(format!("[{}]", list(aliases))) }
    }
}
