//! Room: caps, full disks, folders that cannot be written.

use std::fs;
use std::path::Path;

use rectiflow_runtime::{CacheOptions, Disk};

use crate::child::Task;
use crate::programs::{files, get, in_folder, runtime};
use crate::warnings;

fn names(folder: &Path) -> Vec<String> {
    let entries = Disk::new(folder, u64::MAX).ls().unwrap().entries;
    entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn the_unused_for_longest_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    let first = in_folder(folder.path());
    for n in [1, 2, 3] {
        get(&first, n).unwrap();
    }
    assert_eq!(names(folder.path()), ["add 3", "add 2", "add 1"]);
    // Loading it makes 1 the last used.
    get(&in_folder(folder.path()), 1).unwrap();
    assert_eq!(names(folder.path()), ["add 1", "add 3", "add 2"]);

    let used: u64 = files(folder.path(), "executable")
        .iter()
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    // Three executables and a bit.
    let options =
        CacheOptions { disk_cap_bytes: used + used / 6, ..CacheOptions::in_folder(folder.path()) };
    let capped = runtime(options);
    get(&capped, 4).unwrap();
    assert_eq!(names(folder.path()), ["add 4", "add 1", "add 3"]);
    get(&capped, 5).unwrap();
    assert_eq!(names(folder.path()), ["add 5", "add 4", "add 1"]);

    let swept = Disk::new(folder.path(), used / 2).gc().unwrap();
    assert_eq!(swept.executables, 2);
    assert_eq!(names(folder.path()), ["add 5"]);
}

#[test]
fn an_executable_above_the_cap_stays_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let options = CacheOptions { disk_cap_bytes: 100, ..CacheOptions::in_folder(folder.path()) };
    let runtime = runtime(options);
    let ((), warnings) = warnings::of(|| {
        get(&runtime, 1).unwrap();
        get(&runtime, 1).unwrap();
        get(&runtime, 2).unwrap();
    });
    let stats = runtime.stats();
    assert_eq!((stats.compiles, stats.memory_hits, stats.store_failures), (2, 1, 2), "{stats:?}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("more than the cap of 100"), "{warnings:?}");
    assert_eq!(files(folder.path(), "executable").len(), 0);
}

#[test]
fn a_folder_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    // Below a file there can be no folder, and in /proc nobody makes one, root included.
    for below in [file.join("executables"), "/proc/rectiflow".into()] {
        let runtime = in_folder(&below);
        let ((), warnings) = warnings::of(|| {
            for n in [1, 2, 1] {
                get(&runtime, n).unwrap();
            }
        });
        let stats = runtime.stats();
        let counts = (stats.compiles, stats.memory_hits, stats.load_failures);
        assert_eq!(counts, (2, 1, 0), "{stats:?}");
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("cannot be kept in the cache folder"), "{warnings:?}");
        assert!(warnings[0].contains(&*below.to_string_lossy()), "{warnings:?}");
    }
}

/// A limit on the size of files stands for a full disk: the write fails half-way.
#[test]
fn a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task::new(folder.path(), [1, 2, 1]);
    let report = task.spawn_after("trap '' XFSZ; ulimit -f 2").finish();
    assert_eq!(
        (report.compiles, report.memory_hits, report.store_failures),
        (2, 1, 2),
        "{report:?}"
    );
    assert_eq!(report.warnings.len(), 1, "{report:?}");
    assert!(report.warnings[0].contains("cannot be kept in the cache folder"), "{report:?}");
    assert_eq!(files(folder.path(), "executable").len(), 0);
    assert_eq!(files(folder.path(), "tmp").len(), 0, "an unfinished file was left");
}
