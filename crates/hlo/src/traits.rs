//! What else is true of an op, for who prunes, fuses or runs it.

use crate::{Op, attribute::Effect};

impl Op {
    /// Whether the op itself must run even if its results are unused.
    pub fn has_side_effect(&self) -> bool {
        matches!(
            self,
            Op::CustomCall { has_side_effect: true, .. } | Op::Call { effect: Effect(true), .. }
        )
    }

    /// Whether devices exchange data in it.
    pub fn is_collective(&self) -> bool {
        matches!(
            self,
            Op::AllReduce { .. }
                | Op::AllGather { .. }
                | Op::ReduceScatter { .. }
                | Op::AllToAll { .. }
                | Op::CollectivePermute { .. }
        )
    }

    /// Whether operand `index` of `n` fills or begins, as the initial value of a reduction does: it
    /// is the same in every run, and compilers make better code when they know it.
    pub fn is_filling(&self, index: usize, n: usize) -> bool {
        match self {
            Op::Reduce { .. } | Op::ReduceWindow { .. } => index >= n / 2,
            Op::Pad { .. } => index == 1,
            _ => false,
        }
    }
}
