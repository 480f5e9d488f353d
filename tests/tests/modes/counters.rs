//! How often anything is compiled.

use rectiflow_runtime::RuntimeOptions;

use crate::{MODES, Sampler};

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
