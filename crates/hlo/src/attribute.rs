//! Attributes of ops, and how each is spelled in StableHLO text.

mod custom_call;
mod groups;
mod keywords;

use std::fmt::Write as _;

pub(crate) use custom_call::{Aliases, RowMajor};
pub use custom_call::{Dictionary, Value};
pub use groups::{Channel, Pairs, ReplicaGroups};
pub use keywords::{CompareType, Direction, Precision, RngAlgorithm};

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

/// Name of a function in the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Symbol(pub String);

impl Attribute for Symbol {
    fn mlir(&self) -> Option<String> {
        Some(format!("@{}", self.0))
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

/// Whether a called function does more than compute its results. The function's body says it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Effect(pub bool);

impl Attribute for Effect {
    fn mlir(&self) -> Option<String> {
        None
    }
}
