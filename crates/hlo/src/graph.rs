//! Recording: a graph grows one instruction per call of an op method.

use std::{
    panic::Location,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
};

use crate::{
    DType, Error, Literal, Mesh, Op, Shape, Sharding, Tensor,
    block::{Block, Capture, Instruction, Live, ValueId},
    eager::Dispatch,
    error::Mismatch,
    module::Function,
    op::{Inputs, RegionType},
};

/// What is known of a parameter of the whole program besides its shape.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParameterFacts {
    pub(crate) name: String,
    pub(crate) sharding: Option<Sharding>,
    pub(crate) donation: Option<Donation>,
}

/// What becomes of the buffer of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Donation {
    /// It holds this result.
    Alias(usize),
    /// Whatever fits.
    Any,
}

/// A graph being recorded. Clones record into the same graph; threads may share it.
///
/// A region of a control-flow op or reduction is recorded as a graph of its own, whose parent is
/// the graph around it. An op is recorded in the innermost graph of its operands.
#[derive(Clone)]
pub struct Graph {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    parent: Option<Graph>,
    depth: usize,
    /// Whether this is neither a region nor a function.
    is_program: bool,
    block: Mutex<Block>,
    /// Who takes the ops of the program, if they are not kept; known to its regions too, since it
    /// also takes their errors.
    pub(crate) dispatch: Option<Arc<dyn Dispatch>>,
    /// Values of an eager graph so far, which no block counts.
    pub(crate) n_values: AtomicU64,
    pub(crate) shared: Arc<Mutex<Shared>>,
}

/// What a graph and all its regions share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) first_error: Option<Error>,
    pub(crate) functions: Vec<Arc<Function>>,
    pub(crate) meshes: Vec<Mesh>,
    pub(crate) parameters: Vec<ParameterFacts>,
    pub(crate) result_shardings: Vec<(usize, Sharding)>,
    /// Open scopes, outermost first, each with the number of its guard.
    pub(crate) scopes: Vec<(u64, String)>,
    n_scopes: u64,
}

