//! Weights: safetensors files, mapped and sent to a device.
//!
//! A [`Checkpoint`] is one file, or the shards that an index names; opening it reads headers only.
//! A model states what it needs as [`Parameter`]s, which [`Checkpoint::plan`] compares with the
//! files before a byte of a tensor is read; all that is wrong comes in one error. A [`Plan`] then
//! uploads, touching no bytes but those of its own tensors.
//!
//! ```no_run
//! use rectiflow_hlo::{DType, Shape};
//! use rectiflow_runtime::weights::{Checkpoint, Extra, Parameter};
//!
//! # fn main() -> Result<(), rectiflow_runtime::Error> {
//! let checkpoint = Checkpoint::open("flux/transformer")?;
//! let block = |i: usize| format!("transformer_blocks.{i}.attn.to_q.weight");
//! let shape = Shape::new(DType::BF16, [3072, 3072]);
//! let parameters = [
//!     Parameter::tensor("x_embedder.weight", Shape::new(DType::BF16, [3072, 64])),
//!     Parameter::stacked((0..19).map(block), shape), // [19, 3072, 3072]
//! ];
//! let plan = checkpoint.plan(&parameters, Extra::Ignored)?;
//! println!("{} bytes", plan.bytes());
//! # Ok(())
//! # }
//! ```

mod cast;
mod checkpoint;
mod mapped;
mod plan;
mod upload;

pub use checkpoint::{Checkpoint, Tensor};
pub(crate) use mapped::dtype_of;
pub use plan::{Extra, Parameter, Plan};
pub use upload::Progress;
