//! Plugins, good and bad.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Sandbox, has};

/// A library made of C.
fn library(sandbox: &Sandbox, name: &str, code: &str) -> PathBuf {
    let source = sandbox.write(&format!("{name}.c"), code);
    let path = sandbox.path(&format!("{name}.so"));
    let compiler = std::env::var("CC").unwrap_or("cc".to_owned());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .args([&path, &source])
        .status()
        .expect("a C compiler");
    assert!(status.success());
    path
}

fn listed(sandbox: &Sandbox, arguments: &str) -> Vec<Value> {
    let text = sandbox.run(&format!("plugins --json {arguments}")).ok();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_cpu_plugin_is_usable_and_shows_what_it_can_do() {
    let sandbox = Sandbox::new();
    let reports = listed(&sandbox, "");
    let devices: Vec<&Value> = reports.iter().map(|report| &report["device"]).collect();
    assert_eq!(devices, ["cpu", "tpu", "cuda12", "cuda13"]);
    let cpu = &reports[0];
    assert_eq!(cpu["is_usable"], true, "{cpu}");
    assert_eq!(cpu["origin"], "PJRT_PLUGIN_LIBRARY_PATH", "{cpu}");
    let facts = &cpu["facts"];
    assert_eq!(facts["platform"], "cpu", "{facts}");
    assert_eq!(facts["abilities"]["run"]["works"], true, "{facts}");
    assert_eq!(facts["abilities"]["serialize"]["works"], true, "{facts}");
    let minor = facts["api_version"][1].as_u64().unwrap().to_string();
    assert_eq!(cpu["pinned"]["pjrt_api"], format!("0.{minor}"), "{cpu}");
    assert!(facts["extensions"].as_array().unwrap().contains(&"FFI".into()), "{facts}");
    let text = sandbox.run("plugins").ok();
    has(&text, &["cpu: usable", &format!("PJRT API        0.{minor}"), "runs programs   yes"]);
    assert!(!sandbox.path("cache").exists(), "something was downloaded");
}

#[test]
fn a_bad_plugin_is_unusable_for_a_reason_and_takes_nobody_down() {
    let sandbox = Sandbox::new();
    sandbox.write("text.so", "not a library");
    library(&sandbox, "foreign", "int answer(void) { return 42; }");
    library(
        &sandbox,
        "abort",
        "#include <stdio.h>\n#include <stdlib.h>\n
         void *GetPjrtApi(void) { fputs(\"no good\\n\", stderr); abort(); }",
    );
    library(&sandbox, "crash", "void *GetPjrtApi(void) { return *(void *volatile *)0; }");
    library(&sandbox, "null", "void *GetPjrtApi(void) { return 0; }");
    library(
        &sandbox,
        "hang",
        "#include <unistd.h>\nvoid *GetPjrtApi(void) { sleep(600); return 0; }",
    );
    library(&sandbox, "quit", "#include <stdlib.h>\nvoid *GetPjrtApi(void) { exit(3); }");
    let expected = [
        ("text.so", "not a shared library"),
        ("foreign.so", "exports no GetPjrtApi"),
        ("abort.so", "SIGABRT: no good"),
        ("crash.so", "SIGSEGV"),
        ("null.so", "no function table"),
        ("hang.so", "more than 2 s"),
        ("quit.so", "status 3"),
        ("none.so", "does not exist"),
    ];
    let paths: Vec<&str> = expected.iter().map(|(path, _)| *path).collect();
    let reports = listed(&sandbox, &format!("--timeout 2 {}", paths.join(" ")));
    let named = reports.iter().filter(|report| report["device"] == "path");
    for (report, (path, reason)) in named.zip(expected) {
        assert_eq!(report["path"], path);
        assert_eq!(report["is_usable"], false, "{report}");
        has(report["reason"].as_str().unwrap(), &[reason]);
    }
    assert_eq!(reports.len(), 4 + expected.len());
    assert_eq!(reports[0]["is_usable"], true, "the others are looked at all the same");
    has(&sandbox.run("plugins text.so").ok(), &["path: unusable", "not a shared library"]);
}

#[test]
fn a_device_that_is_no_plugin_says_why() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", crate::programs::IOTA);
    library(&sandbox, "foreign", "int answer(void) { return 42; }");
    let error = sandbox.run("run iota.mlir --device ./foreign.so").failed(1);
    has(&error, &["cannot use device ./foreign.so", "exports no GetPjrtApi"]);
    library(&sandbox, "null", "void *GetPjrtApi(void) { return 0; }");
    let error = sandbox.run("run iota.mlir --device null.so").failed(1);
    has(&error, &["no function table"]);
}

#[test]
fn a_device_may_be_a_file_in_this_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("iota.mlir", crate::programs::IOTA);
    std::os::unix::fs::symlink(sandbox.plugin(), sandbox.path("mine.so")).unwrap();
    let mine = sandbox.run("run iota.mlir --device mine.so").ok();
    assert_eq!(mine, sandbox.run("run iota.mlir --device cpu --report report.json").ok());
    // The same build of the same plugin, wherever it lies.
    assert_eq!(sandbox.json("report.json")["cache"]["disk_hits"], 1);
}
