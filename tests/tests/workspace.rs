//! The invariants of the workspace that a program can check.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

/// What each crate may depend on, of the workspace; BRIEF: one direction.
const ALLOWED: &[(&str, &[&str])] = &[
    ("rectiflow-pjrt-sys", &[]),
    ("rectiflow-pjrt", &["rectiflow-pjrt-sys"]),
    ("rectiflow-hlo", &[]),
    ("rectiflow-models", &["rectiflow-hlo"]),
    ("xla-build", &[]),
    ("rectiflow-runtime", &["rectiflow-pjrt", "rectiflow-hlo", "xla-build"]),
    ("rectiflow", &["rectiflow-runtime", "rectiflow-models", "rectiflow-hlo"]),
    ("rectiflow-cli", &["rectiflow", "rectiflow-runtime", "rectiflow-pjrt", "xla-build"]),
];

/// Members that exist to test the others.
const ABOVE_ALL: &[&str] = &["rectiflow-tests", "rectiflow-benches"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a parent folder").to_path_buf()
}

fn manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Manifest of each member, by package name.
fn members() -> BTreeMap<String, (PathBuf, Table)> {
    let workspace = manifest(&root().join("Cargo.toml"));
    let list = workspace["workspace"]["members"].as_array().expect("a list of members");
    let member = |folder: &Value| {
        let folder = root().join(folder.as_str().expect("a folder"));
        let table = manifest(&folder.join("Cargo.toml"));
        (table["package"]["name"].as_str().expect("a name").to_string(), (folder, table))
    };
    list.iter().map(member).collect()
}

fn names(table: &Table, section: &str) -> Vec<String> {
    let section = table.get(section).and_then(Value::as_table);
    section.map(|section| section.keys().cloned().collect()).unwrap_or_default()
}

/// Rust files below a folder, build outputs left out.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.extension() {
            _ if path.is_dir() && path.file_name() != Some("target".as_ref()) => {
                found.extend(sources(&path));
            }
            Some(extension) if extension == "rs" => found.push(path),
            _ => {}
        }
    }
    found
}

#[test]
fn dependencies_run_one_way() {
    let members = members();
    for (name, (_, table)) in &members {
        if ABOVE_ALL.contains(&name.as_str()) {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(crate_name, _)| crate_name == name);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{name} has no place in the order"));
        for section in ["dependencies", "build-dependencies"] {
            for dependency in names(table, section) {
                let inside = members.contains_key(&dependency);
                let fine = !inside || allowed.contains(&dependency.as_str());
                assert!(fine, "{name} must not depend on {dependency}");
            }
        }
    }
}

/// The one file outside `pjrt` that may hold `unsafe`: a memory map of weights.
const MEMORY_MAP: &str = "crates/runtime/src/weights/mapped.rs";

/// Only `pjrt` (and the generated bindings below it) may hold `unsafe`; all others take the
/// workspace's lints, which forbid it, or deny it but for [`MEMORY_MAP`].
#[test]
fn unsafe_is_in_pjrt_alone() {
    let lints = manifest(&root().join("Cargo.toml"));
    assert_eq!(lints["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
    for (name, (folder, table)) in members() {
        if ["rectiflow-pjrt", "rectiflow-pjrt-sys"].contains(&name.as_str()) {
            continue;
        }
        let own = table["lints"].get("rust").and_then(|lints| lints["unsafe_code"].as_str());
        let denied = name == "rectiflow-runtime" && own == Some("deny");
        let inherits = table["lints"].get("workspace").and_then(Value::as_bool);
        assert!(denied || inherits == Some(true), "{name} takes the workspace's lints");
        for path in sources(&folder) {
            let text = fs::read_to_string(&path).expect("a source file");
            let allowed = text.contains(concat!("allow(", "unsafe_code"));
            let may = path.ends_with(MEMORY_MAP) && text.matches("unsafe {").count() == 1;
            assert!(!allowed || may, "{} allows unsafe code", path.display());
        }
    }
}

/// `hlo` (and `models`, when it is there) are pure: no IO, threads, clock, FFI or printing.
#[test]
fn pure_crates_touch_nothing() {
    let impure = [
        "std::fs",
        "std::io",
        "std::net",
        "std::env",
        "std::process",
        "std::thread",
        "std::time",
        "println!",
        "eprintln!",
        "thread_local!",
        "extern \"C\"",
        "static mut",
        "OnceLock",
        "LazyLock",
        "HashMap",
        "HashSet",
    ];
    for name in ["crates/hlo/src", "crates/models/src"] {
        let folder = root().join(name);
        for path in if folder.is_dir() { sources(&folder) } else { Vec::new() } {
            let text = fs::read_to_string(&path).expect("a source file");
            for word in impure {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

/// Libraries print nothing; binaries, examples and tests may.
#[test]
fn libraries_do_not_print() {
    for name in ["crates/pjrt/src", "crates/hlo/src", "crates/runtime/src", "crates/rectiflow/src"]
    {
        let folder = root().join(name);
        for path in if folder.is_dir() { sources(&folder) } else { Vec::new() } {
            let text = fs::read_to_string(&path).expect("a source file");
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let prints =
                    ["println!", "print!(", "eprint!("].iter().any(|word| line.contains(word));
                assert!(!prints, "{} prints: {line}", path.display());
            }
        }
    }
}

/// No global or thread-local graph, device or client in the libraries.
#[test]
fn libraries_hold_no_global_state() {
    for name in ["crates/pjrt/src", "crates/hlo/src", "crates/runtime/src", "crates/models/src"] {
        let folder = root().join(name);
        for path in if folder.is_dir() { sources(&folder) } else { Vec::new() } {
            let text = fs::read_to_string(&path).expect("a source file");
            for word in ["static mut", "thread_local!"] {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

/// One word per thing, and no modules without an idea.
#[test]
fn no_filler_modules() {
    for (_, (folder, _)) in members() {
        for path in sources(&folder) {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let filler = ["util", "utils", "common", "helpers", "manager", "misc"].contains(&stem);
            assert!(!filler, "{} has a name that says nothing", path.display());
        }
    }
}
