//! What this crate says about plugins that are old, broken or foreign.

use std::path::{Path, PathBuf};
use std::process::Command;

use rectiflow_pjrt::{ClientOptions, CompileOptions, ErrorCode, Plugin, Program, Result};

/// A copy of the stub plugin that behaves as `variant` says.
fn stub(dir: &tempfile::TempDir, variant: &str) -> PathBuf {
    let path = dir.path().join(format!("libstub_{variant}.so"));
    std::fs::copy(built_stub(), &path).expect("the stub plugin can be copied");
    path
}

/// `cargo test` builds examples beside the tests; `cargo test --test stub` does not.
fn built_stub() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.parent().and_then(Path::parent).expect("tests lie in <profile>/deps");
    let path = profile.join("examples/libstub_plugin.so");
    if !path.exists() {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "rectiflow-pjrt", "--example", "stub_plugin"])
            .status();
        assert!(built.is_ok_and(|status| status.success()), "the stub plugin builds");
    }
    path
}

fn load(variant: &str) -> Result<Plugin> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    Plugin::load(stub(&dir, variant))
}

#[test]
fn missing_file() {
    let error = Plugin::load("/nonexistent/plugin.so").unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert!(error.to_string().starts_with("cannot load plugin /nonexistent/plugin.so: "));
}

#[test]
fn library_that_is_no_plugin() {
    let error = Plugin::load("libc.so.6").unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert!(error.to_string().ends_with("it does not export GetPjrtApi"), "{error}");
}

#[test]
fn plugin_without_table() {
    let error = load("nothing").unwrap_err();
    assert!(error.to_string().ends_with("GetPjrtApi returned no function table"), "{error}");
}

#[test]
fn other_major_version() {
    let error = load("major").unwrap_err();
    assert_eq!(error.code(), ErrorCode::FailedPrecondition);
    let text = error.to_string();
    assert!(text.ends_with("it speaks PJRT API 1.60, this build needs major version 0"), "{text}");
}

#[test]
fn minor_version_before_the_table_was_reordered() {
    let error = load("ancient").unwrap_err();
    assert_eq!(error.code(), ErrorCode::FailedPrecondition);
    let text = error.to_string();
    assert!(
        text.ends_with("it speaks PJRT API 0.56, older than 0.57, which reordered the table"),
        "{text}"
    );
}

#[test]
fn element_type_newer_than_the_plugin() -> Result<()> {
    let client = load("none")?.client(&ClientOptions::new())?;
    let shape = rectiflow_pjrt::Shape::new(rectiflow_pjrt::ElementType::U1, &[8])?;
    let error = client.default_layout(&shape).unwrap_err();
    assert!(error.is_unimplemented());
    assert_eq!(error.to_string(), "the plugin speaks PJRT API 0.60, which has no ui1: 0.94 does");
    Ok(())
}

#[test]
fn table_without_version() {
    let error = load("tiny").unwrap_err();
    assert!(error.to_string().ends_with("its function table has only 16 bytes"), "{error}");
}

#[test]
fn failed_start_up() {
    let error = load("init").unwrap_err();
    assert_eq!(
        error.to_string(),
        "PJRT_Plugin_Initialize failed with FAILED_PRECONDITION: the driver is older than the plugin"
    );
}

#[test]
fn table_that_ends_before_a_function() -> Result<()> {
    let client = load("short")?.client(&ClientOptions::new())?;
    let error = client.compile(&Program::stablehlo(""), &CompileOptions::new()).unwrap_err();
    assert!(error.is_unimplemented());
    assert_eq!(error.function(), Some("PJRT_Client_Compile"));
    let text = error.to_string();
    assert_eq!(
        text,
        "the plugin is too old for PJRT_Client_Compile: its function table has 200 bytes, \
         208 are needed"
    );
    Ok(())
}

#[test]
fn null_entry() -> Result<()> {
    let error = load("null")?.attributes().unwrap_err();
    assert!(error.is_unimplemented());
    assert_eq!(
        error.to_string(),
        "the plugin does not provide PJRT_Plugin_Attributes: its table entry is null"
    );
    Ok(())
}

#[test]
fn error_from_the_plugin() -> Result<()> {
    let error = load("error")?.client(&ClientOptions::new()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unavailable);
    assert_eq!(error.function(), Some("PJRT_Client_Create"));
    assert_eq!(error.plugin_message(), Some("no devices today"));
    assert_eq!(error.to_string(), "PJRT_Client_Create failed with UNAVAILABLE: no devices today");
    Ok(())
}

#[test]
fn newer_plugin_with_longer_structs() -> Result<()> {
    load("newer")?.client(&ClientOptions::new())?;
    Ok(())
}

#[test]
fn client_without_devices() -> Result<()> {
    let client = load("none")?.client(&ClientOptions::new())?;
    let error = client.buffer_from_slice(&[1f32], &[1]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    Ok(())
}

#[test]
fn missing_extension() -> Result<()> {
    let error = load("none")?.register_ffi("name", "Host", |_| Ok(())).unwrap_err();
    assert!(error.is_unimplemented());
    assert_eq!(error.to_string(), "the plugin has no FFI extension");
    Ok(())
}
