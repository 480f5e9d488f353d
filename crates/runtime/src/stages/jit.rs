//! A function that is compiled for the shapes it is called with.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use rectiflow_hlo::{Shape, Tensor};

use super::{Compiled, Traced};
use crate::compile_options::CompileOptions;
use crate::eager::{Array, Queue};
use crate::error::Result;
use crate::runtime::Runtime;

/// A function over tensors that is traced once for each list of argument shapes, and compiled as a
/// whole; see [`Runtime::jit`].
pub struct Jit<F> {
    runtime: Runtime,
    name: String,
    options: CompileOptions,
    function: F,
    compiled: Mutex<HashMap<Vec<Shape>, Compiled>>,
}

impl Runtime {
    /// A function that is compiled when it is called. It must record the same ops for the same
    /// shapes: what else it looks at is looked at once.
    pub fn jit<F>(&self, name: impl Into<String>, options: &CompileOptions, function: F) -> Jit<F>
    where
        F: Fn(&[Tensor]) -> Vec<Tensor>,
    {
        Jit {
            runtime: self.clone(),
            name: name.into(),
            options: options.clone(),
            function,
            compiled: Mutex::default(),
        }
    }
}

impl<F: Fn(&[Tensor]) -> Vec<Tensor>> Jit<F> {
    /// Records the function over parameters of these shapes.
    ///
    /// # Errors
    /// As [`Traced::new`].
    #[track_caller]
    pub fn trace(&self, parameters: &[Shape]) -> Result<Traced> {
        Traced::new(&self.name, parameters, |tensors| (self.function)(tensors))
    }

    /// The executable for arguments of these shapes. Blocks for tracing and compiling, if it is the
    /// first time.
    ///
    /// # Errors
    /// As [`Traced::new`] and [`Lowered::compile`](super::Lowered::compile).
    #[track_caller]
    pub fn compiled(&self, parameters: &[Shape]) -> Result<Compiled> {
        if let Some(known) = self.lock().get(parameters) {
            return Ok(known.clone());
        }
        // Not under the lock: the cache lets one of all threads compile, and others go on.
        let compiled = self.trace(parameters)?.lower().compile(&self.runtime, &self.options)?;
        Ok(self.lock().entry(parameters.to_vec()).or_insert(compiled).clone())
    }

    /// Runs the function; see [`Compiled::call`].
    ///
    /// # Errors
    /// As [`Jit::compiled`] and [`Compiled::call`].
    #[track_caller]
    pub fn call(&self, queue: &Queue, args: &[&Array]) -> Result<Vec<Array>> {
        let shapes: Vec<Shape> = args.iter().map(|arg| arg.shape().clone()).collect();
        self.compiled(&shapes)?.call(queue, args)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<Shape>, Compiled>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> fmt::Debug for Jit<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("name", &self.name).finish_non_exhaustive()
    }
}
