//! When ops run: by option, scope and environment.

use std::process::Command;

use rectiflow_runtime::{DeviceName, EagerMode, FlushReason, Read, RuntimeOptions};

use crate::{MODES, counting, flushes, queue};

/// An op of each mode is launched before its method returns, or it is not.
#[test]
fn only_deferred_ops_wait() {
    for mode in MODES {
        let (runtime, queue) = queue(mode);
        assert_eq!(queue.mode(), mode);
        let x = counting(&queue, &[2]) + 1.0;
        let is_deferred = mode == EagerMode::DeferAndFuse;
        assert_eq!(x.is_realized(), !is_deferred);
        assert_eq!(runtime.stats().compiles > 0, !is_deferred);
        x.realize().unwrap();
        assert!(x.is_realized());
        assert!(runtime.stats().compiles > 0);
    }
}

#[test]
fn the_default_defers_nothing() {
    assert_eq!(RuntimeOptions::default().eager.mode, EagerMode::DeferNever);
}

#[test]
fn the_innermost_scope_wins() {
    let (_, queue) = queue(EagerMode::DeferNever);
    let outer = queue.scope(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]) + 1.0;
    assert!(!x.is_realized());
    {
        let _inner = queue.scope(EagerMode::DeferNever);
        assert!((&x + 1.0).is_realized());
        {
            let _innermost = queue.scope(EagerMode::DeferAndFuse);
            assert!(!(&x + 2.0).is_realized());
        }
        assert_eq!(queue.mode(), EagerMode::DeferNever);
        assert!((&x + 3.0).is_realized());
    }
    assert_eq!(queue.mode(), EagerMode::DeferAndFuse);
    assert!(!(&x + 4.0).is_realized());
    drop(outer);
    assert_eq!(queue.mode(), EagerMode::DeferNever);
    assert!((&x + 5.0).is_realized());
}

/// A scope is the queue's, and so every thread's.
#[test]
fn a_scope_ends_after_a_panic() {
    let (_, queue) = queue(EagerMode::DeferNever);
    let clone = queue.clone();
    let thread = std::thread::spawn(move || {
        let _scope = clone.scope(EagerMode::DeferAndFuse);
        panic!("in a scope");
    });
    assert!(thread.join().is_err());
    assert_eq!(queue.mode(), EagerMode::DeferNever);
}

#[test]
fn what_is_pending_runs_when_a_scope_begins_or_ends() {
    let (_, queue) = queue(EagerMode::DeferAndFuse);
    let x = counting(&queue, &[2]) + 1.0;
    let scope = queue.scope(EagerMode::DeferNever);
    let y = &x + 1.0;
    queue.synchronize().unwrap();
    assert_eq!(flushes(&queue), [(FlushReason::ScopeEnd, 1)], "it was handed over as it began");
    drop(scope);
    assert_eq!(flushes(&queue), [(FlushReason::ScopeEnd, 1)], "nothing was pending");

    let scope = queue.scope(EagerMode::DeferAndFuse);
    let z = &x * &y;
    drop(scope);
    queue.synchronize().unwrap();
    assert_eq!(flushes(&queue), [(FlushReason::ScopeEnd, 2)]);
    assert!(z.is_realized());
    assert_eq!(z.to_vec::<f32>().unwrap(), [2.0, 6.0]);
}

/// Both variables, and the mode that they make or what is wrong with them.
const ENVIRONMENT: &[(&str, &str, &str)] = &[
    ("", "", "MODE DeferNever"),
    ("0", "0", "MODE DeferNever"),
    ("1", "", "MODE DeferAndFuse"),
    ("1", "0", "MODE DeferAndFuse"),
    ("", "1", "MODE DeferNeverAndLaunchBlocking"),
    ("1", "1", "MODE DeferNeverAndLaunchBlocking"),
    ("yes", "", "RECTIFLOW_DEFER_AND_FUSE is `yes`; expected 0 or 1"),
    ("", "2", "RECTIFLOW_LAUNCH_BLOCKING is `2`; expected 0 or 1"),
];

#[test]
fn the_environment_chooses() {
    for (fuse, block, expected) in ENVIRONMENT {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["modes::environment", "--exact", "--ignored", "--nocapture"])
            .envs([("RECTIFLOW_DEFER_AND_FUSE", fuse), ("RECTIFLOW_LAUNCH_BLOCKING", block)])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.lines().any(|line| line == *expected), "{fuse:?} {block:?}: {text}");
    }
}

#[test]
#[ignore = "the test above runs it"]
fn environment() {
    match RuntimeOptions::from_env(DeviceName::Cpu) {
        Ok(options) => println!("\nMODE {:?}", options.eager.mode),
        Err(error) => println!("\n{error}"),
    }
}
