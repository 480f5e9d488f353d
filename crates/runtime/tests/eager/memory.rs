//! Long loops that nobody reads, in a process of their own: memory stays as it is.

use std::process::Command;

use rectiflow_runtime::{EagerMode, Queue};

use crate::{counting, flushes, queue};

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// A loop that goes on from a value to the next, of a few hundred bytes.
fn on_and_on(queue: &Queue, n_ops: u64) {
    let (mut x, end) = (counting(queue, &[64]), queue.n_ops() + n_ops);
    while queue.n_ops() < end {
        x = (&x * &x).tanh() + 0.5;
    }
}

/// Ops that nobody wants, without a period.
fn dead(queue: &Queue, n_ops: u64) {
    let x = counting(queue, &[64]);
    let mut state = 1u64;
    for _ in 0..n_ops {
        // Knuth's MMIX generator, which repeats after 2^64 numbers.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        drop(x.slice_dim(0, 0, (state >> 33) as i64 % 61));
    }
}

/// What is recorded, as it is called in the report.
type Case = (&'static str, EagerMode, fn(&Queue, u64));

#[test]
#[ignore = "the test below runs it"]
fn measure() {
    let cases: [Case; 3] = [
        ("LOOP", EagerMode::DeferAndFuse, on_and_on),
        ("NEVER", EagerMode::DeferNever, on_and_on),
        ("DEAD", EagerMode::DeferAndFuse, dead),
    ];
    for (name, mode, record) in cases {
        let (_, queue) = queue(mode);
        // Enough to fill what is kept of flushes.
        record(&queue, 20_000);
        queue.synchronize().unwrap();
        let before = resident_bytes();
        record(&queue, 50_000);
        queue.synchronize().unwrap();
        let grown = resident_bytes().saturating_sub(before);
        println!("\n{name} {grown} {:?}", flushes(&queue));
        println!("{}", queue.trace());
    }
}

#[test]
fn loops_that_nobody_reads() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["memory::measure", "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for (name, reason) in [("LOOP", "(RepeatedOps, "), ("NEVER", "[]"), ("DEAD", "(OpCap, ")] {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let line = line.unwrap_or_else(|| panic!("{text}"));
        let (bytes, found) = line.trim().split_once(' ').unwrap();
        assert!(bytes.parse::<u64>().unwrap() < 4 << 20, "{text}");
        assert!(found.contains(reason), "{text}");
    }
}
