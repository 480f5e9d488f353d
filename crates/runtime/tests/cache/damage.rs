//! Files that are not what they should be.

use std::fs;
use std::path::Path;

use rectiflow_runtime::{CacheOptions, Code, Disk};

use crate::programs::{files, get, in_folder, runtime};
use crate::warnings;

/// Damages the one executable of a folder; then it must be compiled anew, with a warning, and
/// replaced.
fn check(what: &str, damage: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    get(&in_folder(folder.path()), 1).unwrap();
    let path = files(folder.path(), "executable").remove(0);
    damage(&path);

    let again = in_folder(folder.path());
    let (result, warnings) = warnings::of(|| get(&again, 1));
    result.unwrap_or_else(|error| panic!("{what}: {error}"));
    let stats = again.stats();
    let counts = (stats.compiles, stats.disk_hits, stats.load_failures);
    assert_eq!(counts, (1, 0, 1), "{what}: {stats:?}");
    assert_eq!(warnings.len(), 1, "{what}: {warnings:?}");
    let says = warnings[0].contains("cannot be used; it is compiled anew and replaced");
    assert!(says && warnings[0].contains("add 1"), "{what}: {warnings:?}");

    let after = in_folder(folder.path());
    get(&after, 1).unwrap();
    let stats = after.stats();
    assert_eq!((stats.compiles, stats.disk_hits), (0, 1), "{what} was not replaced: {stats:?}");
}

#[test]
fn a_flipped_bit_anywhere() {
    // In the format's name, a length, a digest, the description, and the code.
    for at in [0, 22, 24, 31, 40, 100, 1000, -1, -100, -1000_i64] {
        check(&format!("bit flipped at {at}"), |path| {
            let mut bytes = fs::read(path).unwrap();
            let at = at.rem_euclid(bytes.len() as i64) as usize;
            bytes[at] ^= 0x10;
            fs::write(path, bytes).unwrap();
        });
    }
}

#[test]
fn a_truncated_or_longer_file() {
    for kept in [0, 10, 64, 200, -1_i64] {
        check(&format!("cut at {kept}"), |path| {
            let len = fs::metadata(path).unwrap().len() as i64;
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_len(kept.rem_euclid(len) as u64).unwrap();
        });
    }
    check("one byte more", |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes.push(0);
        fs::write(path, bytes).unwrap();
    });
}

#[test]
fn a_foreign_file() {
    check("text", |path| {
        fs::write(path, "not an executable at all, but long enough ".repeat(9)).unwrap()
    });
    // Whole and valid, and another program's.
    check("another's executable", |path| {
        let folder = tempfile::tempdir().unwrap();
        get(&in_folder(folder.path()), 2).unwrap();
        fs::copy(files(folder.path(), "executable").remove(0), path).unwrap();
    });
}

#[test]
fn cache_only_tells_damage_from_absence() {
    let folder = tempfile::tempdir().unwrap();
    get(&in_folder(folder.path()), 1).unwrap();
    let path = files(folder.path(), "executable").remove(0);
    fs::write(&path, "").unwrap();
    let only = CacheOptions { cache_only: true, ..CacheOptions::in_folder(folder.path()) };
    let runtime = runtime(only);
    let (result, warnings) = warnings::of(|| get(&runtime, 1));
    assert_eq!(result.unwrap_err().code(), Code::CacheMiss);
    assert!(warnings.len() == 1 && warnings[0].contains("it ends too early"), "{warnings:?}");
    assert_eq!(fs::read(&path).unwrap(), b"", "cache-only mode wrote");
}

#[test]
fn ls_reports_damage_and_gc_removes_it_and_nothing_foreign() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = in_folder(folder.path());
    get(&runtime, 1).unwrap();
    get(&runtime, 2).unwrap();
    let paths = files(folder.path(), "executable");
    fs::write(&paths[0], "short").unwrap();
    let key = paths[1].file_stem().unwrap().to_str().unwrap();
    let leftover = folder.path().join(format!("{key}.abc.tmp"));
    let foreign = [folder.path().join("notes.txt"), folder.path().join("notes.executable")];
    for path in foreign.iter().chain([&leftover]) {
        fs::write(path, "x").unwrap();
    }
    fs::write(folder.path().join(format!("{key}.lock")), "").unwrap();

    let disk = Disk::new(folder.path(), u64::MAX);
    let listing = disk.ls().unwrap();
    assert_eq!(listing.entries.len(), 1);
    let entry = &listing.entries[0];
    assert_eq!(entry.key.to_string(), key);
    assert!(entry.name.starts_with("add ") && !entry.compile_time.is_zero(), "{entry:?}");
    assert_eq!(listing.damaged.len(), 1);
    assert_eq!(listing.damaged[0].0, paths[0]);

    disk.gc().unwrap();
    assert!(!leftover.exists() && !paths[0].exists() && paths[1].exists());
    assert_eq!(files(folder.path(), "lock").len(), 0);
    assert!(foreign.iter().all(|path| path.exists()));
    assert_eq!(disk.clear().unwrap().executables, 1);
    assert_eq!(disk.ls().unwrap().entries.len(), 0);
    assert!(foreign.iter().all(|path| path.exists()));
}
