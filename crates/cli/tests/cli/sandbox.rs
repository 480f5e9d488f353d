//! A folder and a cache for one test.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;
use xla_build::Platform;

/// Installed once, into the cache of whoever runs the tests.
static PLUGIN: LazyLock<PathBuf> =
    LazyLock::new(|| xla_build::find_or_install(Platform::Cpu).expect("the CPU plugin"));

pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox(tempfile::tempdir().expect("a folder"))
    }

    /// The CPU plugin's file.
    pub(crate) fn plugin(&self) -> &Path {
        &PLUGIN
    }

    /// A path in this folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// Names of the files here.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.expect("an entry").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).filter(|name| name != "cache").collect();
        names.sort();
        names
    }

    /// The binary, with a cache of its own and nothing else from the environment.
    pub(crate) fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rectiflow"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("RECTIFLOW_CACHE", self.path("cache"))
            .env("PJRT_PLUGIN_LIBRARY_PATH", &*PLUGIN);
        for name in ["RUST_LOG", "TPU_LIBRARY_PATH", "XLA_FLAGS", "RECTIFLOW_AUTOLOAD"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs it; the command line is split at spaces.
    pub(crate) fn run(&self, line: &str) -> Done {
        Done::of(self.command(line.split_whitespace()).output().expect("the binary starts"))
    }

    /// The report that a command wrote.
    pub(crate) fn json(&self, name: &str) -> Value {
        let text = fs::read(self.path(name)).expect("a report");
        serde_json::from_slice(&text).expect("JSON")
    }
}

pub(crate) struct Done {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn of(output: Output) -> Done {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Done {
            status: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// What it answered.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.status, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// What it complained about, with this status and nothing answered.
    #[track_caller]
    pub(crate) fn failed(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        self.stderr
    }
}

/// A file beside these tests.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}
