//! Compiles programs once, runs them on a device that is asked for by name, and fills them with
//! [`weights`].
//!
//! A [`Runtime`] loads a plugin, makes a client and owns a [`Cache`] of executables, in memory and
//! in a folder that all processes share.
//!
//! ```no_run
//! use rectiflow_pjrt::Program;
//! use rectiflow_runtime::{CompileOptions, DeviceName, Request, Runtime, RuntimeOptions};
//!
//! let runtime = Runtime::new(&RuntimeOptions::from_env(DeviceName::Cpu)?)?;
//! let program = Program::stablehlo(
//!     "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!         %y = stablehlo.add %x, %x : tensor<2xf32>
//!         return %y : tensor<2xf32>
//!     }",
//! );
//! let options = CompileOptions::default();
//! let request = Request { name: "double", program: &program, options: &options };
//! let double = runtime.get_or_compile(&request)?; // compiled once; later processes load it
//! let x = runtime.client()?.buffer_from_slice(&[1f32, 2.0], &[2])?;
//! assert_eq!(double.execute(&[&x])?[0].to_vec::<f32>()?, [2.0, 4.0]);
//! println!("{:?}", runtime.stats());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is compiled again, and what is not
//!
//! A [`Key`] lists what an executable depends on: the program without its names and source lines,
//! the options, flags of the environment, the plugin's build, the devices and, for CPU, the
//! processor. Nothing else makes a program be compiled again; [`Cache::why`] says which part did.
//!
//! # What it promises
//! - One compile for all threads and processes that want it at once.
//! - No torn or damaged executable is ever run: entries appear whole, and every byte of them is
//!   checked. What cannot be used is compiled anew, with a warning.
//! - A folder that is full, read-only or gone costs time, and never a result.
//! - It prints nothing; warnings and timings go to `tracing`. It reads the environment in
//!   [`RuntimeOptions::from_env`], and otherwise only what the plugin reads there itself.
//!
//! # What it leaves to others
//! The folder is to be trusted like a folder of programs: digests tell damage, not malice.

mod cache;
mod compile_options;
mod device;
mod eager;
mod element;
mod environment;
mod error;
mod options;
mod profile;
mod runtime;
mod stages;
pub mod weights;

pub use cache::{
    Cache, CacheOutcome, CacheStats, Difference, Disk, Entry, Key, Listing, Nearest, Part, Request,
    Swept, Why,
};
pub use compile_options::{CompileOptions, FlagValue};
pub use device::{DeviceInfo, DeviceName};
pub use eager::{
    Array, EagerMode, EagerOptions, Flush, FlushReason, ModeScope, Queue, Read, Reading, Totals,
    Trace,
};
pub use error::{Code, Error, Result};
pub use options::{CacheOptions, RuntimeOptions};
pub use profile::Profile;
pub use runtime::Runtime;
pub use stages::{Compiled, Jit, Lowered, Traced};
