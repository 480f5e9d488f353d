//! Several at once, and some that die.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use xla_build::{Finder, Platform, Progress, Settings, Silent};

use crate::server::{Gate, Server};
use crate::setup::{Setup, WHEEL, row, sha256};

/// Opens the gate when told that it must wait.
struct Waiter(Arc<Gate>, bool);

impl Progress for Waiter {
    fn begin(&mut self, _: &str, _: u64, _: u64) {}
    fn advance(&mut self, _: u64) {}
    fn end(&mut self) {}
    fn note(&mut self, text: &str) {
        assert!(text.contains("waiting for another process"), "{text}");
        self.1 = true;
        self.0.open();
    }
}

#[test]
fn the_second_waits_says_so_and_uses_the_first_ones_result() {
    let setup = Setup::new();
    let gate = Arc::new(Gate::default());
    let server = setup.server();
    server.change(|c| c.gate = Some(Arc::clone(&gate)));
    let finder = setup.finder(&server);
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| finder.install(Platform::Cpu, &mut Silent).unwrap());
        // The first holds the lock from before its download until its end.
        until(|| !server.downloads().is_empty());
        let mut waiter = Waiter(Arc::clone(&gate), false);
        let second = finder.install(Platform::Cpu, &mut waiter).unwrap();
        assert!(waiter.1, "it was told to wait");
        (first.join().unwrap(), second)
    });
    assert_eq!(first, second);
    assert_eq!(server.downloads().len(), 1);
}

#[test]
fn two_processes_download_once() {
    let setup = Setup::new();
    let gate = Arc::new(Gate::default());
    let server = setup.server();
    server.change(|c| c.gate = Some(Arc::clone(&gate)));
    let mut children = [start(&setup, &server), start(&setup, &server)];
    until(|| !server.downloads().is_empty());
    gate.open();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(server.downloads().len(), 1);
    assert_eq!(setup.plugins().len(), 1, "{:?}", setup.plugins());
}

#[test]
fn a_killed_download_is_resumed_and_holds_no_lock() {
    let setup = Setup::new();
    let server = setup.server();
    server.change(|c| c.gate = Some(Arc::default()));
    let mut child = start(&setup, &server);
    let half = setup.wheel.len() / 2;
    until(|| fs::metadata(setup.part()).is_ok_and(|m| m.len() == half as u64));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(setup.plugins().is_empty());

    server.change(|c| c.gate = None);
    setup.finder(&server).install(Platform::Cpu, &mut Silent).unwrap();
    assert_eq!(server.downloads(), [format!("/files/{WHEEL}"), format!("/files/{WHEEL} {half}")]);
}

#[test]
fn what_a_process_killed_while_unpacking_left_is_swept() {
    let setup = Setup::new();
    setup.put(&setup.by_hand(), &setup.wheel);
    let stale = setup.settings.cache.join("plugins/.tiny-pjrt-1.0-any.4711-0");
    setup.put(&stale.join("plugin.so"), b"half");
    let other = setup.settings.cache.join("plugins/.other-1.0-any.4711-0");
    setup.put(&other.join("plugin.so"), b"half");
    setup.offline().install(Platform::Cpu, &mut Silent).unwrap();
    assert!(!stale.exists());
    assert!(other.exists(), "another package has another lock");
}

/// Waits for a condition, for a bounded time.
fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never came to pass");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Starts this test program again, to run nothing but [`child`].
fn start(setup: &Setup, server: &Server) -> Child {
    let name = "concurrency::child";
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env("CHILD_CACHE", &setup.settings.cache)
        .env("CHILD_INDEX", server.url("/simple"))
        .env("CHILD_SIZE", setup.wheel.len().to_string())
        .env("CHILD_SHA256", sha256(&setup.wheel))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "runs as a process of its own, started by the tests above"]
fn child() {
    let variable = |name| std::env::var(name).unwrap();
    let mut settings = Settings::isolated(variable("CHILD_CACHE"));
    settings.index = Some(variable("CHILD_INDEX"));
    settings.machine = Some(xla_build::Machine::X86_64Linux);
    let size = variable("CHILD_SIZE").parse().unwrap();
    settings.manifest = vec![row(size, &variable("CHILD_SHA256"))];
    Finder::new(settings).install(Platform::Cpu, &mut Silent).unwrap();
}
