//! What a program does not need: unused values, uncalled functions.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{
    Op,
    block::{Block, Instruction},
    module::Function,
};

impl Block {
    /// Drops instructions whose results nothing uses; regions first, so that their captures shrink.
    pub(crate) fn prune(&mut self) {
        let mut live = vec![false; self.shapes.len()];
        self.results.iter().for_each(|id| live[id.index()] = true);
        let mut kept = Vec::with_capacity(self.instructions.len());
        for mut instruction in std::mem::take(&mut self.instructions).into_iter().rev() {
            let used = instruction.results.iter().any(|id| live[id.index()]);
            if !used && !instruction.has_side_effect() {
                continue;
            }
            instruction.regions.iter_mut().for_each(Block::prune);
            instruction.operands.iter().for_each(|id| live[id.index()] = true);
            let captured = instruction.regions.iter().flat_map(|region| &region.captures);
            captured.for_each(|capture| live[capture.outer.index()] = true);
            kept.push(instruction);
        }
        kept.reverse();
        self.captures.retain(|capture| live[capture.inner.index()]);
        self.instructions = kept;
    }

    /// Whether something in the block must run even if its results are unused.
    pub(crate) fn has_side_effect(&self) -> bool {
        self.instructions.iter().any(Instruction::has_side_effect)
    }

    /// Calls `visit` with the name of each function called in the block or its regions.
    fn visit_callees(&mut self, visit: &mut dyn FnMut(&mut String)) {
        for instruction in &mut self.instructions {
            if let Op::Call { callee, .. } = &mut instruction.op {
                visit(&mut callee.0);
            }
            instruction.regions.iter_mut().for_each(|region| region.visit_callees(visit));
        }
    }
}

/// The functions that `main` needs, callees before callers, numbered anew here and in the calls:
/// a function that is not called leaves no trace in the text.
pub(crate) fn called_functions(main: &mut Block, declared: &[Arc<Function>]) -> Vec<Function> {
    let mut called = BTreeSet::new();
    main.visit_callees(&mut |name| {
        called.insert(name.clone());
    });
    let mut functions = Vec::new();
    for function in declared.iter().rev() {
        if called.contains(&function.name) {
            let mut function = Function::clone(function);
            function.block.visit_callees(&mut |name| {
                called.insert(name.clone());
            });
            functions.push(function);
        }
    }
    functions.reverse();
    let names: Vec<String> = functions.iter().map(|function| function.name.clone()).collect();
    let mut rename = |name: &mut String| {
        if let Some(at) = names.iter().position(|known| known == name) {
            *name = format!("f{at}");
        }
    };
    main.visit_callees(&mut rename);
    for function in &mut functions {
        function.block.visit_callees(&mut rename);
        rename(&mut function.name);
    }
    functions
}
