//! The cache, from one process to the next.

use std::fs;

use serde_json::Value;

use crate::programs::IOTA;
use crate::sandbox::{Sandbox, has};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    sandbox
}

/// What the cache did for a program.
fn stats(sandbox: &Sandbox, flags: &str) -> Value {
    sandbox.run(&format!("run iota.mlir --quiet --report report.json {flags}")).ok();
    sandbox.json("report.json")["cache"].clone()
}

/// Files of executables.
fn executables(sandbox: &Sandbox) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(sandbox.path("cache/executables")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == "executable")).collect()
}

#[test]
fn the_second_process_compiles_nothing() {
    let sandbox = sandbox();
    let first = stats(&sandbox, "");
    assert_eq!((&first["compiles"], &first["disk_hits"]), (&1.into(), &0.into()), "{first}");
    assert!(first["compile_seconds"].as_f64().unwrap() > 0.0, "{first}");
    let second = stats(&sandbox, "");
    assert_eq!((&second["compiles"], &second["disk_hits"]), (&0.into(), &1.into()), "{second}");
    assert_eq!((&second["requests"], &second["memory_hits"]), (&1.into(), &0.into()), "{second}");
    assert_eq!(second["compile_seconds"], 0.0, "{second}");
    // Options are part of what is asked for.
    for flags in ["--profile fast-compile", "--xla-flag xla_cpu_enable_fast_math=true"] {
        assert_eq!(stats(&sandbox, flags)["compiles"], 1, "{flags}");
        assert_eq!(stats(&sandbox, flags)["compiles"], 0, "{flags}");
    }
}

#[test]
fn cache_only_runs_what_is_there_and_nothing_else() {
    let sandbox = sandbox();
    let error = sandbox.run("run iota.mlir --cache-only").failed(1);
    has(&error, &["would have to compile `iota`", "cache-only", "run it once"]);
    stats(&sandbox, "");
    assert_eq!(stats(&sandbox, "--cache-only")["disk_hits"], 1);
    let flag = "--xla-flag xla_cpu_enable_fast_math=true";
    let error = sandbox.run(&format!("run iota.mlir --cache-only {flag}")).failed(1);
    has(&error, &["xla_cpu_enable_fast_math: wanted true, found none"]);
}

#[test]
fn the_cache_is_listed_shrunk_and_cleared() {
    let sandbox = sandbox();
    has(&sandbox.run("cache ls").ok(), &["0 executables, 0 B"]);
    stats(&sandbox, "");
    stats(&sandbox, "--profile fast-compile");
    has(&sandbox.run("cache ls").ok(), &["name", "compiled in", "iota", "2 executables, "]);

    let listed: Value = serde_json::from_str(&sandbox.run("cache ls --json").ok()).unwrap();
    let entries = listed["entries"].as_array().unwrap();
    let bytes: u64 = entries.iter().map(|entry| entry["bytes"].as_u64().unwrap()).sum();
    assert_eq!(listed["total"]["entries"], 2);
    assert_eq!(listed["total"]["bytes"], bytes);
    let on_disk: u64 =
        executables(&sandbox).iter().map(|path| path.metadata().unwrap().len()).sum();
    assert_eq!(bytes, on_disk);
    assert!(entries.iter().all(|entry| entry["compile_seconds"].as_f64().unwrap() > 0.0));
    let parts = entries[0]["parts"].as_array().unwrap();
    let has_level = |parts: &[Value]| {
        parts.iter().any(|part| part["label"] == "flag xla_backend_optimization_level")
    };
    assert!(has_level(parts), "the last used comes first: {listed}");

    // Room for the larger one, and so for one of the two.
    let cap = entries.iter().map(|entry| entry["bytes"].as_u64().unwrap()).max().unwrap();
    let swept = sandbox.run(&format!("cache gc --cap {cap}B")).ok();
    has(&swept, &["removed 1 executable and ", "1 executable of "]);
    has(&sandbox.run("cache gc --cap 10GB").ok(), &["removed 0 executables"]);
    has(&sandbox.run("cache clear").ok(), &["removed 1 executable", "0 executables"]);
    assert!(executables(&sandbox).is_empty());
    has(&sandbox.run("cache gc --cap lots").failed(2), &["--cap", "lots"]);
}

#[test]
fn why_tells_a_hit_and_names_what_differs() {
    let sandbox = sandbox();
    let why = |flags: &str| sandbox.run(&format!("cache why iota.mlir {flags}")).ok();
    has(&why(""), &["miss: `iota`", "the cache is empty"]);
    stats(&sandbox, "--xla-flag xla_cpu_enable_fast_math=true");
    assert!(why("--xla-flag xla_cpu_enable_fast_math=true").starts_with("hit: `iota`"));
    let text = why("");
    has(&text, &["miss: `iota`", "nearest: `iota`"]);
    let differences: Vec<&str> = text.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(differences, ["  flag xla_cpu_enable_fast_math: wanted none, found true"]);
    let text = why("--profile fast-compile --xla-flag xla_cpu_enable_fast_math=true");
    has(&text, &["flag xla_backend_optimization_level: wanted 0, found none"]);
    assert_eq!(executables(&sandbox).len(), 1, "why compiles nothing");

    sandbox.write("iota.mlir", IOTA.replace("500", "501"));
    has(&why("--xla-flag xla_cpu_enable_fast_math=true"), &["program: wanted", "signature: "]);
}

#[test]
fn damage_is_told_and_repaired() {
    let sandbox = sandbox();
    stats(&sandbox, "");
    let path = executables(&sandbox).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    let done = sandbox.run("run iota.mlir --report report.json");
    has(&done.stderr, &["WARN", "cannot be used", "compiled anew"]);
    done.ok();
    assert_eq!(sandbox.json("report.json")["cache"]["compiles"], 1);

    fs::write(&path, &bytes[..40]).unwrap();
    has(&sandbox.run("cache ls").ok(), &["0 executables", "damaged: ", "cache gc"]);
    sandbox.run("cache gc").ok();
    assert!(executables(&sandbox).is_empty());
}
