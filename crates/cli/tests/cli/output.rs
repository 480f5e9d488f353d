//! Files that are written whole or not at all.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use safetensors::Dtype;

use crate::files::{safetensors, tensor};
use crate::programs::IOTA;
use crate::sandbox::{Sandbox, has};

#[test]
fn a_target_that_cannot_be_written_fails_before_anything_runs() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    // The kernel's folder refuses even root, whom permissions do not stop.
    for (flag, target) in [
        ("--output", "missing/out.safetensors"),
        ("--report", "missing/report.json"),
        ("--output", "/proc/out.safetensors"),
        ("--output", "iota.mlir/out.safetensors"),
    ] {
        let error = sandbox.run(&format!("run iota.mlir {flag} {target}")).failed(1);
        has(&error, &["cannot write", target, "must exist and be writable"]);
    }
    // As /dev/null is none, which must not be replaced by a file; a pipe here does no harm.
    let pipe = sandbox.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for target in ["pipe", "."] {
        let error = sandbox.run(&format!("run iota.mlir --output {target}")).failed(1);
        has(&error, &["not a regular file"]);
    }
    assert!(!sandbox.path("cache").exists(), "a plugin was loaded");
    assert_eq!(sandbox.files(), ["iota.mlir", "pipe"]);
}

#[test]
fn a_read_only_folder_fails_before_anything_runs() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    let folder = sandbox.path("folder");
    fs::create_dir(&folder).unwrap();
    let mut permissions = fs::metadata(&folder).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&folder, permissions).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        println!("skipped: permissions do not stop this user");
        return;
    }
    let error = sandbox.run("run iota.mlir --output folder/out.safetensors").failed(1);
    has(&error, &["cannot write folder/out.safetensors", "Permission denied"]);
}

#[test]
fn an_earlier_result_is_replaced_whole_or_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    sandbox.write("out.safetensors", "an earlier result");
    safetensors(&sandbox, "in.safetensors", &[("0", Dtype::U8, &[1][..], vec![0])]);
    let line = "run iota.mlir --output out.safetensors";
    sandbox.run(&format!("{line} --input in.safetensors")).failed(1);
    assert_eq!(fs::read(sandbox.path("out.safetensors")).unwrap(), b"an earlier result");

    // What had the earlier file open still has it whole: it is replaced, not written over.
    fs::hard_link(sandbox.path("out.safetensors"), sandbox.path("earlier")).unwrap();
    // A link leads to the file that is replaced.
    std::os::unix::fs::symlink("out.safetensors", sandbox.path("link")).unwrap();
    sandbox.run("run iota.mlir --output link").ok();
    assert!(fs::symlink_metadata(sandbox.path("link")).unwrap().is_symlink());
    let (dtype, dims, bytes) = tensor(&sandbox.path("out.safetensors"), "1");
    assert_eq!((dtype, dims), (Dtype::U8, vec![500]));
    assert_eq!(bytes, (0..500).map(|i| i as u8).collect::<Vec<_>>());
    assert_eq!(fs::read(sandbox.path("earlier")).unwrap(), b"an earlier result");
    let files = ["earlier", "in.safetensors", "iota.mlir", "link", "out.safetensors"];
    assert_eq!(sandbox.files(), files);
}

#[test]
fn files_are_for_others_to_read_as_any_other_file() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    sandbox.run("run iota.mlir --output out.safetensors --report report.json").ok();
    let mode = |name: &str| fs::metadata(sandbox.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("out.safetensors"), mode("iota.mlir"));
    assert_eq!(mode("report.json"), mode("iota.mlir"));
}

#[test]
fn an_interrupt_ends_it_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    let line = "run iota.mlir --repeat 1000000000 --output out.safetensors --report report.json";
    let mut child =
        sandbox.command(line.split(' ')).args(["-v", "-v"]).stderr(Stdio::null()).spawn().unwrap();
    // It is running once its executable is in the cache.
    let start = Instant::now();
    let folder = sandbox.path("cache/executables");
    while !has_executable(&folder) {
        assert!(start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(10));
    }
    let (name, number) = if is_interrupt_ignored() { ("-TERM", 15) } else { ("-INT", 2) };
    let killed = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().signal(), Some(number));
    assert_eq!(sandbox.files(), ["iota.mlir"]);
}

/// A shell's background jobs ignore it, and so do their children: this test and the binary.
fn is_interrupt_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(mask, 16).unwrap() & 0b10 != 0
}

fn has_executable(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.any(|path| path.extension().is_some_and(|found| found == "executable"))
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    let mut child = sandbox
        .command(["run", "iota.mlir"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn progress_is_shown_on_a_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", IOTA);
    let rectiflow = env!("CARGO_BIN_EXE_rectiflow");
    let run = format!("'{rectiflow}' run iota.mlir --repeat 20000 --output out.safetensors");
    let terminal = |line: &str| {
        let command = sandbox.command([""; 0]);
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        // The one common program that gives another a terminal.
        Command::new("script")
            .args(["-qec", line, "typescript"])
            .current_dir(sandbox.path(""))
            .envs(variables)
            .output()
    };
    let Ok(output) = terminal(&run) else {
        println!("skipped: the program `script` is not installed");
        return;
    };
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    has(&shown, &["running iota"]);
    let output = terminal(&format!("{run} --quiet")).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}
