//! Queues and arrays in many threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use rectiflow_runtime::{
    Array, Compiled, EagerMode, Error, ModeScope, Queue, Read, Reading, Runtime, Trace,
};

use crate::{MODES, counting, queue};

#[test]
fn all_may_go_to_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<Array>();
    check::<Queue>();
    check::<Runtime>();
    check::<Compiled>();
    check::<ModeScope>();
    check::<Trace>();
    check::<Error>();
    fn send<T: Send>() {}
    send::<Reading>();
}

/// Numbers without order: a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Small integers modulo 1024, so that all is exact, under random ops with random reads.
fn walk(queue: &Queue, seed: u64, steps: usize) {
    let mut random = Random(seed);
    let mut known: Vec<(Array, [i32; 2])> =
        vec![(queue.from_slice(&[1i32, 2], &[2]).unwrap(), [1, 2])];
    for _ in 0..steps {
        let mut pick = || known[random.below(known.len() as u64) as usize].clone();
        let ((x, a), (y, b)) = (pick(), pick());
        let low = |v: i32| v & 1023;
        let mask = x.scalar_like(1023).broadcast_to([2]);
        let next = match random.below(4) {
            0 => ((&x + &y).and(&mask), [low(a[0] + b[0]), low(a[1] + b[1])]),
            1 => ((&x * &y).and(&mask), [low(a[0] * b[0]), low(a[1] * b[1])]),
            2 => ((&x - &y).and(&mask), [low(a[0] - b[0]), low(a[1] - b[1])]),
            _ => ((&x + &x.scalar_like(7)).and(&mask), [low(a[0] + 7), low(a[1] + 7)]),
        };
        if known.len() == 8 {
            known.swap_remove(random.below(8) as usize);
        }
        known.push(next);
        if random.below(9) == 0 {
            let (array, expected) = &known[random.below(known.len() as u64) as usize];
            assert_eq!(array.to_vec::<i32>().unwrap(), expected, "seed {seed}");
        }
    }
    for (array, expected) in &known {
        assert_eq!(array.to_vec::<i32>().unwrap(), expected, "seed {seed}");
    }
}

#[test]
fn eight_threads_record_into_one_queue() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        thread::scope(|scope| {
            let queue = &queue;
            (0..8).for_each(|seed| drop(scope.spawn(move || walk(queue, seed, 60))));
        });
        queue.synchronize().unwrap();
    }
}

/// Under threads that change the mode, wait for all, and look at what was done.
#[test]
fn modes_change_under_load() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (queue, done) = (&queue, &done);
        let walkers: Vec<_> =
            (0..4).map(|seed| scope.spawn(move || walk(queue, seed, 60))).collect();
        scope.spawn(move || {
            for i in (0..).take_while(|_| !done.load(Relaxed)) {
                let _scope = queue.scope(MODES[i % 3]);
                thread::yield_now();
            }
        });
        scope.spawn(move || {
            while !done.load(Relaxed) {
                queue.synchronize().unwrap();
                drop(queue.trace());
            }
        });
        for walker in walkers {
            // Before a failure is told, the others must be told to end.
            let outcome = walker.join();
            done.store(outcome.is_err(), Relaxed);
            outcome.unwrap();
        }
        done.store(true, Relaxed);
    });
    assert_eq!(queue.mode(), EagerMode::DeferAndFuse);
}

#[test]
fn a_value_is_read_by_another_thread() {
    for mode in MODES {
        let (_, queue) = queue(mode);
        let x = counting(&queue, &[2]) + 1.0;
        let y = Arc::new(&x * 2.0);
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let y = Arc::clone(&y);
                thread::spawn(move || y.to_vec::<f32>().unwrap())
            })
            .collect();
        for reader in readers {
            assert_eq!(reader.join().unwrap(), [2.0, 4.0], "{mode:?}");
        }
        // Arrays made by a thread that has ended.
        let z = thread::scope(|scope| scope.spawn(|| &x + &*y).join().unwrap());
        assert_eq!(z.to_vec::<f32>().unwrap(), [3.0, 6.0], "{mode:?}");
    }
}

/// A queue may go while its last programs run, and its last array on any thread.
#[test]
fn a_queue_goes_while_work_is_in_flight() {
    for i in 0..30 {
        let (runtime, queue) = queue(EagerMode::DeferAndFuse);
        let mut x = counting(&queue, &[64, 64]);
        for _ in 0..20 {
            x = x.matmul(&x).tanh() + 1.0;
        }
        if i % 3 == 0 {
            queue.flush_all();
        }
        if i % 2 == 0 {
            drop((queue, runtime));
            let reader = thread::spawn(move || x.to_vec::<f32>().map(|x| x.len()).unwrap());
            assert_eq!(reader.join().unwrap(), 64 * 64);
        } else {
            let last = thread::spawn(move || drop(x));
            drop((queue, runtime));
            last.join().unwrap();
        }
    }
}
