//! Processes that die while they write.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rectiflow_runtime::{Cache, CacheOptions, CompileOptions, Disk, Request, Runtime};

use crate::child::{Kind, Task};
use crate::programs::{add_large, files, is_right};
use crate::{programs, warnings};

const ROUNDS: u32 = 200;
const PROGRAMS: [u32; 3] = [1, 2, 3];

/// What is in the folder is whole, after each kill. Two children at once, so that one dies while
/// the other goes on. Every other child is killed at a random time, the others while they write.
#[test]
fn killed_at_random_times() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = programs::runtime(CacheOptions::default());
    let [torn, served] = thread::scope(|scope| {
        let lanes = [0, 1].map(|_| scope.spawn(|| lane(folder.path(), &runtime, ROUNDS / 2)));
        let counts = lanes.map(|lane| lane.join().expect("no check failed"));
        [0, 1].map(|i| counts[0][i] + counts[1][i])
    });
    println!("{ROUNDS} kills: {torn} unfinished files were left, {served} executables served");
    assert!(torn > 5, "few kills met a write: {torn}");
    assert!(served > 50, "few executables were there to be served: {served}");
    Disk::new(folder.path(), u64::MAX).gc().unwrap();
    assert_eq!(files(folder.path(), "tmp").len(), 0);
    assert_eq!(files(folder.path(), "lock").len(), 0);
}

/// Returns how many unfinished files were left, and how many executables served.
fn lane(folder: &Path, runtime: &Runtime, rounds: u32) -> [usize; 2] {
    let random = RandomState::new();
    let task = Task { kind: Kind::WriteForever, ..Task::new(folder, PROGRAMS) };
    let [mut torn, mut served] = [0, 0];
    for round in 0..rounds {
        let mut child = task.spawn();
        child.wait_until_ready();
        thread::sleep(Duration::from_micros(random.hash_one(round) % 100_000));
        let patience = Instant::now() + Duration::from_secs(2);
        while round % 2 == 0 && files(folder, "tmp").is_empty() && Instant::now() < patience {}
        child.kill();
        served += check(folder, runtime);
        // Nothing is above the cap and nothing damaged: what it removes is unfinished.
        torn += usize::from(Disk::new(folder, u64::MAX).gc().unwrap().bytes > 0);
    }
    [torn, served]
}

/// Serves what is there, and no more: all of it must be right. Returns how many there were.
fn check(folder: &Path, runtime: &Runtime) -> usize {
    let only = CacheOptions { cache_only: true, ..CacheOptions::in_folder(folder) };
    let cache = Cache::new(runtime.client().unwrap(), &only).unwrap();
    let options = CompileOptions::default();
    let serve = |n: &u32| {
        let request = Request { name: "add", program: &add_large(*n), options: &options };
        let executable = cache.get_or_compile(&request).ok()?;
        assert!(is_right(runtime, &executable, *n), "a torn executable was served");
        Some(())
    };
    let (served, warnings) = warnings::of(|| PROGRAMS.iter().filter_map(serve).count());
    assert_eq!(warnings, [""; 0], "a torn executable was there");
    served
}
