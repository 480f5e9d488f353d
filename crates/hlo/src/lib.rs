//! Graphs of StableHLO operations: recorded, checked, printed.
//!
//! A [`Graph`] grows as methods of its [`Tensor`]s are called; [`Graph::finish`] gives a verified
//! [`Module`], whose `Display` is StableHLO text that any PJRT plugin compiles.
//!
//! ```
//! use rectiflow_hlo::{DType, Graph, Shape};
//!
//! let graph = Graph::new();
//! let x = graph.parameter("x", Shape::new(DType::F32, [2, 3]));
//! let w = graph.parameter("w", Shape::new(DType::F32, [3, 4]));
//! let module = graph.finish(&[&x.matmul(&w).gelu()])?;
//! assert_eq!(module.result_shapes(), [Shape::new(DType::F32, [2, 4])]);
//! # Ok::<(), rectiflow_hlo::Error>(())
//! ```
//!
//! # What a graph is
//!
//! A graph is a block: instructions in the order recorded, each with an [`Op`], operands and
//! results. Values are static: a [`Shape`] is a dtype and dims. Nothing has a value until a plugin
//! runs the program, and the order in which independent ops run is the compiler's.
//!
//! Ops are declared once, in `table.rs`. A row gives the name, the recording method, the element
//! types, the shape rule and, for an elementwise op, what it computes ([`Op::TABLE`]).
//!
//! # Errors
//!
//! Model code has no `?`. The first rule that fails is kept with its line of model code, operands,
//! what was expected and what was found, and [`Graph::finish`] returns it. Recording goes on with
//! stand-in values. Elementwise methods broadcast as NumPy does; they never convert element types.
//!
//! # Regions
//!
//! Loop bodies, branches and reduction bodies are closures over tensors of a graph of their own.
//! They may use values of the graphs around them, except the bodies of reductions, sorts, scatters
//! and functions, which see their parameters only.
//!
//! # What this crate refuses
//!
//! It has no IO, threads, clock, FFI or global state, and computes no values: the same calls give
//! the same bytes. It compiles and runs nothing.

mod attribute;
mod block;
mod build;
mod composite;
mod dimension_numbers;
mod dtype;
mod eager;
mod emit;
mod error;
mod graph;
mod literal;
mod meaning;
mod module;
mod op;
mod prune;
mod rules;
mod shape;
mod sharding;
mod table;
mod tensor;
mod traits;
pub mod verify;

pub use attribute::{
    Attribute, Channel, CompareType, Dictionary, Direction, Pairs, Precision, ReplicaGroups,
    ResultDims, RngAlgorithm, Symbol, Value,
};
pub use block::{Block, Capture, Instruction, ValueId};
pub use build::{Convolution, CustomCall, DotOptions, FunctionRef, Window};
pub use dimension_numbers::{ConvDims, DotAlgorithm, DotDims, GatherDims, ScatterDims};
pub use dtype::{Class, DType, DTypes};
pub use eager::{Dispatch, Handle};
pub use error::{Error, Mismatch};
pub use graph::{Graph, Scope};
pub use literal::{Element, Literal, Number};
pub use module::{Function, Module};
pub use op::{Inputs, Meaning, RegionType, Row, Width};
pub use shape::Shape;
pub use sharding::{Mesh, Sharding};
pub use table::Op;
pub use tensor::Tensor;
