//! What the workspace's tests share: host values of every element type, cases with their expected
//! values, and a run of a recorded graph on the CPU plugin.

pub mod bound;
pub mod case;
pub mod conformance;
pub mod float_format;
pub mod opcodes;
pub mod plugin;
pub mod transformer;
pub mod value;

pub use bound::{Bound, difference};
pub use case::{Case, Division, check};
pub use value::Value;
