//! Ops that are recorded and did not run, and how they become a program.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rectiflow_hlo::Instruction;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::flush::Ran;
use super::slot::Slot;
use super::structure::{Input, Structure};
use crate::error::{Code, Error};

/// An op with what it reads and what it will fill.
#[derive(Debug)]
pub(super) struct PendingOp {
    /// Its number in the queue.
    pub(super) number: u64,
    pub(super) instruction: Instruction,
    pub(super) inputs: SmallVec<[Arc<Slot>; 4]>,
    pub(super) results: SmallVec<[Arc<Slot>; 1]>,
}

/// A program to run, with the values that go in and those to be filled.
#[derive(Debug, Default)]
pub(super) struct Job {
    pub(super) structure: Structure,
    pub(super) leaves: SmallVec<[Arc<Slot>; 4]>,
    /// Of each step, all of them; only the structure's outputs are filled.
    pub(super) results: SmallVec<[SmallVec<[Arc<Slot>; 1]>; 1]>,
    /// Ops that nobody wants the results of any more.
    pub(super) n_dropped: usize,
}

impl PendingOp {
    /// Equal for ops at the same place of two iterations of a loop: what an op reads does not count,
    /// as a weight or an embedding is read in each iteration from further away.
    pub(super) fn repeat_hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.instruction.hash(&mut hasher);
        for input in &self.inputs {
            input.shape.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Bytes of its results.
    pub(super) fn bytes(&self) -> u64 {
        self.results.iter().map(|slot| slot.bytes()).sum()
    }

    /// Whether it must run even if its results are unused.
    pub(super) fn has_side_effect(&self) -> bool {
        self.instruction.has_side_effect()
    }
}

/// Makes one program of `ops`, whose numbers rise, for all results that are still held by someone
/// else.
pub(super) fn cut(ops: Vec<PendingOp>) -> Job {
    let numbers: Vec<u64> = ops.iter().map(|op| op.number).collect();
    let wanted = wanted(&ops, &numbers);
    let mut numbering = Numbering::default();
    let mut job = Job::default();
    // Steps are fewer than ops, once the dead ones are left out.
    let mut step_of = vec![0; ops.len()];
    for (at, (op, wanted)) in ops.into_iter().zip(wanted).enumerate() {
        if !wanted.needed {
            job.n_dropped += 1;
            continue;
        }
        let n = op.inputs.len();
        let mut inputs = SmallVec::with_capacity(n);
        for (i, slot) in op.inputs.into_iter().enumerate() {
            inputs.push(match (place(&slot, &numbers), slot.constant()) {
                (Some((op, result)), _) => Input::Result(step_of[op], result as u32),
                (None, Some(literal)) if op.instruction.op.is_filling(i, n) => {
                    job.constant(literal)
                }
                (None, _) => numbering.leaf(slot, &mut job),
            });
        }
        let step = job.structure.steps.len() as u32;
        step_of[at] = step;
        job.structure.outputs.extend(wanted.outputs.into_iter().rev().map(|i| (step, i)));
        job.push(op.instruction, inputs, op.results);
    }
    job.outputs().for_each(|slot| slot.announce());
    job
}

/// Whatever became of the job, who waits for a value must hear of it.
impl Drop for Job {
    fn drop(&mut self) {
        for slot in self.outputs().filter(|slot| slot.value.get().is_none()) {
            let message = "the program that computes this value was given up";
            slot.fill(Err(Error::new(Code::Execute, message)));
        }
    }
}

impl Job {
    /// The values to be filled, in the order of the program's outputs.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &Arc<Slot>> {
        let slot = |&(step, i): &(u32, u32)| &self.results[step as usize][i as usize];
        self.structure.outputs.iter().map(slot)
    }
}

/// What of an op is wanted.
#[derive(Debug, Default, Clone)]
struct Wanted {
    needed: bool,
    /// Results that outlive the program.
    outputs: SmallVec<[u32; 1]>,
}

/// Which of the ops, and which result of it, will compute a value; `None` if none of them.
fn place(slot: &Slot, numbers: &[u64]) -> Option<(usize, usize)> {
    let origin = slot.awaited()?;
    Some((numbers.binary_search(&origin.op).ok()?, origin.result as usize))
}

fn wanted(ops: &[PendingOp], numbers: &[u64]) -> Vec<Wanted> {
    // How often each result is held by the ops themselves.
    let mut uses: Vec<SmallVec<[usize; 1]>> =
        ops.iter().map(|op| SmallVec::from_elem(0, op.results.len())).collect();
    for (op, result) in ops.iter().flat_map(|op| &op.inputs).filter_map(|slot| place(slot, numbers))
    {
        uses[op][result] += 1;
    }
    let mut wanted = vec![Wanted::default(); ops.len()];
    for (at, op) in ops.iter().enumerate().rev() {
        for (i, slot) in op.results.iter().enumerate().rev() {
            // One for `results` itself. A count read too high, since another thread is just letting
            // go, costs an output that nobody reads.
            if Arc::strong_count(slot) > 1 + uses[at][i] {
                wanted[at].outputs.push(i as u32);
            }
        }
        if wanted[at].outputs.is_empty() && !wanted[at].needed && !op.has_side_effect() {
            continue;
        }
        wanted[at].needed = true;
        for (input, _) in op.inputs.iter().filter_map(|slot| place(slot, numbers)) {
            wanted[input].needed = true;
        }
    }
    wanted
}

/// Numbers of leaves, in the order of their first use.
#[derive(Default)]
struct Numbering {
    /// By address; those in `leaves` stay alive, and so keep theirs.
    leaves: HashMap<*const Slot, u32>,
}

impl Numbering {
    fn leaf(&mut self, slot: Arc<Slot>, job: &mut Job) -> Input {
        let next = job.leaves.len() as u32;
        let number = *self.leaves.entry(Arc::as_ptr(&slot)).or_insert(next);
        if number == next {
            job.structure.leaves.push(Arc::clone(&slot.shape));
            job.leaves.push(slot);
        }
        Input::Leaf(number)
    }
}

impl Job {
    /// Ops in the program.
    pub(super) fn n_ops(&self) -> usize {
        self.structure.steps.len()
    }

    pub(super) fn summary(&self) -> Ran {
        let steps = &self.structure.steps;
        let lines = (!steps.is_empty()).then(|| {
            let (first, last) = self.structure.first_and_last();
            [first.location(), last.location()]
        });
        Ran {
            n_ops: steps.len(),
            n_dropped: self.n_dropped,
            n_outputs: self.structure.outputs.len(),
            output_bytes: self.outputs().map(|slot| slot.bytes()).sum(),
            lines,
        }
    }
}
