//! Loops, seen from the ops they record.

/// Longest body that is recognised, in ops. torch_tpu looks as far.
const LONGEST: usize = 128;
/// Shorter repetitions are ordinary code.
const SHORTEST: usize = 3;

/// Watches for a run of ops that repeats the run before it.
///
/// Flushing there makes every later iteration the same program, compiled once, however long the
/// loop and wherever it began.
#[derive(Debug)]
pub(super) struct Repeats {
    /// The last hashes, by op number modulo the length.
    history: [u64; LONGEST],
    /// For each length, how many ops in a row equal the op so many before them.
    runs: [u32; LONGEST + 1],
    n_ops: usize,
}

impl Repeats {
    pub(super) fn new() -> Repeats {
        Repeats { history: [0; LONGEST], runs: [0; LONGEST + 1], n_ops: 0 }
    }

    /// Takes the hash of the next op. Whether the last ops, `n_pending` of which did not run yet,
    /// end in a run that was recorded just before as well, and that is all pending.
    pub(super) fn push(&mut self, hash: u64, n_pending: usize) -> bool {
        let known = self.n_ops.min(LONGEST);
        let mut is_repeat = false;
        for length in 1..=known {
            let before = self.history[(self.n_ops - length) % LONGEST];
            let run = if before == hash { self.runs[length].saturating_add(1) } else { 0 };
            self.runs[length] = run;
            is_repeat |= length >= SHORTEST && run as usize >= length && n_pending >= length;
        }
        self.history[self.n_ops % LONGEST] = hash;
        self.n_ops += 1;
        is_repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the programs that a sequence of ops is cut into.
    fn cuts(hashes: impl IntoIterator<Item = u64>) -> Vec<usize> {
        let (mut repeats, mut pending, mut cuts) = (Repeats::new(), 0, Vec::new());
        for hash in hashes {
            pending += 1;
            if repeats.push(hash, pending) {
                cuts.push(std::mem::take(&mut pending));
            }
        }
        cuts
    }

    #[test]
    fn every_iteration_after_the_second_is_one_program() {
        let body = [1, 2, 3, 4, 5];
        let looped = [9, 8].into_iter().chain(body.repeat(10));
        assert_eq!(cuts(looped), [[12].to_vec(), vec![5; 8]].concat());
    }

    #[test]
    fn longest_body() {
        let body = |n: u64| (0..n).collect::<Vec<_>>();
        assert_eq!(cuts(body(128).repeat(4)), [256, 128, 128]);
        assert!(cuts(body(129).repeat(4)).is_empty());
    }

    #[test]
    fn a_pair_is_no_loop_but_many_are() {
        assert!(cuts([1, 2, 1, 2]).is_empty());
        assert_eq!(cuts([1; 12]), [6, 3, 3]);
    }

    #[test]
    fn different_ops_are_never_cut() {
        assert!(cuts(0..10_000).is_empty());
    }

    /// An outer loop over equal inner bodies: the cuts settle to a period.
    #[test]
    fn nested_loops_settle() {
        let outer = [vec![7, 8, 9], [1, 2, 3].repeat(4), vec![5, 6]].concat();
        let cuts = cuts(outer.repeat(20));
        let tail = &cuts[cuts.len() - 12..];
        let mut distinct = tail.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() <= 3, "{cuts:?}");
    }
}
