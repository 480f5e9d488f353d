//! What is found, and where.

use rectiflow_pjrt::{Argument, Program};
use rectiflow_runtime::{
    Cache, CacheOptions, Code, CompileOptions, Request, Runtime, RuntimeOptions,
};

use crate::child::Task;
use crate::programs::{add, files, get, in_folder, is_right, runtime};

#[test]
fn a_second_request_is_answered_from_memory() {
    let runtime = runtime(CacheOptions::default());
    get(&runtime, 1).unwrap();
    get(&runtime, 1).unwrap();
    get(&runtime, 2).unwrap();
    let stats = runtime.stats();
    assert_eq!((stats.requests, stats.memory_hits, stats.compiles), (3, 1, 2), "{stats:?}");
    assert!(!stats.compile_time.is_zero());
}

#[test]
fn a_kept_key_finds_what_is_in_memory() {
    let runtime = runtime(CacheOptions::default());
    let options = CompileOptions::default();
    let cache = runtime.cache().unwrap();
    let key = cache.key(&Request { name: "", program: &add(1), options: &options });
    assert!(cache.get(&key).is_none());
    assert_eq!(cache.stats().requests, 0, "get_or_compile counts what follows");
    get(&runtime, 1).unwrap();
    assert!(is_right(&runtime, &cache.get(&key).unwrap(), 1));
    let stats = cache.stats();
    assert_eq!((stats.requests, stats.memory_hits, stats.compiles), (2, 1, 1), "{stats:?}");
}

#[test]
fn memory_keeps_the_last_used_up_to_its_cap() {
    let runtime = runtime(CacheOptions { memory_cap: 2.try_into().ok(), ..Default::default() });
    for n in [1, 2, 1, 3, 1, 2] {
        get(&runtime, n).unwrap();
    }
    let stats = runtime.stats();
    assert_eq!((stats.memory_hits, stats.compiles), (2, 4), "{stats:?}");
}

#[test]
fn another_process_compiles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let first = Task::new(folder.path(), [1, 2]).run();
    assert_eq!((first.compiles, first.disk_hits), (2, 0), "{first:?}");
    for _ in 0..2 {
        let next = Task::new(folder.path(), [1, 2, 1]).run();
        assert_eq!((next.compiles, next.disk_hits, next.memory_hits), (0, 2, 1), "{next:?}");
        assert_eq!(next.warnings, [""; 0]);
    }
    assert_eq!(files(folder.path(), "lock"), files(folder.path(), "tmp"), "both are none");
}

#[test]
fn the_folder_may_move() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("deep/er/new"));
    get(&in_folder(&old), 1).unwrap();
    std::fs::create_dir_all(new.parent().unwrap()).unwrap();
    std::fs::rename(&old, &new).unwrap();
    let report = Task::new(&new, [1]).run();
    assert_eq!((report.compiles, report.disk_hits), (0, 1), "{report:?}");
}

#[test]
fn cache_only_finds_what_is_there_and_says_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let only = CacheOptions { cache_only: true, ..CacheOptions::in_folder(folder.path()) };
    let error = get(&runtime(only.clone()), 1).unwrap_err();
    assert_eq!(error.code(), Code::CacheMiss);
    assert!(error.to_string().contains("`add 1` (tensor<4xf32>)->tensor<4xf32>"), "{error}");

    get(&in_folder(folder.path()), 1).unwrap();
    let runtime = runtime(only);
    get(&runtime, 1).unwrap();
    let options = CompileOptions::default().flag("xla_cpu_enable_fast_math", true);
    let error = crate::programs::get_with(&runtime, 1, &options).unwrap_err();
    let text = error.to_string();
    let part = "flag xla_cpu_enable_fast_math: wanted true, found none";
    assert!(text.contains(part), "{text}");
    let stats = runtime.stats();
    assert_eq!((stats.compiles, stats.disk_hits, stats.errors), (0, 1, 1), "{stats:?}");
    assert_eq!(files(folder.path(), "executable").len(), 1);
}

/// What is loaded is what was compiled, for several devices too.
#[test]
fn a_program_of_two_partitions_comes_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let text = "module {
      sdy.mesh @m = <[\"x\"=2]>
      func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>})
          -> (tensor<f32> {sdy.sharding = #sdy.sharding<@m, []>}) {
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
          : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        return %s : tensor<f32> } }";
    let program = Program::stablehlo(text);
    let options = CompileOptions { partitions: 2, ..CompileOptions::default() };
    let request = Request { name: "sum", program: &program, options: &options };
    for (compiles, disk_hits) in [(1, 0), (0, 1)] {
        let runtime = Runtime::new(&RuntimeOptions {
            device_count: Some(2),
            cache: CacheOptions::in_folder(folder.path()),
            ..RuntimeOptions::default()
        })
        .unwrap();
        let executable = runtime.get_or_compile(&request).unwrap();
        let stats = runtime.stats();
        assert_eq!((stats.compiles, stats.disk_hits), (compiles, disk_hits), "{stats:?}");
        let devices = runtime.client().unwrap().addressable_devices().unwrap();
        assert_eq!(executable.devices(), devices);
        let halves: Vec<_> = [[1f32, 2.0], [3.0, 4.0]]
            .iter()
            .zip(&devices)
            .map(|(half, device)| {
                let bytes: Vec<u8> = half.iter().flat_map(|x| x.to_le_bytes()).collect();
                let ty = rectiflow_pjrt::ElementType::F32;
                runtime.client().unwrap().buffer_from_bytes(&bytes, ty, &[2], device).unwrap()
            })
            .collect();
        let rows = [&[&halves[0]][..], &[&halves[1]][..]];
        let results = executable.execute_sharded(&rows, &Default::default()).unwrap();
        for row in results {
            assert_eq!(row[0].to_vec::<f32>().unwrap(), [10.0]);
        }
    }
}

#[test]
fn donation_survives_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::stablehlo(
        "module { func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
           %r = stablehlo.add %a, %a : tensor<4xf32>
           return %r : tensor<4xf32> } }",
    );
    let options = CompileOptions::default();
    let request = Request { name: "in place", program: &program, options: &options };
    for disk_hits in [0, 1] {
        let runtime = in_folder(folder.path());
        let executable = runtime.get_or_compile(&request).unwrap();
        assert_eq!(runtime.stats().disk_hits, disk_hits);
        assert_eq!(executable.donated_parameters(), [0]);
        let x = runtime.client().unwrap().buffer_from_slice(&[1f32; 4], &[4]).unwrap();
        let y = executable.execute_donating([Argument::from(x)]).unwrap();
        assert_eq!(y[0].to_vec::<f32>().unwrap(), [2.0; 4]);
    }
}

#[test]
fn two_caches_of_one_process_share_the_folder_alone() {
    let folder = tempfile::tempdir().unwrap();
    let one = in_folder(folder.path());
    get(&one, 1).unwrap();
    let client = one.client().unwrap();
    let cache = Cache::new(client, &CacheOptions::in_folder(folder.path())).unwrap();
    let options = CompileOptions::default();
    cache.get_or_compile(&Request { name: "x", program: &add(1), options: &options }).unwrap();
    assert_eq!((cache.stats().disk_hits, one.stats().disk_hits), (1, 0));
}