/// A panic in one recording thread leaves whole instructions behind, so the data stays usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph::from_parts(None, Arc::default(), true, None)
    }

    pub(crate) fn dispatching(dispatch: Arc<dyn Dispatch>) -> Graph {
        Graph::from_parts(None, Arc::default(), true, Some(dispatch))
    }

    fn from_parts(
        parent: Option<Graph>,
        shared: Arc<Mutex<Shared>>,
        is_program: bool,
        dispatch: Option<Arc<dyn Dispatch>>,
    ) -> Graph {
        let depth = parent.as_ref().map_or(0, |p| p.inner.depth + 1);
        let (block, n_values) = (Mutex::default(), AtomicU64::new(0));
        let inner = Inner { parent, depth, is_program, block, dispatch, n_values, shared };
        Graph { inner: Arc::new(inner) }
    }

    pub(crate) fn is_program(&self) -> bool {
        self.inner.is_program
    }

    /// An empty graph for a region inside this one.
    pub(crate) fn region(&self) -> Graph {
        let (shared, dispatch) = (self.inner.shared.clone(), self.inner.dispatch.clone());
        Graph::from_parts(Some(self.clone()), shared, false, dispatch)
    }

    /// An empty graph for a function, which sees nothing of this one.
    pub(crate) fn isolated(&self) -> Graph {
        Graph::from_parts(None, self.inner.shared.clone(), false, self.inner.dispatch.clone())
    }

    pub(crate) fn block(&self) -> MutexGuard<'_, Block> {
        lock(&self.inner.block)
    }

    pub(crate) fn shared(&self) -> MutexGuard<'_, Shared> {
        lock(&self.inner.shared)
    }

    pub(crate) fn tensor(&self, id: ValueId, shape: Shape) -> Tensor {
        Tensor { graph: self.clone(), id, shape: Arc::new(shape), handle: None }
    }

    /// Shape of a value of this graph's block.
    pub(crate) fn shape_of(&self, id: ValueId) -> Shape {
        self.block().shape(id).clone()
    }

    /// An input of the program. The order of the calls is the order of the arguments; the name is
    /// for messages only and does not enter the program.
    #[track_caller]
    pub fn parameter(&self, name: &str, shape: Shape) -> Tensor {
        if !self.is_program() || self.eager_root().is_some() {
            let found = if self.is_program() { "an eager graph" } else { "a region or function" };
            let mismatch = Mismatch::new("a call on the graph of a program being traced", found);
            self.fail("parameter", vec![shape.clone()], mismatch);
            return self.stand_in(shape);
        }
        let shape = self.checked_parameter(shape);
        // Both under one lock, so that the n-th name belongs to the n-th value.
        let mut shared = self.shared();
        shared.parameters.push(ParameterFacts { name: name.to_string(), ..Default::default() });
        self.push_parameter(shape)
    }

    /// A parameter of this graph's block.
    #[track_caller]
    pub(crate) fn block_parameter(&self, shape: Shape) -> Tensor {
        let shape = self.checked_parameter(shape);
        self.push_parameter(shape)
    }

    /// The shape, or a scalar to go on with after keeping why no parameter can have it.
    #[track_caller]
    fn checked_parameter(&self, shape: Shape) -> Shape {
        let tuple = Mismatch::new("a parameter for each member", "a tuple");
        let checked = if shape.dtype == DType::Tuple { Err(tuple) } else { check_shape(&shape) };
        match checked {
            Ok(()) => shape,
            Err(mismatch) => {
                self.fail("parameter", vec![shape], mismatch);
                Shape::scalar(DType::F32)
            }
        }
    }

    fn push_parameter(&self, shape: Shape) -> Tensor {
        let mut block = self.block();
        let id = block.new_value(shape.clone());
        block.parameters.push(id);
        drop(block);
        self.tensor(id, shape)
    }

    /// A value that is part of the program.
    #[track_caller]
    pub fn constant(&self, value: Literal) -> Tensor {
        self.record1(Op::Constant { value }, &[])
    }

    /// A constant of one number everywhere.
    #[track_caller]
    pub fn full(&self, shape: Shape, value: impl Into<crate::Number>) -> Tensor {
        match Literal::splat(shape.clone(), value) {
            Ok(literal) => self.constant(literal),
            Err(mismatch) => {
                self.fail("stablehlo.constant", Vec::new(), mismatch);
                self.stand_in(shape)
            }
        }
    }

    /// 0, 1, 2, .. along `iota_dimension` of `shape`.
    #[track_caller]
    pub fn iota(&self, shape: Shape, iota_dimension: i64) -> Tensor {
        self.record1(Op::Iota { iota_dimension, shape }, &[])
    }

    /// Opens a name scope, until the guard is dropped. Scopes appear in errors and nowhere else.
    pub fn scope(&self, name: impl Into<String>) -> Scope {
        let mut shared = self.shared();
        shared.n_scopes += 1;
        let id = shared.n_scopes;
        shared.scopes.push((id, name.into()));
        Scope { graph: self.clone(), id }
    }

    /// Declares a mesh that shardings may name.
    #[track_caller]
    pub fn mesh(&self, mesh: &Mesh) {
        let known = self.shared().meshes.iter().find(|known| known.name == mesh.name).cloned();
        match known {
            None => self.shared().meshes.push(mesh.clone()),
            Some(known) if known == *mesh => {}
            Some(known) => {
                let expected = format!("mesh {} as first declared, {}", mesh.name, known.mlir());
                self.fail("sdy.mesh", Vec::new(), Mismatch::new(expected, mesh.mlir()));
            }
        }
    }

    /// Keeps the first error.
    #[track_caller]
    pub(crate) fn fail(&self, op: &'static str, operands: Vec<Shape>, mismatch: Mismatch) {
        self.fail_at(op, operands, mismatch, Location::caller());
    }

    fn fail_at(
        &self,
        op: &'static str,
        operands: Vec<Shape>,
        mismatch: Mismatch,
        location: &'static Location<'static>,
    ) {
        let names: Vec<String> =
            self.shared().scopes.iter().map(|(_, name)| name.clone()).collect();
        self.keep(Error::new(op, operands, mismatch, location, names.join("/")));
    }

    fn keep(&self, error: Error) {
        match self.dispatch() {
            None => {
                self.shared().first_error.get_or_insert(error);
            }
            // What comes of the region decides who hears of it.
            Some(_) if !self.is_program() => {
                self.block().failure.get_or_insert(error);
            }
            Some(dispatch) => dispatch.fail(error),
        }
    }

    /// The first error so far.
    pub fn first_error(&self) -> Option<Error> {
        self.shared().first_error.clone()
    }

    /// A value to go on with after an error; the graph can no longer be finished.
    pub(crate) fn stand_in(&self, shape: Shape) -> Tensor {
        self.stand_ins(shape, 1).swap_remove(0)
    }

    /// Stand-ins for the results of one op, for the same error.
    fn stand_ins(&self, shape: Shape, n: usize) -> Vec<Tensor> {
        if let Some(dispatch) = self.eager_root() {
            let (shape, handle) = (Arc::new(shape), dispatch.stand_in());
            return (0..n).map(|_| self.value(shape.clone(), handle.clone())).collect();
        }
        let mut block = self.block();
        let ids: Vec<ValueId> = (0..n).map(|_| block.new_value(shape.clone())).collect();
        drop(block);
        ids.into_iter().map(|id| self.tensor(id, shape.clone())).collect()
    }

    /// Records an op of one result.
    #[track_caller]
    pub(crate) fn record1(&self, op: Op, operands: &[&Tensor]) -> Tensor {
        let mut results = self.record(op, operands, Vec::new(), 1);
        results.swap_remove(0)
    }

    /// Records an op. Always returns `n_results` values, stand-ins if a rule failed.
    #[track_caller]
    pub(crate) fn record(
        &self,
        op: Op,
        operands: &[&Tensor],
        regions: Vec<Block>,
        n_results: usize,
    ) -> Vec<Tensor> {
        self.record_at(op, operands, regions, n_results, Location::caller())
    }

    /// Records an op that model code wrote at `location`.
    pub(crate) fn record_at(
        &self,
        op: Op,
        operands: &[&Tensor],
        regions: Vec<Block>,
        n_results: usize,
        location: &'static Location<'static>,
    ) -> Vec<Tensor> {
        let graph = innermost(self, operands);
        if let Some(error) = regions.iter().find_map(|region| region.failure.as_ref()) {
            return graph.go_on(error, operands, n_results);
        }
        let Some(ids) = operands.iter().map(|t| graph.import(t)).collect::<Option<Vec<_>>>() else {
            let mismatch = Mismatch::new("operands of one graph", "a value of another graph");
            return graph.failed(&op, operands, mismatch, n_results, location);
        };
        let shapes: Vec<Shape> = operands.iter().map(|t| t.shape().clone()).collect();
        let types: Vec<RegionType> = regions.iter().map(Block::region_type).collect();
        let inferred = op
            .infer(&Inputs { operands: &shapes, regions: &types })
            .and_then(|results| results.iter().try_for_each(check_shape).map(|()| results));
        match inferred {
            Ok(results) if results.len() == n_results => {
                if let Some(dispatch) = graph.eager_root() {
                    return graph.hand_over(dispatch, op, operands, regions, results, location);
                }
                let mut block = graph.block();
                let ids_out: Vec<_> = results.iter().map(|s| block.new_value(s.clone())).collect();
                let results_ids = ids_out.clone();
                block.instructions.push(Instruction {
                    op,
                    operands: ids,
                    results: ids_out,
                    regions,
                    location,
                });
                drop(block);
                results_ids.into_iter().zip(results).map(|(id, s)| graph.tensor(id, s)).collect()
            }
            Ok(results) => {
                let mismatch =
                    Mismatch::new(format!("{n_results} results"), results.len().to_string());
                graph.failed(&op, operands, mismatch, n_results, location)
            }
            Err(mismatch) => graph.failed(&op, operands, mismatch, n_results, location),
        }
    }

    fn failed(
        &self,
        op: &Op,
        operands: &[&Tensor],
        mismatch: Mismatch,
        n_results: usize,
        location: &'static Location<'static>,
    ) -> Vec<Tensor> {
        let shapes = operands.iter().map(|t| t.shape().clone()).collect();
        self.fail_at(op.mnemonic(), shapes, mismatch, location);
        self.stand_ins(shape_to_go_on_with(operands), n_results)
    }

    /// What an op gives that cannot be recorded for an error elsewhere.
    pub(crate) fn go_on(
        &self,
        error: &Error,
        operands: &[&Tensor],
        n_results: usize,
    ) -> Vec<Tensor> {
        self.keep(error.clone());
        self.stand_ins(shape_to_go_on_with(operands), n_results)
    }

    /// The id of `tensor` in this graph: its own, or a capture from a graph around this one;
    /// `None` when it belongs to neither.
    pub(crate) fn import(&self, tensor: &Tensor) -> Option<ValueId> {
        if Arc::ptr_eq(&self.inner, &tensor.graph.inner) {
            return Some(tensor.id);
        }
        let outer = self.inner.parent.as_ref()?.import(tensor)?;
        let mut block = self.block();
        if let Some(known) = block.captures.iter().find(|capture| capture.outer == outer) {
            return Some(known.inner);
        }
        let inner = block.new_value(tensor.shape().clone());
        let is_eager = self.inner.parent.as_ref().is_some_and(|p| p.eager_root().is_some());
        let live = is_eager.then(|| Live(tensor.clone()));
        block.captures.push(Capture { outer, inner, live });
        Some(inner)
    }
}

