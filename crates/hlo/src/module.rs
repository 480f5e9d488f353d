//! Finished programs: pruned, verified, ready to be printed.

use std::{fmt, panic::Location, sync::Arc};

use crate::{
    DType, Error, Graph, Mesh, Shape, Sharding, Tensor,
    block::Block,
    emit,
    error::Mismatch,
    graph::{Donation, ParameterFacts},
    prune::called_functions,
    verify,
};

/// A function of a module: a block that sees nothing from outside.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) name: String,
    /// Its body.
    pub block: Block,
}

/// A verified program. [`Graph::finish`] is the only way to one, so printing it cannot fail.
///
/// `Display` is its StableHLO text: the same calls give the same bytes, whatever the parameters,
/// scopes and source files are called.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) main: Function,
    pub(crate) functions: Vec<Function>,
    pub(crate) meshes: Vec<Mesh>,
    pub(crate) parameters: Vec<ParameterFacts>,
    pub(crate) result_shardings: Vec<Option<Sharding>>,
}

impl Module {
    /// Shapes of the parameters, in the order of arguments.
    pub fn parameter_shapes(&self) -> Vec<Shape> {
        self.main.block.shapes_of(&self.main.block.parameters)
    }

    /// Names of the parameters, in the order of arguments; for messages.
    pub fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|facts| facts.name.as_str())
    }

    /// Shapes of the results.
    pub fn result_shapes(&self) -> Vec<Shape> {
        self.main.block.shapes_of(&self.main.block.results)
    }

    /// The instructions of the program itself; functions it calls are [`Module::functions`].
    pub fn block(&self) -> &Block {
        &self.main.block
    }

    /// Functions that the program calls, callees before callers.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// StableHLO text in which each op carries the line of model code that wrote it.
    pub fn text_with_locations(&self) -> String {
        emit::text(self, true)
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&emit::text(self, false))
    }
}

impl Graph {
    /// Ends recording: the program that computes `results` from the parameters. What does not
    /// reach them is left out. The graph itself stays as it is and can be recorded on.
    ///
    /// # Errors
    /// The first shape rule that failed while recording, with its line of model code; or what
    /// [`verify`](crate::verify) finds.
    #[track_caller]
    pub fn finish(&self, results: &[&Tensor]) -> Result<Module, Error> {
        let location = Location::caller();
        let error =
            |op, shapes, mismatch| Error::new(op, shapes, mismatch, location, String::new());
        if self.dispatch().is_some() {
            let mismatch = Mismatch::new("a graph that keeps its ops", "an eager graph");
            return Err(error("func.return", Vec::new(), mismatch));
        }
        if let Some(first) = self.first_error() {
            return Err(first);
        }
        let shapes = results.iter().map(|tensor| tensor.shape().clone()).collect();
        let mut block =
            self.close(results).map_err(|mismatch| error("func.return", shapes, mismatch))?;
        block.prune();
        let shared = self.shared();
        let mut result_shardings = vec![None; results.len()];
        for (index, sharding) in &shared.result_shardings {
            let slot = result_shardings.get_mut(*index).ok_or_else(|| {
                let expected = format!("a result from 0 to before {}", results.len());
                error("sdy.sharding", Vec::new(), Mismatch::new(expected, index.to_string()))
            })?;
            *slot = Some(sharding.clone());
        }
        let functions = called_functions(&mut block, &shared.functions);
        let module = Module {
            main: Function { name: "main".into(), block },
            functions,
            meshes: shared.meshes.clone(),
            parameters: shared.parameters.clone(),
            result_shardings,
        };
        verify::verify(&module).map_err(|problem| problem.at(location))?;
        Ok(module)
    }

    /// The block recorded so far, returning `results`.
    pub(crate) fn close(&self, results: &[&Tensor]) -> Result<Block, Mismatch> {
        let ids = results.iter().map(|tensor| self.import(tensor)).collect::<Option<Vec<_>>>();
        if results.iter().any(|tensor| tensor.dtype() == DType::Tuple) {
            return Err(Mismatch::new("the members of a tuple one by one", "a tuple"));
        }
        let ids =
            ids.ok_or_else(|| Mismatch::new("results of this graph", "a value of another graph"))?;
        let mut block = self.block().clone();
        block.results = ids;
        Ok(block)
    }

    /// Splits a parameter over a mesh.
    #[track_caller]
    pub fn shard_parameter(&self, parameter: &Tensor, sharding: Sharding) {
        self.with_parameter("sdy.sharding", parameter, |facts| facts.sharding = Some(sharding));
    }

    /// Splits result number `result` of the program over a mesh.
    pub fn shard_result(&self, result: usize, sharding: Sharding) {
        self.shared().result_shardings.push((result, sharding));
    }

    /// Lets the program write result number `result` into the buffer of `parameter`, whose
    /// argument is then used up. Their shapes must be equal.
    #[track_caller]
    pub fn alias(&self, parameter: &Tensor, result: usize) {
        self.with_parameter("alias", parameter, |facts| {
            facts.donation = Some(Donation::Alias(result))
        });
    }

    /// Lets the program reuse the buffer of `parameter` for whatever fits; the argument is used up.
    #[track_caller]
    pub fn donate(&self, parameter: &Tensor) {
        self.with_parameter("donate", parameter, |facts| facts.donation = Some(Donation::Any));
    }

    #[track_caller]
    fn with_parameter(
        &self,
        what: &'static str,
        tensor: &Tensor,
        change: impl FnOnce(&mut ParameterFacts),
    ) {
        let own = Arc::ptr_eq(&self.inner, &tensor.graph.inner);
        let index = self.block().parameters.iter().position(|id| own && *id == tensor.id);
        match index {
            Some(index) => change(&mut self.shared().parameters[index]),
            None => {
                let mismatch = Mismatch::new("a parameter of this graph", format!("{tensor:?}"));
                self.fail(what, vec![tensor.shape().clone()], mismatch);
            }
        }
    }
}
