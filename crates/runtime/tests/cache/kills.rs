//! Processes that die while they write.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rectiflow_runtime::{Cache, CacheOptions, CompileOptions, Disk, Request, Runtime};

use crate::child::{Kind, Task};
use crate::programs::{add_large, files, is_right};
use crate::{programs, warnings};

const ROUNDS: u32 = 200;
const PROGRAMS: [u32; 3] = [1, 2, 3];

/// What is in the folder is whole, after each kill. Two children at once, so that one dies while
/// the other goes on.
#[test]
fn killed_at_random_times() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = programs::runtime(CacheOptions::default());
    let torn: usize = thread::scope(|scope| {
        let lanes = [0, 1].map(|_| scope.spawn(|| lane(folder.path(), &runtime, ROUNDS / 2)));
        lanes.into_iter().map(|lane| lane.join().expect("no check failed")).sum()
    });
    println!("{ROUNDS} kills, {torn} of them in the middle of a write");
    assert!(torn > 0, "no kill met a write: the test shows nothing");
    Disk::new(folder.path(), u64::MAX).gc().unwrap();
    assert_eq!(files(folder.path(), "tmp").len(), 0);
    assert_eq!(files(folder.path(), "lock").len(), 0);
}

/// Returns how many unfinished files were left.
fn lane(folder: &Path, runtime: &Runtime, rounds: u32) -> usize {
    let random = RandomState::new();
    let task = Task { kind: Kind::WriteForever, ..Task::new(folder, PROGRAMS) };
    let mut torn = 0;
    for round in 0..rounds {
        let mut child = task.spawn();
        child.wait_until_ready();
        thread::sleep(Duration::from_micros(random.hash_one(round) % 150_000));
        child.kill();
        if round < 3 {
            for e in Disk::new(folder, u64::MAX).ls().unwrap().entries {
                eprintln!("{:?} {}", e.compile_time, e.bytes);
            }
        }
        torn += files(folder, "tmp").len();
        check(folder, runtime);
    }
    torn
}

/// Serves what is there, and no more: all of it must be right.
fn check(folder: &Path, runtime: &Runtime) {
    let only = CacheOptions { cache_only: true, ..CacheOptions::in_folder(folder) };
    let cache = Cache::new(runtime.client().unwrap(), &only).unwrap();
    let options = CompileOptions::default();
    let (_, warnings) = warnings::of(|| {
        for n in PROGRAMS {
            let request = Request { name: "add", program: &add_large(n), options: &options };
            if let Ok(executable) = cache.get_or_compile(&request) {
                assert!(is_right(runtime, &executable, n), "a torn executable was served");
            }
        }
    });
    assert_eq!(warnings, [""; 0], "a torn executable was there");
    Disk::new(folder, u64::MAX).gc().unwrap();
}
