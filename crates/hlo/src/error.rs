//! The error of a graph: the first shape rule that failed.

use std::{fmt, panic::Location};

use crate::Shape;

/// What a shape rule expected and what it found.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mismatch {
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Mismatch {
    /// A rule's verdict; both sides are phrases, `expected 2 dims`, `found tensor<3xf32>`.
    pub(crate) fn new(expected: impl Into<String>, found: impl Into<String>) -> Mismatch {
        Mismatch { expected: expected.into(), found: found.into() }
    }
}

/// The first thing wrong with a graph, with the line of model code that wrote it.
///
/// It is kept in the graph while recording goes on, so model code needs no `?`, and returned by
/// [`Graph::finish`](crate::Graph::finish).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Inner {
    op: &'static str,
    operands: Vec<Shape>,
    mismatch: Mismatch,
    location: &'static Location<'static>,
    scope: String,
}

impl Error {
    pub(crate) fn new(
        op: &'static str,
        operands: Vec<Shape>,
        mismatch: Mismatch,
        location: &'static Location<'static>,
        scope: String,
    ) -> Error {
        Error(Box::new(Inner { op, operands, mismatch, location, scope }))
    }

    /// The op's StableHLO name, `stablehlo.add`, or what else was being done.
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// Shapes of the operands the op was given.
    pub fn operands(&self) -> &[Shape] {
        &self.0.operands
    }

    /// What the rule asks for.
    pub fn expected(&self) -> &str {
        &self.0.mismatch.expected
    }

    /// What it was given.
    pub fn found(&self) -> &str {
        &self.0.mismatch.found
    }

    /// The line of model code.
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location
    }

    /// Names of the scopes the op was written in, `/` between them; empty outside any.
    pub fn scope(&self) -> &str {
        &self.0.scope
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { op, operands, mismatch, location, scope } = &*self.0;
        write!(f, "{location}: {op}(")?;
        for (i, shape) in operands.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{shape}")?;
        }
        write!(f, "): expected {}, found {}", mismatch.expected, mismatch.found)?;
        if !scope.is_empty() {
            write!(f, " (in {scope})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
