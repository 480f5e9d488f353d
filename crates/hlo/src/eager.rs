//! Graphs whose ops are handed over as they are recorded, instead of being kept.
//!
//! Recording, broadcasting and shape rules are those of every graph; what becomes of an op is the
//! [`Dispatch`]'s concern. So model code runs on the tensors of such a graph unchanged.

use std::{
    any::Any,
    panic::Location,
    sync::{Arc, atomic::Ordering},
};

use crate::{
    Error, Graph, Op, Shape, Tensor,
    block::{Block, Instruction, Live, ValueId},
};

/// What a [`Dispatch`] attaches to a value. It lives as long as a tensor of that value does.
pub type Handle = Arc<dyn Any + Send + Sync>;

/// Takes the ops of an eager graph, in the order recorded, from any thread.
pub trait Dispatch: Any + Send + Sync {
    /// Takes an op whose shape rule holds.
    ///
    /// The instruction is a world of its own: operand number `i` is input `i`, and captures of its
    /// regions name the inputs after the operands. Returns a handle for each result shape.
    fn dispatch(
        &self,
        graph: &Graph,
        instruction: Instruction,
        inputs: &[&Tensor],
        results: &[Arc<Shape>],
    ) -> Vec<Handle>;

    /// Takes the error of an op that breaks a rule. What this thread records next, through
    /// [`Dispatch::stand_in`] or as an op, is what has no value because of it.
    fn fail(&self, error: Error);

    /// A handle for a value in place of a failed op's.
    fn stand_in(&self) -> Handle;
}

impl Graph {
    /// A graph that hands each op over and keeps none. It cannot be finished.
    pub fn eager(dispatch: Arc<dyn Dispatch>) -> Graph {
        Graph::dispatching(dispatch)
    }

    /// Who takes the ops of this graph or of the one around it, if it is an eager one.
    pub fn dispatch(&self) -> Option<&Arc<dyn Dispatch>> {
        self.inner.dispatch.as_ref()
    }

    /// A value of this eager graph that no op of it computed.
    pub fn value(&self, shape: Arc<Shape>, handle: Handle) -> Tensor {
        let id = ValueId(self.inner.n_values.fetch_add(1, Ordering::Relaxed));
        Tensor { graph: self.clone(), id, shape, handle: Some(handle) }
    }

    /// An empty graph, to be finished, in which the functions and meshes of this one are declared.
    pub fn sibling(&self) -> Graph {
        let graph = Graph::new();
        let (functions, meshes) = {
            let shared = self.shared();
            (shared.functions.clone(), shared.meshes.clone())
        };
        let mut shared = graph.shared();
        (shared.functions, shared.meshes) = (functions, meshes);
        drop(shared);
        graph
    }

    /// Records an instruction that an eager graph handed over, on inputs of this graph.
    pub fn replay(&self, instruction: &Instruction, inputs: &[&Tensor]) -> Vec<Tensor> {
        let Instruction { op, operands, results, regions, location } = instruction;
        let mut regions = regions.clone();
        for capture in regions.iter_mut().flat_map(|region| &mut region.captures) {
            capture.outer = inputs[capture.outer.index()].id;
        }
        let operands = &inputs[..operands.len()];
        self.record_at(op.clone(), operands, regions, results.len(), location)
    }

    /// The graph itself, if its ops are handed over; regions and functions are blocks as ever.
    pub(crate) fn eager_root(&self) -> Option<&dyn Dispatch> {
        self.inner.dispatch.as_deref().filter(|_| self.is_program())
    }

    pub(crate) fn hand_over(
        &self,
        dispatch: &dyn Dispatch,
        op: Op,
        operands: &[&Tensor],
        mut regions: Vec<Block>,
        results: Vec<Shape>,
        location: &'static Location<'static>,
    ) -> Vec<Tensor> {
        let captured = take_captured(&mut regions, operands.len());
        let instruction = Instruction {
            op,
            operands: numbered(operands.len()),
            results: numbered(results.len()),
            regions,
            location,
        };
        let shapes: Vec<Arc<Shape>> = results.into_iter().map(Arc::new).collect();
        let handles = if captured.is_empty() {
            dispatch.dispatch(self, instruction, operands, &shapes)
        } else {
            let captured: Vec<&Tensor> = captured.iter().collect();
            let inputs = [operands, &captured].concat();
            dispatch.dispatch(self, instruction, &inputs, &shapes)
        };
        debug_assert_eq!(handles.len(), shapes.len(), "a handle for each result");
        shapes.into_iter().zip(handles).map(|(shape, handle)| self.value(shape, handle)).collect()
    }
}

fn numbered(n: usize) -> Vec<ValueId> {
    (0..n as u64).map(ValueId).collect()
}

/// The values that regions use from outside, which are named anew: as inputs from `first` on.
fn take_captured(regions: &mut [Block], first: usize) -> Vec<Tensor> {
    let mut captured = Vec::new();
    for region in regions {
        region.prune();
        for capture in &mut region.captures {
            capture.outer = ValueId((first + captured.len()) as u64);
            captured.extend(capture.live.take().map(|Live(tensor)| tensor));
        }
    }
    captured
}

impl Tensor {
    /// What the [`Dispatch`] of its graph attached to it.
    pub fn handle(&self) -> Option<&Handle> {
        self.handle.as_ref()
    }
}