fn shape_to_go_on_with(operands: &[&Tensor]) -> Shape {
    operands.first().map_or_else(|| Shape::scalar(DType::F32), |t| t.shape().clone())
}

/// The deepest graph among `graph` and those of the operands.
pub(crate) fn innermost(graph: &Graph, operands: &[&Tensor]) -> Graph {
    let mut deepest = graph;
    for tensor in operands {
        if tensor.graph.inner.depth > deepest.inner.depth {
            deepest = &tensor.graph;
        }
    }
    deepest.clone()
}

/// No dim is negative, and neither a dim nor the array is so large that a compiler's own arithmetic
/// on it overflows.
fn check_shape(shape: &Shape) -> Result<(), Mismatch> {
    const LARGEST: i64 = 1 << 60;
    let dims = shape.dims.iter().all(|dim| (0..=LARGEST).contains(dim));
    let fits = dims && shape.byte_size().is_some_and(|bytes| bytes <= LARGEST);
    if fits {
        Ok(())
    } else {
        Err(Mismatch::new("dims from 0, and at most 2^60 bytes in all", shape.to_string()))
    }
}

/// Guard of a name scope.
pub struct Scope {
    graph: Graph,
    id: u64,
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.graph.shared().scopes.retain(|(id, _)| *id != self.id);
    }
}
