//! Safe PJRT: load a plugin, compile a program, move arrays, execute.
//!
//! A PJRT plugin is a shared library that compiles StableHLO and runs it on some
//! hardware. This crate makes its C API safe, and adds nothing: no tensors, no
//! caching, no graph. It is the one crate of the workspace with `unsafe` code.
//!
//! # What it promises
//! - **No use after free from safe code.** Handles are reference counted and hold
//!   their parents; a [`Buffer`] outlives every [`Client`] and [`Plugin`] handle.
//!   Arrays cannot be used after they were donated: donating moves them.
//! - **Threads.** All handles are `Send + Sync`.
//! - **Old and new plugins.** Each call first checks that the plugin's function
//!   table has the function; argument structs are padded with zeros, so that a
//!   plugin built with longer ones accepts them. What a plugin lacks is an error
//!   with [`Error::is_unimplemented`].
//! - **Errors are never swallowed.** An [`Error`] names the C function, the status
//!   code and the plugin's message. A failure nobody asked for is logged through
//!   `tracing`.
//! - **Wrong arguments do not reach the plugin** where they can be recognised
//!   here, because some abort the process there.
//!
//! # What it leaves to others
//! Which plugin to load, and the safety of loading it: a plugin and a serialized
//! executable are native code, to be trusted like a program. What a program
//! means is between the caller and the compiler.
//!
//! # Example
//! ```no_run
//! use rectiflow_pjrt::{ClientOptions, CompileOptions, Plugin, Program};
//!
//! let plugin = Plugin::load("pjrt_c_api_cpu_plugin.so")?;
//! let client = plugin.client(&ClientOptions::new().cpu_device_count(4))?;
//! let program = Program::stablehlo(
//!     "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!         %y = stablehlo.add %x, %x : tensor<2xf32>
//!         return %y : tensor<2xf32>
//!     }",
//! );
//! let double = client.compile(&program, &CompileOptions::new())?;
//! let x = client.buffer_from_slice(&[1f32, 2.0], &[2])?;
//! let y = double.execute(&[&x])?;
//! assert_eq!(y[0].to_vec::<f32>()?, [2.0, 4.0]);
//! # Ok::<(), rectiflow_pjrt::Error>(())
//! ```

mod alias;
mod api;
mod args;
mod arguments;
#[cfg(feature = "baseline")]
pub mod baseline;
mod buffer;
mod c_data;
mod caught;
mod check;
mod client;
mod compile;
mod compile_options;
mod counts;
mod device;
mod device_description;
mod element_type;
mod error;
mod event;
mod executable;
mod executable_stats;
mod execute;
mod extension;
pub mod ffi;
mod flags;
mod form;
mod host_array;
mod keep;
mod key_value;
mod launch;
mod layout;
mod loaded;
mod memory;
mod options;
mod order;
pub mod packing;
mod plugin;
mod program;
mod proto;
mod shape;
mod signature;
mod to_device;
mod to_host;
mod topology;
mod transfer;
mod value;

pub use alias::AliasFulfiller;
pub use arguments::Argument;
pub use buffer::Buffer;
pub use client::Client;
pub use compile_options::{CompileOptions, FlagValue};
pub use device::{AllocatorStats, Device};
pub use device_description::DeviceDescription;
pub use element_type::{ElementType, HostElement};
pub use error::{Error, ErrorCode, Result};
pub use event::Event;
pub use executable::Executable;
pub use executable_stats::CompiledMemoryStats;
pub use execute::Execution;
pub use extension::Extension;
pub use host_array::{Elements, HostArray};
pub use key_value::KeyValueStore;
pub use launch::ExecuteOptions;
pub use loaded::LoadedExecutable;
pub use memory::{Memory, MemoryDescription, Placement};
pub use options::ClientOptions;
pub use plugin::{API_VERSION, Plugin, StablehloVersions};
pub use program::Program;
pub use shape::Shape;
pub use to_device::HostSemantics;
pub use to_host::HostRead;
pub use topology::Topology;
pub use transfer::TransferManager;
pub use value::{NamedValue, Value};
