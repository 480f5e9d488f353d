//! Conformance cases, by family. Expected values come from plain loops, `f64` arithmetic or
//! `ndarray`, never from a plugin.

pub mod array;
pub mod collective;
pub mod comparison;
pub mod constant;
pub mod contract;
pub mod control;
pub mod conversion;
pub mod elementwise;
pub mod index;
pub mod order;
pub mod random;
pub mod reduce;
pub mod samples;
pub mod shape;

use crate::Case;

/// A family of ops and its cases.
pub type Family = (&'static str, fn() -> Vec<Case>);

/// Every family.
pub const FAMILIES: &[Family] = &[
    ("collective", collective::cases),
    ("comparison", comparison::cases),
    ("constant", constant::cases),
    ("contract", contract::cases),
    ("control", control::cases),
    ("conversion", conversion::cases),
    ("elementwise", elementwise::cases),
    ("index", index::cases),
    ("order", order::cases),
    ("random", random::cases),
    ("reduce", reduce::cases),
    ("shape", shape::cases),
];
