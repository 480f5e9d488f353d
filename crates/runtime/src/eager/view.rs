//! One op as a program; and ops that move no data, which wait until another needs them and then are
//! part of its program. torch_tpu keeps views back likewise.

use std::sync::Arc;

use rectiflow_hlo::{Instruction, Literal, Op};
use smallvec::{SmallVec, smallvec};

use super::pending::{Job, PendingOp};
use super::slot::{Slot, Source};
use super::structure::{Input, Step};

/// An op whose result is its input in other dims.
#[derive(Debug)]
pub(crate) struct View {
    instruction: Instruction,
    input: Arc<Slot>,
    /// How many views are looked through.
    depth: usize,
}

/// Whether an op may be in one program with the views it takes. Division is told apart: by a number
/// repeated it would be compiled as multiplication by the inverse, which rounds twice.
pub(super) fn takes_views(op: &Op) -> bool {
    !matches!(op, Op::Divide {})
}

/// Longer chains are computed, so that a loop of views does not grow without bound.
const DEEPEST: usize = 8;

impl View {
    /// The op as a view, if it is one.
    pub(super) fn of(op: &PendingOp) -> Option<View> {
        if !matches!(op.instruction.op, Op::BroadcastInDim { .. } | Op::Reshape { .. }) {
            return None;
        }
        let input = Arc::clone(&op.inputs[0]);
        let depth = 1 + input.view().map_or(0, |view| view.depth);
        let instruction = op.instruction.clone();
        (depth <= DEEPEST).then_some(View { instruction, input, depth })
    }

    /// The program that computes it.
    pub(super) fn job(&self, slot: &Arc<Slot>) -> Job {
        let mut job = Job::default();
        let input = job.value(Arc::clone(&self.input));
        job.push(self.instruction.clone(), smallvec![input], smallvec![Arc::clone(slot)]);
        job.return_last();
        job
    }
}

/// One op as a program that returns all its results.
pub(super) fn single(op: PendingOp) -> Job {
    let mut job = Job::default();
    let n = op.inputs.len();
    let mut inputs = SmallVec::with_capacity(n);
    for (i, slot) in op.inputs.into_iter().enumerate() {
        inputs.push(match slot.constant() {
            Some(literal) if op.instruction.op.is_filling(i, n) => job.constant(literal),
            _ => job.value(slot),
        });
    }
    job.push(op.instruction, inputs, op.results);
    job.return_last();
    job
}

impl Job {
    /// A value as an argument, or computed in the program from what it is a view of.
    fn value(&mut self, slot: Arc<Slot>) -> Input {
        let Some(view) = slot.view() else { return self.leaf(slot) };
        let input = self.value(Arc::clone(&view.input));
        let result = Arc::new(Slot::new(Arc::clone(&slot.shape), Source::Outside));
        self.push(view.instruction.clone(), smallvec![input], smallvec![result])
    }

    /// For few arguments.
    fn leaf(&mut self, slot: Arc<Slot>) -> Input {
        let known = self.leaves.iter().position(|known| Arc::ptr_eq(known, &slot));
        Input::Leaf(known.unwrap_or_else(|| {
            self.structure.leaves.push(Arc::clone(&slot.shape));
            self.leaves.push(slot);
            self.leaves.len() - 1
        }) as u32)
    }

    pub(super) fn constant(&mut self, literal: &Literal) -> Input {
        let constants = &mut self.structure.constants;
        let known = constants.iter().position(|known| known == literal);
        Input::Constant(known.unwrap_or_else(|| {
            constants.push(literal.clone());
            constants.len() - 1
        }) as u32)
    }

    /// Adds a step; its first result.
    pub(super) fn push(
        &mut self,
        instruction: Instruction,
        inputs: SmallVec<[Input; 4]>,
        results: SmallVec<[Arc<Slot>; 1]>,
    ) -> Input {
        self.structure.steps.push(Step { instruction, inputs });
        self.results.push(results);
        Input::Result(self.structure.steps.len() as u32 - 1, 0)
    }

    /// Returns all results of the last step.
    fn return_last(&mut self) {
        let step = self.structure.steps.len() as u32 - 1;
        let n = self.results.last().map_or(0, SmallVec::len) as u32;
        self.structure.outputs.extend((0..n).map(|result| (step, result)));
    }
}
