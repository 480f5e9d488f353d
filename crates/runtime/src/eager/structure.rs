//! What makes two flushed programs the same, before anything is printed.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rectiflow_hlo::{Error, Graph, Instruction, Literal, Module, Shape, Tensor};
use rustc_hash::FxHasher;
use smallvec::SmallVec;

/// What an op's input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Input {
    /// An argument of the program.
    Leaf(u32),
    /// A constant of the program.
    Constant(u32),
    /// Result (right) of an earlier step (left).
    Result(u32, u32),
}

/// One op of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) instruction: Instruction,
    pub(super) inputs: SmallVec<[Input; 4]>,
}

/// A program as it was recorded: equal ones compute the same.
///
/// Values of leaves, names, source lines, and who holds what afterwards are no part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Structure {
    pub(super) leaves: Vec<Arc<Shape>>,
    pub(super) constants: Vec<Literal>,
    pub(super) steps: Vec<Step>,
    /// Step and result of each output.
    pub(super) outputs: SmallVec<[(u32, u32); 2]>,
}

impl Structure {
    pub(super) fn hash_code(&self) -> u64 {
        // Quick rather than strong: structures of equal hash are compared.
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The program, recorded in `graph`, an empty one. Leaf and output pairs in `aliases` may share
    /// a buffer.
    pub(super) fn module(
        &self,
        graph: &Graph,
        aliases: &[(usize, usize)],
    ) -> Result<Module, Error> {
        let parameter = |shape: &Arc<Shape>| graph.parameter("", Shape::clone(shape));
        let leaves: Vec<Tensor> = self.leaves.iter().map(parameter).collect();
        let constant = |value: &Literal| graph.constant(value.clone());
        let constants: Vec<Tensor> = self.constants.iter().map(constant).collect();
        let mut results: Vec<Vec<Tensor>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let input = |input: &Input| match *input {
                Input::Leaf(i) => leaves[i as usize].clone(),
                Input::Constant(i) => constants[i as usize].clone(),
                Input::Result(step, i) => results[step as usize][i as usize].clone(),
            };
            let inputs: SmallVec<[Tensor; 4]> = step.inputs.iter().map(input).collect();
            let inputs: SmallVec<[&Tensor; 4]> = inputs.iter().collect();
            results.push(graph.replay(&step.instruction, &inputs));
        }
        for &(leaf, output) in aliases {
            graph.alias(&leaves[leaf], output);
        }
        let output = |&(step, i): &(u32, u32)| &results[step as usize][i as usize];
        graph.finish(&self.outputs.iter().map(output).collect::<Vec<_>>())
    }

    /// Of at least one step.
    pub(super) fn first_and_last(&self) -> (&Instruction, &Instruction) {
        let steps = &self.steps;
        (&steps[0].instruction, &steps[steps.len() - 1].instruction)
    }
}
