//! What makes a program be compiled again, and what does not.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use rectiflow_pjrt::Program;
use rectiflow_runtime::{CacheOptions, CompileOptions, Profile, Request};

use crate::child::Task;
use crate::programs::{add, get, get_with, in_folder, recorded, runtime};

#[test]
fn names_scopes_and_source_lines_do_not() {
    let runtime = runtime(CacheOptions::default());
    let first = recorded("x", "block 0");
    let other = recorded("hidden_states", "block 1");
    assert_ne!(first.text_with_locations(), other.text_with_locations());
    let pretty = "// From elsewhere.
        module @jit_double attributes {} {
          func.func @main(%x: tensor<4xf32> loc(\"x\")) -> tensor<4xf32> {
            %sum = stablehlo.add %x, %x : tensor<4xf32> loc(\"f.py\":1:2)
            return %sum : tensor<4xf32> } }";
    let renamed = pretty.replace("sum", "total").replace("f.py\":1", "g.py\":9");
    let texts = [
        first.to_string(),
        other.to_string(),
        first.text_with_locations(),
        other.text_with_locations(),
        pretty.to_owned(),
        renamed,
    ];
    let options = CompileOptions::default();
    for (i, text) in texts.into_iter().enumerate() {
        let program = Program::stablehlo(text);
        let request = Request { name: &format!("name {i}"), program: &program, options: &options };
        runtime.get_or_compile(&request).unwrap();
    }
    let stats = runtime.stats();
    assert_eq!((stats.compiles, stats.memory_hits), (2, 4), "{stats:?}");
}

#[test]
fn a_profile_counts_by_its_flags() {
    let runtime = runtime(CacheOptions::default());
    let serve = CompileOptions::profile(Profile::Serve);
    let fast = CompileOptions::profile(Profile::FastCompile);
    let by_hand = serve.clone().flag("xla_backend_optimization_level", 0);
    for options in [&serve, &fast, &by_hand] {
        get_with(&runtime, 1, options).unwrap();
    }
    let stats = runtime.stats();
    assert_eq!((stats.compiles, stats.memory_hits), (2, 1), "{stats:?}");
}

#[test]
fn a_flag_does_and_why_names_it() {
    let folder = tempfile::tempdir().unwrap();
    get(&in_folder(folder.path()), 1).unwrap();
    let options = CompileOptions::default().flag("xla_cpu_enable_fast_math", true);
    let runtime = in_folder(folder.path());
    let request = Request { name: "add 1", program: &add(1), options: &options };
    let why = runtime.cache().unwrap().why(&request);
    let differences = why.nearest.unwrap().differences;
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert_eq!(differences[0].label, "flag xla_cpu_enable_fast_math");
    get_with(&runtime, 1, &options).unwrap();
    assert_eq!(runtime.stats().compiles, 1);
    assert!(runtime.cache().unwrap().why(&request).is_cached);
}

#[test]
fn a_partition_count_does_and_why_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = rectiflow_runtime::Runtime::new(&rectiflow_runtime::RuntimeOptions {
        device_count: Some(2),
        cache: CacheOptions::in_folder(folder.path()),
        ..Default::default()
    })
    .unwrap();
    let (one, two) =
        (CompileOptions::default(), CompileOptions { partitions: 2, ..Default::default() });
    let request = |options| Request { name: "add", program: &ADD, options };
    static ADD: std::sync::LazyLock<Program> = std::sync::LazyLock::new(|| add(1));
    runtime.get_or_compile(&request(&one)).unwrap();
    let why = runtime.cache().unwrap().why(&request(&two)).to_string();
    assert!(why.ends_with("differs in partitions: wanted 2, found 1"), "{why}");
    runtime.get_or_compile(&request(&two)).unwrap();
    assert_eq!(runtime.stats().compiles, 2);
}

#[test]
fn a_shape_does_and_why_names_it() {
    let runtime = runtime(CacheOptions::default());
    get(&runtime, 1).unwrap();
    let text = String::from_utf8(add(1).code().to_vec()).unwrap().replace("4x", "8x");
    let options = CompileOptions::default();
    let request = Request { name: "add 1", program: &Program::stablehlo(text), options: &options };
    let why = runtime.cache().unwrap().why(&request);
    let labels: Vec<_> =
        why.nearest.as_ref().unwrap().differences.iter().map(|d| &d.label).collect();
    assert_eq!(labels, ["program", "signature"]);
    let part = "signature: wanted (tensor<8xf32>)->tensor<8xf32>, found (tensor<4xf32>)";
    assert!(why.to_string().contains(part), "{why}");
}

#[test]
fn xla_flags_do_and_why_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task::new(folder.path(), [1]);
    let with = |flags: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        task.spawn_as(command.env("XLA_FLAGS", flags)).finish()
    };
    let (a, b) = ("--xla_cpu_enable_fast_math=true", "--xla_cpu_enable_fast_min_max=true");
    assert_eq!(with("").compiles, 1);
    let changed = with(&format!("{a} {b}"));
    assert_eq!(changed.compiles, 1, "{changed:?}");
    assert!(changed.why.contains(&format!("differs in XLA_FLAGS: wanted {a}")), "{}", changed.why);
    let reordered = with(&format!(" {b}  {a}"));
    assert_eq!((reordered.compiles, reordered.disk_hits), (0, 1), "{reordered:?}");
}

/// A copy with one more byte at its end is another build, with the same version texts.
#[test]
fn another_build_of_the_plugin_does_and_why_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let original = xla_build::find_or_install(xla_build::Platform::Cpu).unwrap();
    let copy = folder.path().join("other_cpu_plugin.so");
    fs::copy(&original, &copy).unwrap();
    let task = |plugin: &std::path::Path| Task {
        plugin: Some(plugin.to_owned()),
        ..Task::new(&cache, [1])
    };
    assert_eq!(task(&original).run().compiles, 1);
    let moved = task(&copy).run();
    assert_eq!((moved.compiles, moved.disk_hits), (0, 1), "the same build elsewhere: {moved:?}");
    fs::OpenOptions::new().append(true).open(&copy).unwrap().write_all(b"\n").unwrap();
    let other = task(&copy).run();
    assert_eq!((other.compiles, other.disk_hits), (1, 0), "{other:?}");
    assert!(other.why.contains("differs in plugin build: wanted sha256 "), "{}", other.why);
}
