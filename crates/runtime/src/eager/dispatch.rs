//! From an op of model code to a launch, or to the pending ops.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rectiflow_hlo::{self as hlo, Dispatch, Graph, Handle, Instruction, Shape, Tensor};
use smallvec::{SmallVec, smallvec};

use super::executor::Manner;
use super::mode::EagerMode;
use super::pending::PendingOp;
use super::queue::{Inner, Inputs};
use super::resolve::Resolved;
use super::slot::{Origin, Slot, Source};
use super::view::{View, single, takes_views};
use crate::error::{Code, Error};

/// What comes out of an op.
type Results = SmallVec<[Arc<Slot>; 1]>;

impl Dispatch for Inner {
    fn dispatch(
        &self,
        graph: &Graph,
        mut instruction: Instruction,
        inputs: &[&Tensor],
        results: &[Arc<Shape>],
    ) -> Vec<Handle> {
        let resolved = match self.failures.take_own() {
            Some(error) => Err(error),
            None => self.resolve(&mut instruction, inputs),
        };
        let slots = match resolved {
            Ok(Resolved::Op(inputs)) => self.record(graph, instruction, inputs, results),
            Ok(Resolved::Value(slot)) => smallvec![slot],
            Err(error) => results.iter().map(|shape| failed(shape, &error)).collect(),
        };
        slots.into_iter().map(|slot| slot as Handle).collect()
    }

    fn fail(&self, error: hlo::Error) {
        self.failures.push(Error::shape(error));
    }

    fn stand_in(&self) -> Handle {
        let error = self.failures.take_own().unwrap_or_else(|| {
            Error::new(Code::Shape, "this value stands in for one that could not be computed")
        });
        failed(&Arc::new(Shape::scalar(hlo::DType::F32)), &error)
    }
}

fn failed(shape: &Arc<Shape>, error: &Error) -> Arc<Slot> {
    Arc::new(Slot::failed(Arc::clone(shape), Source::Outside, error.clone()))
}

impl Inner {
    /// Runs an op at once.
    fn launch(&self, graph: &Graph, op: PendingOp, mode: EagerMode) -> Results {
        let is_blocking = mode == EagerMode::DeferNeverAndLaunchBlocking;
        // Recorded in another mode, and by another thread if it is still pending.
        let takes_views = takes_views(&op.instruction.op);
        let needed = op.inputs.iter().filter(|slot| !takes_views || slot.view().is_none());
        needed.for_each(|slot| self.realize(graph, slot));
        if let Some(view) = View::of(&op) {
            let source = Source::View(Origin::new(&op.instruction, op.number, 0), Box::new(view));
            return smallvec![Arc::new(Slot::new(Arc::clone(&op.results[0].shape), source))];
        }
        let results = op.results.clone();
        self.live.extend(&results);
        self.executor.run(single(op), graph, Manner { is_blocking, ..Manner::default() });
        results
    }

    fn record(
        &self,
        graph: &Graph,
        instruction: Instruction,
        inputs: Inputs,
        shapes: &[Arc<Shape>],
    ) -> Results {
        let op = |number| {
            let result = |(i, shape): (usize, &Arc<Shape>)| {
                let origin = Origin::new(&instruction, number, i);
                Arc::new(Slot::new(Arc::clone(shape), Source::Op(origin)))
            };
            let results = shapes.iter().enumerate().map(result).collect();
            PendingOp { number, instruction, inputs, results }
        };
        match self.mode.get() {
            EagerMode::DeferAndFuse => self.defer(graph, op),
            mode => self.launch(graph, op(self.n_ops.fetch_add(1, Relaxed)), mode),
        }
    }

    /// Keeps an op for later, and hands over what is pending if it is time to.
    fn defer(&self, graph: &Graph, op: impl FnOnce(u64) -> PendingOp) -> Results {
        let mut recording = self.recording();
        self.settle(graph, &mut recording);
        let op = op(self.n_ops.fetch_add(1, Relaxed));
        let is_collective = op.instruction.is_collective();
        // Recorded in another mode.
        let views = op.inputs.iter().filter(|slot| slot.view().is_some());
        views.for_each(|slot| self.realize(graph, slot));
        let results = op.results.clone();
        self.live.extend(&results);
        if op.has_side_effect() {
            recording.declared = Some(graph.sibling());
        }
        recording.push(op, &self.options);
        if is_collective {
            self.settle(graph, &mut recording);
        }
        results
    }
}
