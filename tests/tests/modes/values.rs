//! Equal numbers in every mode.

use rectiflow_runtime::{Read, RuntimeOptions, Traced};
use rectiflow_tests::transformer::{SMALL, reference_step, relative_error};

use crate::{MODES, Sampler, parameters, schedule, traced_step};

const TOKENS: usize = 10;

/// Rounding of `f32` through the longest chain of a step, some 60 ops on sums of up to 96 products:
/// 200 units in the last place, relative to the greatest element.
const STEP_BOUND: f64 = 200.0 * (f32::EPSILON as f64);

#[test]
fn a_step_is_that_of_the_reference_in_every_mode() {
    let input = SMALL.input(TOKENS).mapv(f64::from);
    let expected = reference_step(&SMALL, &SMALL.weights(), &input, 700.0, -0.25);
    for mode in MODES {
        let sampler = Sampler::new(mode, &RuntimeOptions::default());
        let x = sampler.queue.from_ndarray(&SMALL.input(TOKENS)).unwrap();
        let found = sampler.step(&x, 700.0, -0.25).to_ndarray().unwrap();
        let error = relative_error(&found, &expected);
        println!("{mode:?}: {:.1} units in the last place", error / f64::from(f32::EPSILON));
        assert!(error < STEP_BOUND, "{mode:?}: {error:e}");
    }
}

/// Modes differ by the rounding of fused against single ops, which four steps carry on.
#[test]
fn four_steps_are_equal_in_all_modes() {
    let mut expected = SMALL.input(TOKENS).mapv(f64::from);
    for [t, dt] in schedule(4) {
        expected = reference_step(&SMALL, &SMALL.weights(), &expected, t.into(), dt.into());
    }
    for mode in MODES {
        let found = Sampler::new(mode, &RuntimeOptions::default()).sample(TOKENS, 4);
        let error = relative_error(&found, &expected);
        println!("{mode:?}: {:.1} units in the last place", error / f64::from(f32::EPSILON));
        assert!(error < 4.0 * STEP_BOUND, "{mode:?}: {error:e}");
    }
}

/// What the compiled mode runs can be looked at: the traced program names lines of the model.
#[test]
fn the_traced_program_names_the_model() {
    let traced = Traced::new("step", &parameters(10), traced_step).unwrap();
    assert!(traced.to_string().contains("transformer.rs"), "{traced}");
    assert!(!traced.lower().to_string().contains("transformer.rs"));
}
