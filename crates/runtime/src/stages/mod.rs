//! From a function to an executable in three steps, each of which can be looked at: [`Traced`],
//! [`Lowered`], [`Compiled`]. [`Jit`] takes them all when a function is first called.

mod compiled;
mod jit;

use std::fmt;

use rectiflow_hlo::{Graph, Module, Shape, Tensor};
use rectiflow_pjrt::Program;

pub use compiled::Compiled;
pub use jit::Jit;

use crate::cache::Request;
use crate::compile_options::CompileOptions;
use crate::error::{Error, Result};
use crate::runtime::Runtime;

/// A function recorded over parameters of fixed shapes.
///
/// `Display` is its StableHLO with the line of model code of every op.
#[derive(Debug, Clone)]
pub struct Traced {
    name: String,
    module: Module,
}

impl Traced {
    /// Records `function` on a parameter for each shape. What it returns are the program's results;
    /// it may donate parameters through their graph ([`Graph::alias`], [`Graph::donate`]).
    ///
    /// # Errors
    /// [`Code::Shape`](crate::Code::Shape) for the first op that breaks a rule, with its line of
    /// model code.
    #[track_caller]
    pub fn new(
        name: impl Into<String>,
        parameters: &[Shape],
        function: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Result<Traced> {
        let graph = Graph::new();
        let mut tensors = Vec::with_capacity(parameters.len());
        for (i, shape) in parameters.iter().enumerate() {
            tensors.push(graph.parameter(&i.to_string(), shape.clone()));
        }
        let results = function(&tensors);
        let module = graph.finish(&results.iter().collect::<Vec<_>>()).map_err(Error::shape)?;
        Ok(Traced::of(name, module))
    }

    /// A program that was recorded in a graph of its own.
    pub fn of(name: impl Into<String>, module: Module) -> Traced {
        Traced { name: name.into(), module }
    }

    /// The recorded program.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The program in the form that a compiler takes.
    pub fn lower(&self) -> Lowered {
        let program = Program::stablehlo(self.module.to_string());
        let parameters = self.module.parameter_shapes();
        let names = self.module.parameter_names().map(str::to_owned).collect();
        let results = self.module.result_shapes();
        Lowered { name: self.name.clone(), program, parameters, names, results }
    }
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.module.text_with_locations())
    }
}

/// A program as StableHLO, the same whatever its function and lines are called.
///
/// `Display` is its text.
#[derive(Debug, Clone)]
pub struct Lowered {
    name: String,
    program: Program,
    parameters: Vec<Shape>,
    names: Vec<String>,
    results: Vec<Shape>,
}

impl Lowered {
    /// What the compiler is given.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The executable, from the runtime's cache or compiled. Blocks for it.
    ///
    /// # Errors
    /// As [`Runtime::get_or_compile`].
    pub fn compile(&self, runtime: &Runtime, options: &CompileOptions) -> Result<Compiled> {
        let request = Request { name: &self.name, program: &self.program, options };
        let executable = runtime.get_or_compile(&request)?;
        Ok(Compiled::new(self.clone(), executable))
    }
}

impl fmt::Display for Lowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.program.code()))
    }
}
