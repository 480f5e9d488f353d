//! Many at once.

use std::sync::Barrier;
use std::thread;

use rectiflow_pjrt::Program;
use rectiflow_runtime::{CacheOptions, Code, CompileOptions, Disk, Request};

use crate::child::{Kind, Task};
use crate::programs::{files, get, in_folder, runtime};

#[test]
fn eight_processes_compile_once() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let cache = folder.path().join("cache");
    let task = Task { go: Some(go.clone()), ..Task::new(&cache, [1]) };
    let mut running: Vec<_> = (0..8).map(|_| task.spawn()).collect();
    running.iter_mut().for_each(|child| child.wait_until_ready());
    std::fs::write(&go, "").unwrap();
    let reports: Vec<_> = running.into_iter().map(|child| child.finish()).collect();
    let sum = |field: fn(&crate::child::Report) -> u64| reports.iter().map(field).sum::<u64>();
    assert_eq!((sum(|r| r.compiles), sum(|r| r.disk_hits)), (1, 7), "{reports:?}");
    assert!(reports.iter().all(|report| report.warnings.is_empty()), "{reports:?}");
    assert_eq!(files(&cache, "executable").len(), 1);
    assert_eq!(files(&cache, "lock"), files(&cache, "tmp"), "both are none");
}

#[test]
fn eight_threads_compile_once() {
    let runtime = runtime(CacheOptions::default());
    runtime.load().unwrap();
    let barrier = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                get(&runtime, 1).unwrap();
            });
        }
    });
    let stats = runtime.stats();
    assert_eq!((stats.compiles, stats.memory_hits + stats.joined), (1, 7), "{stats:?}");
}

#[test]
fn an_error_reaches_all_threads_and_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = in_folder(folder.path());
    runtime.load().unwrap();
    let program = Program::stablehlo("module { func.func @main() { return %x : tensor<f32> } }");
    let options = CompileOptions::default();
    let request = Request { name: "wrong", program: &program, options: &options };
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                let error = runtime.get_or_compile(&request).unwrap_err();
                assert_eq!(error.code(), Code::Compile);
                assert!(error.to_string().starts_with("cannot compile `wrong`: PJRT_"), "{error}");
                assert!(error.plugin_error().is_some());
            });
        }
    });
    let before = runtime.stats();
    assert_eq!((before.errors, before.compiles), (4, 0), "{before:?}");
    runtime.get_or_compile(&request).unwrap_err();
    assert!(runtime.stats().compile_time > before.compile_time, "the compiler was not asked again");
    assert_eq!(files(folder.path(), "executable").len(), 0);
    assert_eq!(files(folder.path(), "lock").len(), 0);
}

#[test]
fn clearing_while_another_process_reads() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task { kind: Kind::ReadOften, ..Task::new(folder.path(), [1, 2]) };
    let mut child = task.spawn();
    child.wait_until_ready();
    let disk = Disk::new(folder.path(), u64::MAX);
    let mut removed = 0;
    while child.child.try_wait().unwrap().is_none() {
        thread::sleep(std::time::Duration::from_millis(1));
        // Only what is there can be read or removed, however slow this machine is.
        if files(folder.path(), "executable").len() == 2 {
            thread::sleep(std::time::Duration::from_millis(50));
            removed += disk.clear().unwrap().executables as u64;
        }
    }
    let report = child.finish();
    assert_eq!(report.load_failures, 0, "{report:?}");
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(report.compiles + report.disk_hits, 300, "{report:?}");
    assert!(removed > 2 && report.compiles > 2 && report.disk_hits > 2, "{removed} {report:?}");
}
