//! Processes of their own.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use rectiflow_runtime::{
    Cache, CacheOptions, CompileOptions, DeviceName, Request, Runtime, RuntimeOptions,
};
use serde::{Deserialize, Serialize};

use crate::programs::{add, add_large, get, is_right};
use crate::warnings;

const VARIABLE: &str = "RECTIFLOW_TEST_CHILD";

/// What a child is to do.
#[derive(Clone, Serialize, Deserialize, Default)]
pub(crate) struct Task {
    pub(crate) folder: PathBuf,
    /// The programs to get.
    pub(crate) programs: Vec<u32>,
    /// Another plugin than the default.
    pub(crate) plugin: Option<PathBuf>,
    /// Waits for this file after it has loaded its plugin.
    pub(crate) go: Option<PathBuf>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Serialize, Deserialize, Default, PartialEq)]
pub(crate) enum Kind {
    /// Gets each program once.
    #[default]
    Once,
    /// Gets large programs, each time with an empty memory and then a folder without them, until
    /// it is killed.
    WriteForever,
    /// Gets each program many times with an empty memory.
    ReadOften,
}

/// What a child reports.
#[derive(Serialize, Deserialize, Default, Debug)]
pub(crate) struct Report {
    pub(crate) requests: u64,
    pub(crate) memory_hits: u64,
    pub(crate) disk_hits: u64,
    pub(crate) compiles: u64,
    pub(crate) load_failures: u64,
    pub(crate) store_failures: u64,
    pub(crate) why: String,
    pub(crate) warnings: Vec<String>,
}

impl Task {
    pub(crate) fn new(folder: &Path, programs: impl Into<Vec<u32>>) -> Task {
        Task { folder: folder.to_owned(), programs: programs.into(), ..Task::default() }
    }

    pub(crate) fn spawn(&self) -> Running {
        self.spawn_as(&mut Command::new(std::env::current_exe().expect("a path")))
    }

    /// In a shell, after a command.
    pub(crate) fn spawn_after(&self, shell: &str) -> Running {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{shell}; exec \"$0\" \"$@\""));
        self.spawn_as(command.arg(std::env::current_exe().expect("a path")))
    }

    pub(crate) fn spawn_as(&self, command: &mut Command) -> Running {
        let mut child = command
            .args(["child::child", "--exact", "--ignored", "--nocapture"])
            .env(VARIABLE, serde_json::to_string(self).expect("JSON"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test can be run again");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Running { child, lines }
    }

    pub(crate) fn run(&self) -> Report {
        self.spawn().finish()
    }
}

pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Waits for a line, and returns what follows its first word.
    fn line(&mut self, word: &str) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split_once(word).map(|(_, rest)| rest.trim().to_owned()))
    }

    /// Waits until it has loaded its plugin.
    pub(crate) fn wait_until_ready(&mut self) {
        self.line("READY").expect("the child gets ready");
    }

    pub(crate) fn finish(mut self) -> Report {
        let report = self.line("REPORT");
        let status = self.child.wait().expect("a child");
        let report = report.unwrap_or_else(|| panic!("a child without a report: {status}"));
        serde_json::from_str(&report).expect("JSON")
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("a child");
    }
}

/// The other end.
#[test]
#[ignore = "the other tests run it, in processes of its own"]
fn child() {
    let task = std::env::var(VARIABLE).expect("a task");
    let task: Task = serde_json::from_str(&task).expect("JSON");
    let device = task.plugin.clone().map_or(DeviceName::Cpu, DeviceName::Plugin);
    let cache = CacheOptions::in_folder(&task.folder);
    let options = RuntimeOptions { device, cache, ..RuntimeOptions::default() };
    let runtime = Runtime::new(&options).expect("valid options");
    let (why, warnings) = warnings::of(|| work(&task, &runtime));
    let stats = runtime.stats();
    let report = Report {
        requests: stats.requests,
        memory_hits: stats.memory_hits,
        disk_hits: stats.disk_hits,
        compiles: stats.compiles,
        load_failures: stats.load_failures,
        store_failures: stats.store_failures,
        why,
        warnings,
    };
    println!("REPORT {}", serde_json::to_string(&report).expect("JSON"));
}

fn work(task: &Task, runtime: &Runtime) -> String {
    runtime.load().expect("a plugin");
    println!("READY");
    while task.go.as_ref().is_some_and(|go| !go.exists()) {
        thread::sleep(Duration::from_millis(1));
    }
    let cache = runtime.cache().expect("a plugin");
    let options = CompileOptions::default();
    let mut why = String::new();
    match task.kind {
        Kind::Once => {
            for n in &task.programs {
                let request = Request { name: "add", program: &add(*n), options: &options };
                why = cache.why(&request).to_string();
                get(runtime, *n).expect("an executable");
            }
        }
        Kind::WriteForever => thread::scope(|scope| {
            for n in &task.programs {
                scope.spawn(|| write_forever(task, runtime, *n));
            }
        }),
        Kind::ReadOften => {
            for n in task.programs.iter().cycle().take(300) {
                get(runtime, *n).expect("an executable");
                cache.clear_memory();
            }
        }
    }
    why
}

fn write_forever(task: &Task, runtime: &Runtime, n: u32) {
    let options = CompileOptions::default();
    let program = add_large(n);
    let request = Request { name: "add large", program: &program, options: &options };
    let client = runtime.client().expect("a plugin");
    let cache = Cache::new(client, &CacheOptions::in_folder(&task.folder)).expect("a cache");
    let file = task.folder.join(format!("{}.executable", cache.key(&request)));
    loop {
        // Compiled and written, and then, unless another removed it, loaded.
        let _ = std::fs::remove_file(&file);
        for _ in 0..2 {
            let executable = cache.get_or_compile(&request).expect("an executable");
            assert!(is_right(runtime, &executable, n), "a wrong executable was served");
            cache.clear_memory();
        }
    }
}
