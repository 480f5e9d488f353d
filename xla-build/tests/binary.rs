//! The binary, with nothing of this machine's settings and no network.
#![cfg(feature = "cli")]

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

struct Ran {
    ok: bool,
    out: String,
    err: String,
}

fn run(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_xla-build"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("RECTIFLOW_CACHE", home.join("cache"))
        .envs(variables.iter().copied())
        .current_dir(home)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { ok: output.status.success(), out: text(output.stdout), err: text(output.stderr) }
}

/// An index where nobody answers.
fn closed() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("http://127.0.0.1:{port}/simple")
}

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn the_index_of_uv_then_pip_then_pips_file_is_asked() {
    let home = home();
    let indexes = [closed(), closed(), closed()];
    let file = format!("[global]\nindex-url = {}\n", indexes[2]);
    fs::write(home.path().join("pip.conf"), file).unwrap();
    let environment = home.path().to_str().unwrap();
    let all = [
        ("UV_DEFAULT_INDEX", indexes[0].as_str()),
        ("PIP_INDEX_URL", indexes[1].as_str()),
        ("VIRTUAL_ENV", environment),
    ];
    for (first, index) in indexes.iter().enumerate() {
        let ran = run(home.path(), &["install", "headers"], &all[first..]);
        assert!(!ran.ok && ran.err.contains(index), "{index}: {}", ran.err);
        let by_hand = home.path().join("cache/downloads/tf_nightly-");
        assert!(ran.err.contains(by_hand.to_str().unwrap()), "{}", ran.err);
    }
}

#[test]
fn an_index_that_is_no_address_is_the_settings_fault() {
    let home = home();
    let refused = |shown: &str, variables: &[(&str, &str)]| {
        let ran = run(home.path(), &["install", "headers"], variables);
        assert!(!ran.ok && ran.err.contains(shown), "{shown}: {}", ran.err);
        assert!(ran.err.contains("expected the address of a package index"), "{}", ran.err);
        assert!(!ran.err.contains("network") && !ran.err.contains("secret"), "{}", ran.err);
    };
    let files = "file:///srv/index";
    refused("PIP_INDEX_URL is set to `file:///srv/index`;", &[("PIP_INDEX_URL", files)]);
    let garbage = [("UV_DEFAULT_INDEX", "me:secret@mirror/simple")];
    refused("UV_DEFAULT_INDEX is set to `***@mirror/simple`;", &garbage);
    let file = home.path().join("pip.conf");
    fs::write(&file, "[global]\nindex-url = mirror\n").unwrap();
    let shown = format!("index-url in {} is set to `mirror`;", file.display());
    refused(&shown, &[("VIRTUAL_ENV", home.path().to_str().unwrap())]);
}

#[test]
fn list_shows_every_pin_and_what_would_be_used() {
    let home = home();
    let ran = run(home.path(), &["list"], &[("TPU_LIBRARY_PATH", "/no/libtpu.so")]);
    assert!(ran.ok, "{}", ran.err);
    for row in xla_build::manifest::ROWS {
        let line = ran.out.lines().find(|l| {
            l.contains(row.package) && l.contains(row.version) && l.contains(row.licence)
        });
        assert!(line.is_some_and(|l| l.ends_with("  no")), "{}: {}", row.package, ran.out);
    }
    let used = ran.out.split("used now:").nth(1).unwrap();
    assert!(used.contains("/no/libtpu.so does not exist"), "{used}");
    assert!(used.contains("xla-build install cuda13"), "{used}");
}

#[test]
fn list_tells_of_a_variable_that_is_passed_over() {
    let home = home();
    let list = |variables: &[(&str, &str)]| {
        let ran = run(home.path(), &["list"], variables);
        assert!(ran.ok, "{}", ran.err);
        let lines = ran.out.lines().filter(|line| line.starts_with("not used"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (any, tpu) = ("PJRT_PLUGIN_LIBRARY_PATH", "TPU_LIBRARY_PATH");
    assert!(list(&[(any, "/opt/any.so")]).is_empty());
    let name = "PJRT_PLUGIN_LIBRARY_PATH (/opt/libtpu.so): the file's name says that it is for tpu";
    let others = format!("not used for cpu, cuda12, cuda13: {name}");
    assert_eq!(list(&[(any, "/opt/libtpu.so")]), [others]);
    let first = "PJRT_PLUGIN_LIBRARY_PATH (/opt/any.so): TPU_LIBRARY_PATH goes before it";
    let both = [(any, "/opt/any.so"), (tpu, "/opt/libtpu.so")];
    assert_eq!(list(&both), [format!("not used for tpu: {first}")]);
    assert_eq!(list(&[(tpu, "")]), ["not used: TPU_LIBRARY_PATH: it is set to nothing"]);
}

#[test]
fn verify_of_nothing_and_of_damage() {
    let home = home();
    let ran = run(home.path(), &["verify"], &[]);
    assert!(ran.ok && ran.out.contains("nothing is installed"), "{}", ran.out);
    let row = xla_build::manifest::ROWS[0];
    let folder = format!("cache/plugins/{}-{}-{}", row.package, row.version, row.machine);
    let folder = home.path().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let note = format!(
        r#"{{"wheel_sha256": "{}", "name": "x.so", "size": 1, "sha256": "00"}}"#,
        row.sha256
    );
    fs::write(folder.join("installed.json"), note).unwrap();
    fs::write(folder.join("x.so"), "x").unwrap();
    let ran = run(home.path(), &["verify"], &[]);
    assert!(!ran.ok && ran.out.contains("x.so is not what was installed"), "{}", ran.out);
    assert!(ran.err.contains("1 of 1 installed files are damaged"), "{}", ran.err);
}

#[test]
fn an_unknown_platform_names_the_known_ones() {
    let home = home();
    let ran = run(home.path(), &["install", "gpu"], &[]);
    assert!(!ran.ok && ran.err.contains("cpu, tpu, cuda12, cuda13, or headers"), "{}", ran.err);
}

#[test]
#[cfg(not(feature = "bindgen"))]
fn bindgen_says_how_to_build_it() {
    let home = home();
    let ran = run(home.path(), &["bindgen", "--check"], &[]);
    assert!(!ran.ok && ran.err.contains("--features bindgen"), "{}", ran.err);
}
