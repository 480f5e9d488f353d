//! Loops, seen from the ops they record.

use std::collections::HashMap;

/// Longest body that is recognised, in ops.
const LONGEST: usize = 1024;
/// Shorter repetitions are ordinary code.
const SHORTEST: usize = 3;
/// Ops by which a program is recognised when it begins again.
pub(super) const START: usize = 8;
/// Ops that say where one is in a program.
const CONTEXT: usize = 16;
/// Earlier ops like the last one that are looked at.
const TRIES: usize = 256;
/// Beginnings that are remembered.
const N_STARTS: usize = 256;

/// What the op just recorded shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Nothing,
    /// The last so many ops, all of them pending, repeat those before them.
    Repeat(usize),
    /// The last [`START`] ops are how an earlier program began.
    Start,
}

/// Recognises runs of ops that were recorded before, by hashes of runs: equal hashes of different
/// runs, which are as unlikely as any collision of 64 bits, cost a flush and no more.
///
/// Flushing where a run repeats makes every later iteration of a loop the same program, compiled
/// once, however long the loop is. Flushing before the beginning of an earlier program makes a loop
/// of many iterations the same programs as one iteration.
#[derive(Debug)]
pub(super) struct Repeats {
    n_ops: usize,
    /// Hashes of all ops up to one, by its number modulo the length.
    prefix: Vec<u64>,
    /// Number of the op of equal hash before one, likewise; 0 if there is none.
    before: Vec<usize>,
    /// Number of the last op of a hash.
    last: HashMap<u64, usize>,
    /// Powers of [`BASE`].
    powers: Vec<u64>,
    starts: Vec<u64>,
}

/// Any odd number with bits all over.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
const RING: usize = 2 * LONGEST + 1;

impl Repeats {
    pub(super) fn new() -> Repeats {
        let powers = std::iter::successors(Some(1u64), |power| Some(power.wrapping_mul(BASE)));
        Repeats {
            n_ops: 0,
            prefix: vec![0; RING],
            before: vec![0; RING],
            last: HashMap::new(),
            powers: powers.take(LONGEST + 1).collect(),
            starts: Vec::new(),
        }
    }

    /// Takes the hash of the next op, with which `n_pending` ops did not run yet.
    pub(super) fn push(&mut self, hash: u64, n_pending: usize) -> Sight {
        let before = self.prefix[self.n_ops % RING];
        self.n_ops += 1;
        let n = self.n_ops;
        self.prefix[n % RING] = before.wrapping_mul(BASE).wrapping_add(hash);
        self.before[n % RING] = self.last.insert(hash, n).unwrap_or(0);
        if self.last.len() > 4 * LONGEST {
            self.last.retain(|_, at| *at + LONGEST > n);
        }
        match self.repeat(n_pending) {
            Some(length) => Sight::Repeat(length),
            None if n_pending > START && self.is_start() => Sight::Start,
            None => Sight::Nothing,
        }
    }

    /// Remembers that a program began [`START`] ops ago.
    pub(super) fn remember_start(&mut self) {
        if let Some(hash) = self.run(self.n_ops, START).filter(|hash| !self.starts.contains(hash)) {
            self.starts.truncate(N_STARTS - 1);
            self.starts.insert(0, hash);
        }
    }

    /// A hash of the last ops, the same wherever they are recorded.
    pub(super) fn context(&self) -> u64 {
        self.run(self.n_ops, CONTEXT.min(self.n_ops)).unwrap_or(0)
    }

    /// Length of the shortest run that the last ops repeat.
    fn repeat(&self, n_pending: usize) -> Option<usize> {
        let n = self.n_ops;
        let longest = LONGEST.min(n_pending);
        let mut at = self.before[n % RING];
        for _ in 0..TRIES {
            let length = n - at;
            if at == 0 || length > longest {
                return None;
            }
            if length >= SHORTEST
                && n >= 2 * length
                && self.run(n, length) == self.run(n - length, length)
            {
                return Some(length);
            }
            at = self.before[at % RING];
        }
        None
    }

    fn is_start(&self) -> bool {
        self.run(self.n_ops, START).is_some_and(|hash| self.starts.contains(&hash))
    }

    /// Hash of `length` ops, the last of which is number `end`.
    fn run(&self, end: usize, length: usize) -> Option<u64> {
        let start = end.checked_sub(length)?;
        let whole = self.prefix[end % RING];
        Some(whole.wrapping_sub(self.prefix[start % RING].wrapping_mul(self.powers[length])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the programs that a sequence of ops is cut into, with what is left at the end.
    fn cuts(hashes: impl IntoIterator<Item = u64>) -> Vec<usize> {
        let (mut repeats, mut pending, mut cuts) = (Repeats::new(), 0, Vec::new());
        for hash in hashes {
            pending += 1;
            // As a queue's op numbers are hashed, so that sums of small numbers do not collide.
            let hash = (hash + 1).wrapping_mul(0xd134_2543_de82_ef95).rotate_left(29);
            if let Sight::Repeat(length) = repeats.push(hash, pending) {
                cuts.extend([pending - length, length].iter().filter(|n| **n > 0));
                pending = 0;
            }
        }
        cuts.extend((pending > 0).then_some(pending));
        cuts
    }

    #[test]
    fn every_iteration_after_the_first_is_one_program() {
        let body = [1, 2, 3, 4, 5];
        let looped = [9, 8].into_iter().chain(body.repeat(10));
        assert_eq!(cuts(looped), [[7].to_vec(), vec![5; 9]].concat());
    }

    #[test]
    fn longest_body() {
        let body = |n: u64| (0..n).collect::<Vec<_>>();
        assert_eq!(cuts(body(1024).repeat(4)), [1024; 4]);
        assert_eq!(cuts(body(1025).repeat(4)), [4100]);
    }

    #[test]
    fn a_pair_is_no_loop_but_many_are() {
        assert_eq!(cuts([1, 2, 1, 2]), [4]);
        assert_eq!(cuts([1; 12]), [3; 4]);
    }

    #[test]
    fn different_ops_are_never_cut() {
        assert_eq!(cuts(0..10_000), [10_000]);
    }

    /// An outer loop over equal inner bodies: the cuts settle to a period.
    #[test]
    fn nested_loops_settle() {
        let outer = [vec![7, 8, 9], [1, 2, 3].repeat(4), vec![5, 6]].concat();
        let cuts = cuts(outer.repeat(20));
        let period = [8, 3, 3, 3];
        assert_eq!(cuts, [vec![6, 3, 3, 3], period.repeat(19), vec![2]].concat());
    }

    #[test]
    fn a_beginning_is_recognised_after_other_ops() {
        let mut repeats = Repeats::new();
        let body: Vec<u64> = (100..120).collect();
        for (i, hash) in body.iter().enumerate() {
            assert_eq!(repeats.push(*hash, i + 1), Sight::Nothing);
            if i + 1 == START {
                repeats.remember_start();
            }
        }
        let seen: Vec<Sight> = (0..2)
            .chain(100..120)
            .enumerate()
            .map(|(i, hash)| repeats.push(hash, 21 + i))
            .collect();
        let at = seen.iter().position(|sight| *sight == Sight::Start);
        assert_eq!(at, Some(2 + START - 1), "{seen:?}");
    }
}
