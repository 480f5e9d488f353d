//! How often anything is compiled.

use std::path::PathBuf;
use std::process::Command;

use rectiflow_runtime::{CacheOptions, CompileOptions, EagerMode, RuntimeOptions, Traced};
use rectiflow_tests::transformer::SMALL;

use crate::{MODES, Mode, Sampler, parameters, traced_step};

/// pytorch/xla issue 6614: a step's scalars were part of the program, and each step a compile.
#[test]
fn steps_and_their_scalars_compile_nothing() {
    for mode in MODES {
        let sampler = Sampler::new(mode, &RuntimeOptions::default());
        sampler.sample(6, 1);
        let first = sampler.compiles();
        let counts = [1, 4, 28, 50].map(|n| {
            sampler.sample(6, n);
            sampler.compiles()
        });
        println!("{mode:?}: {first} compiles for the first step, then {counts:?}");
        assert_eq!(counts, [first; 4], "{mode:?}");
    }
}

/// diffusers issue 11360: two sizes in turn were compiled again at each change.
#[test]
fn a_new_shape_adds_one_set_and_going_back_none() {
    for mode in MODES {
        let sampler = Sampler::new(mode, &RuntimeOptions::default());
        let counts = [6, 9, 6, 9, 6].map(|tokens| {
            sampler.sample(tokens, 3);
            sampler.compiles()
        });
        println!("{mode:?}: {counts:?} compiles after 6, 9, 6, 9 and 6 tokens");
        assert_eq!(counts[1..], [counts[1]; 4], "{mode:?}");
        match mode {
            // Ops on the time alone are the same for any number of tokens.
            Mode::Eager(EagerMode::DeferNever | EagerMode::DeferNeverAndLaunchBlocking) => {
                assert!(counts[0] < counts[1] && counts[1] < 2 * counts[0], "{counts:?}");
            }
            _ => assert_eq!(counts[1], 2 * counts[0], "{mode:?}"),
        }
    }
}

const FOLDER: &str = "RECTIFLOW_TEST_MODES_FOLDER";

fn in_folder(folder: impl Into<PathBuf>) -> RuntimeOptions {
    RuntimeOptions { cache: CacheOptions::in_folder(folder), ..RuntimeOptions::default() }
}

/// What ran once runs in another process, in cache-only mode, where a compile would be an error.
#[test]
fn another_process_compiles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let compiles = MODES.map(|mode| {
        let sampler = Sampler::new(mode, &in_folder(folder.path()));
        sampler.sample(6, 3);
        sampler.compiles()
    });
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["counters::child", "--exact", "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    // The second mode finds what the first compiled.
    assert_eq!(compiles[1], 0);
    println!("{compiles:?} compiles in the first process; in the second:\n{said}");
}

#[test]
#[ignore = "a child of another test"]
fn child() {
    for mode in MODES {
        let mut options = in_folder(std::env::var_os(FOLDER).unwrap());
        options.cache.cache_only = true;
        let sampler = Sampler::new(mode, &options);
        sampler.sample(6, 28);
        let stats = sampler.runtime.stats();
        println!("{mode:?}: {} compiles, {} from disk", stats.compiles, stats.disk_hits);
        assert!(stats.compiles == 0 && stats.disk_hits > 0, "{mode:?}: {stats:?}");
    }
}

/// The same model under other names, from other lines and inside scopes is the same program.
#[test]
fn names_lines_and_scopes_are_no_reason_to_compile() {
    let sampler = Sampler::new(Mode::Compiled, &RuntimeOptions::default());
    let compile = |traced: Traced| {
        traced.lower().compile(&sampler.runtime, &CompileOptions::default()).unwrap();
        sampler.compiles()
    };
    let plain = compile(Traced::new("step", &parameters(6), traced_step).unwrap());
    let renamed = Traced::new("another", &parameters(6), |p| {
        let _scope = p[0].graph().scope("denoise");
        traced_step(p)
    });
    assert_eq!(compile(renamed.unwrap()), plain);
}

/// The same values in another order of memory are the same argument.
#[test]
fn strides_are_no_reason_to_compile() {
    for mode in MODES {
        let sampler = Sampler::new(mode, &RuntimeOptions::default());
        let input = SMALL.input(6);
        let rows = sampler.queue.from_ndarray(&input).unwrap();
        let expected = sampler.read_step(&rows);
        let compiles = sampler.compiles();
        let columns = input.t().as_standard_layout().into_owned();
        let columns = sampler.queue.from_ndarray(&columns.t()).unwrap();
        assert_eq!(sampler.read_step(&columns), expected, "{mode:?}");
        assert_eq!(sampler.compiles(), compiles, "{mode:?}");
    }
}
