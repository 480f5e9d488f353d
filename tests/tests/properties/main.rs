//! Shape rules against the CPU plugin, on random shapes and attributes.
//!
//! Ops without regions are checked both ways: what the rule accepts must compile, to the shapes
//! that the rule gives, and what it refuses the plugin must refuse as well, with the result that
//! the same arithmetic gives when nothing is checked. Ops with regions, convolutions and
//! collectives are checked one way: what the builder accepts must compile, to the same shapes.

mod attributes;
mod indexed;
mod regions;

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};
use rectiflow_hlo::{DType, Inputs, Op, Shape};
use rectiflow_pjrt::{CompileOptions, Program};
use rectiflow_tests::plugin;

/// Numbers that an op and its operands are made of: dims and attributes.
type Lists = Vec<Vec<i64>>;

/// Runs `test` on as many values, always the same ones.
fn for_each<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<()>) {
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_201),
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&strategy, |value| {
        test(value).map_err(|error| TestCaseError::fail(format!("{error:#}")))
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Shapes of the results that the plugin compiles a program to.
fn compiled(text: String, options: &CompileOptions, n_devices: usize) -> Result<Vec<Shape>> {
    let client = plugin::cpu_client(n_devices)?;
    let executable = client.compile(&Program::stablehlo(text), options)?;
    let shapes = executable.executable().output_shapes()?;
    let own = |shape: &rectiflow_pjrt::Shape| {
        Ok(Shape::new(plugin::dtype(shape.element_type())?, shape.dims()))
    };
    shapes.iter().map(own).collect()
}

/// An op without regions, on operands, with the result it would have if nothing were checked.
struct Trial {
    op: Op,
    operands: Vec<Shape>,
    unchecked: Vec<Shape>,
}

impl Trial {
    /// The program of the op alone, in MLIR's generic form.
    fn text(&self, results: &[Shape]) -> String {
        let join = |items: Vec<String>| items.join(", ");
        let types = |shapes: &[Shape]| join(shapes.iter().map(Shape::to_string).collect());
        let named: Vec<String> = (0..self.operands.len()).map(|i| format!("%a{i}")).collect();
        let parameters = named.iter().zip(&self.operands).map(|(a, shape)| format!("{a}: {shape}"));
        let attributes =
            self.op.attributes().into_iter().map(|(name, value)| format!("{name} = {value}"));
        let returned: Vec<String> = (0..results.len()).map(|i| format!("%r#{i}")).collect();
        format!(
            "module {{\n  func.func @main({}) -> ({types}) {{\n    \
             %r:{} = \"{}\"({}) {{{}}} : ({}) -> ({types})\n    \
             \"func.return\"({}) : ({types}) -> ()\n  }}\n}}\n",
            join(parameters.collect()),
            results.len(),
            self.op.mnemonic(),
            join(named.clone()),
            join(attributes.collect()),
            types(&self.operands),
            join(returned),
            types = types(results),
        )
    }

    /// Whether the plugin would end the process: where a slice of nothing loses its dim, its
    /// simplifier counts on there being one element.
    fn aborts(&self) -> bool {
        let Op::Gather { dimension_numbers: dims, slice_sizes, .. } = &self.op else {
            return false;
        };
        let lost = dims.collapsed_slice_dims.iter().chain(&dims.operand_batching_dims);
        lost.filter_map(|&dim| slice_sizes.get(usize::try_from(dim).ok()?)).any(|&size| size == 0)
    }

    /// Whether rule and plugin agree; says whether both accept.
    fn agree(&self) -> Result<bool> {
        let inferred = self.op.infer(&Inputs { operands: &self.operands, regions: &[] });
        match inferred {
            Ok(results) => {
                let theirs = compiled(self.text(&results), &CompileOptions::new(), 1);
                let theirs = theirs.map_err(|e| e.context(format!("accepted: {:?}", self.op)))?;
                ensure!(theirs == results, "{:?}: {theirs:?}, not {results:?}", self.op);
                Ok(true)
            }
            Err(mismatch) => {
                let text = self.text(&self.unchecked);
                let theirs = compiled(text.clone(), &CompileOptions::new(), 1);
                ensure!(theirs.is_err(), "refused ({mismatch:?}) but compiles:\n{text}");
                Ok(false)
            }
        }
    }
}

/// One number of one list made greater or less, or dropped.
#[derive(Clone, Debug)]
struct Change {
    list: prop::sample::Index,
    number: prop::sample::Index,
    by: Option<i64>,
}

fn change() -> impl Strategy<Value = Change> {
    let by = prop_oneof![9 => (-3..=3i64).prop_map(Some), 1 => Just(None)];
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), by)
        .prop_map(|(list, number, by)| Change { list, number, by })
}

impl Change {
    fn apply(&self, lists: &mut Lists) {
        if lists.iter().all(Vec::is_empty) {
            return;
        }
        let filled: Vec<usize> = (0..lists.len()).filter(|&i| !lists[i].is_empty()).collect();
        let list = &mut lists[filled[self.list.index(filled.len())]];
        let at = self.number.index(list.len());
        match self.by {
            Some(by) => list[at] += by,
            None => drop(list.remove(at)),
        }
    }
}

/// Checks an op on valid lists, and on the same with up to two changes.
fn check(valid: impl Strategy<Value = Lists>, trial: impl Fn(&Lists) -> Trial) {
    let (accepted, refused) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let changed =
        (valid, prop::collection::vec(change(), 0..3)).prop_map(|(mut lists, changes)| {
            changes.iter().for_each(|change| change.apply(&mut lists));
            lists
        });
    for_each(120, changed, |lists| {
        let both = trial(&lists);
        // A shape that cannot be written cannot be put to the plugin.
        let writable = |shape: &Shape| shape.dims.iter().all(|&dim| dim >= 0);
        let all_writable = both.operands.iter().chain(&both.unchecked).all(writable);
        if all_writable && !both.aborts() {
            let count = if both.agree()? { &accepted } else { &refused };
            count.set(count.get() + 1);
        }
        Ok(())
    });
    let (accepted, refused) = (accepted.get(), refused.get());
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted >= 8 && refused >= 8, "{accepted} accepted and {refused} refused are too few");
}

fn dims(ranks: std::ops::Range<usize>) -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![1 => Just(0i64), 9 => 1..5i64], ranks)
}

fn f32(dims: &[i64]) -> Shape {
    Shape::new(DType::F32, dims)
}

/// A number for each dim, drawn between bounds that depend on the dim.
fn per_dim(dims: &[i64], bounds: impl Fn(i64) -> RangeInclusive<i64>) -> Vec<RangeInclusive<i64>> {
    dims.iter().map(|&dim| bounds(dim)).collect()
}

fn at(dims: &[i64], dim: i64) -> i64 {
    usize::try_from(dim).ok().and_then(|dim| dims.get(dim)).copied().unwrap_or(1)
}

fn all_dims(rank: usize) -> Vec<i64> {
    (0..rank as i64).collect()
}
