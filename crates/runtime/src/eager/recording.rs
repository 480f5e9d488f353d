//! Pending ops, and when it is time to run them.

use rectiflow_hlo::Graph;

use super::EagerOptions;
use super::flush::FlushReason;
use super::pending::PendingOp;
use super::repeats::{Repeats, START, Sight};

/// Ops that did not run yet.
pub(super) struct Recording {
    pub(super) pending: Vec<PendingOp>,
    /// Hash of each of them and those before it.
    contexts: Vec<u64>,
    bytes: u64,
    repeats: Repeats,
    /// Whether what is pending began where the host had asked for something, or at the beginning.
    is_start: bool,
    /// What the last op showed to be due. It waits for the next op or request: by then, model code
    /// has let go of what it no longer needs, and the program has fewer results.
    due: Option<Due>,
    /// Functions and meshes that pending ops name which run in any case.
    pub(super) declared: Option<Graph>,
}

/// Why to run pending ops, as one program for each length.
pub(super) struct Due {
    pub(super) reason: FlushReason,
    /// Numbers of ops, in order; what is left stays pending.
    pub(super) lengths: [usize; 2],
}

impl Recording {
    pub(super) fn new() -> Recording {
        let (pending, contexts) = (Vec::new(), Vec::new());
        let repeats = Repeats::new();
        Recording {
            pending,
            contexts,
            bytes: 0,
            repeats,
            is_start: true,
            due: None,
            declared: None,
        }
    }

    /// What is to be run before anything else.
    pub(super) fn take_due(&mut self) -> Option<Due> {
        self.due.take()
    }

    /// Keeps an op.
    pub(super) fn push(&mut self, op: PendingOp, options: &EagerOptions) {
        let hash = op.repeat_hash();
        self.bytes = self.bytes.saturating_add(op.bytes());
        let is_collective = op.instruction.is_collective();
        self.pending.push(op);
        let n = self.pending.len();
        let sight = self.repeats.push(hash, n);
        self.contexts.push(self.repeats.context());
        if self.is_start && n == START {
            self.repeats.remember_start();
        }
        let due = |reason, lengths| Some(Due { reason, lengths });
        self.due = match sight {
            _ if is_collective => due(FlushReason::Collective, [n - 1, 1]),
            Sight::Repeat(length) => due(FlushReason::RepeatedOps, [n - length, length]),
            Sight::Start => due(FlushReason::RepeatedOps, [n - START, 0]),
            Sight::Nothing if n >= options.max_ops => due(FlushReason::OpCap, [self.place(), 0]),
            Sight::Nothing if self.bytes >= options.max_bytes => {
                due(FlushReason::ByteCap, [self.place(), 0])
            }
            Sight::Nothing => None,
        };
    }

    /// Where to cut pending ops that are too many: at a place of the second half that depends on
    /// the ops around it and not on their number. So a loop whose body is too long to be recognised
    /// is cut at the same places in each iteration.
    fn place(&self) -> usize {
        let half = self.contexts.len() / 2;
        let second = self.contexts[half..].iter().enumerate();
        second
            .min_by_key(|(_, context)| **context)
            .map_or(self.contexts.len(), |(at, _)| half + at + 1)
    }

    /// Takes the first `n` ops.
    pub(super) fn take(&mut self, n: usize, reason: FlushReason) -> Vec<PendingOp> {
        self.contexts.drain(..n);
        let ops: Vec<PendingOp> = self.pending.drain(..n).collect();
        self.bytes = self.pending.iter().map(PendingOp::bytes).sum();
        self.is_start = self.pending.is_empty() && !reason.is_ours();
        ops
    }
}

impl FlushReason {
    /// Whether it came from looking at the ops, and not from who records them.
    fn is_ours(self) -> bool {
        matches!(self, FlushReason::RepeatedOps | FlushReason::OpCap | FlushReason::ByteCap)
    }
}
