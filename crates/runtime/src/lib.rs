//! Runs functions over tensors on a device that is asked for by name: op by op, fused, or compiled as
//! a whole; compiles each program once, and fills it with [`weights`].
//!
//! A [`Runtime`] loads a plugin, makes a client and owns a [`Cache`] of executables, in memory and
//! in a folder that all processes share. Ops on the arrays of its [`Queue`] run as they are recorded
//! or, in [`EagerMode::DeferAndFuse`], as one program when a value is asked for; a [`Jit`] compiles a
//! function as a whole. Model code is the same in all of them.
//!
//! ```no_run
//! use rectiflow_hlo::Tensor;
//! use rectiflow_runtime::{CompileOptions, DeviceName, Read, Runtime, RuntimeOptions};
//!
//! fn double_and_add(p: &[Tensor]) -> Vec<Tensor> {
//!     vec![&p[0] * 2.0 + &p[1]]
//! }
//!
//! let runtime = Runtime::new(&RuntimeOptions::from_env(DeviceName::Cpu)?)?;
//! let queue = runtime.queue()?;
//! let x = queue.from_slice(&[1f32, 2.0], &[2])?;
//! let y = &double_and_add(&[x.clone(), x.clone()])[0]; // each op is launched at once
//! assert_eq!(y.to_vec::<f32>()?, [3.0, 6.0]);
//! let compiled = runtime.jit("double_and_add", &CompileOptions::default(), double_and_add);
//! let z = &compiled.call(queue, &[&x, y])?[0]; // compiled once; later processes load it
//! assert_eq!(z.to_vec::<f32>()?, [5.0, 10.0]);
//! println!("{:?}", runtime.stats());
//! # Ok::<(), rectiflow_runtime::Error>(())
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
