//! A conformance case: a graph, inputs, and what must come out.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use rectiflow_hlo::{Class, DType, Graph, Module, Tensor};

use crate::{Value, plugin};

/// How far a result may be from the expected value.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// Equal elements; any NaN equals any NaN, and zeros must agree in sign.
    Exact,
    /// Within so many units in the last place of the result's dtype at the expected value, or of
    /// its least normal number.
    Ulps(f64),
    /// Within so much of the expected value, times its magnitude or 1 if that is greater.
    Close(f64),
}

/// Records an op of a case on its inputs.
pub type Record = Box<dyn Fn(&Graph, &[Tensor]) -> Vec<Tensor> + Send + Sync>;

/// One check of one op.
pub struct Case {
    /// Mnemonic of the op that is checked.
    pub op: &'static str,
    /// What is special about the case.
    pub name: String,
    /// Arguments, one parameter each.
    pub inputs: Vec<Value>,
    /// The graph.
    pub record: Record,
    /// Results, by a reference that knows nothing of XLA.
    pub expected: Vec<Value>,
    /// How close the results must be.
    pub bound: Bound,
    /// The other devices, if it runs on several.
    pub peers: Option<Peers>,
}

/// How the devices of a case divide a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Division {
    /// Each runs a replica.
    Replicas,
    /// They are the partitions of one replica.
    Partitions,
}

/// What the devices of a case after the first are given and must give.
pub struct Peers {
    /// What they are.
    pub division: Division,
    /// Arguments and results of each.
    pub shares: Vec<(Vec<Value>, Vec<Value>)>,
}

impl Case {
    /// A case; its results must be equal to the expected ones.
    pub fn new(
        op: &'static str,
        name: impl Into<String>,
        inputs: Vec<Value>,
        record: impl Fn(&Graph, &[Tensor]) -> Vec<Tensor> + Send + Sync + 'static,
        expected: Vec<Value>,
    ) -> Case {
        let (name, record) = (name.into(), Box::new(record));
        Case { op, name, inputs, record, expected, bound: Bound::Exact, peers: None }
    }

    /// A case on as many devices as there are shares, each of its arguments and its results.
    pub fn on_devices(
        op: &'static str,
        name: impl Into<String>,
        division: Division,
        mut shares: Vec<(Vec<Value>, Vec<Value>)>,
        record: impl Fn(&Graph, &[Tensor]) -> Vec<Tensor> + Send + Sync + 'static,
    ) -> Case {
        let (inputs, expected) = shares.remove(0);
        let peers = Some(Peers { division, shares });
        Case { peers, ..Case::new(op, name, inputs, record, expected) }
    }

    /// The same with another bound.
    pub fn within(self, bound: Bound) -> Case {
        Case { bound, ..self }
    }

    /// The module of the case.
    pub fn module(&self) -> Result<Module, rectiflow_hlo::Error> {
        let graph = Graph::new();
        let parameter =
            |(i, value): (usize, &Value)| graph.parameter(&format!("x{i}"), value.shape.clone());
        let parameters: Vec<Tensor> = self.inputs.iter().enumerate().map(parameter).collect();
        let results = (self.record)(&graph, &parameters);
        graph.finish(&results.iter().collect::<Vec<_>>())
    }

    /// Runs the case; the text says what is wrong.
    fn problem(&self) -> Option<String> {
        let module = match self.module() {
            Ok(module) => module,
            Err(error) => return Some(format!("not recorded: {error}")),
        };
        if !module.to_string().contains(&format!("\"{}\"", self.op)) {
            return Some(format!("its program has no {}", self.op));
        }
        match self.run(&module) {
            Err(error) => Some(format!("not run: {error:#}")),
            Ok(results) => {
                let peers = self.peers.iter().flat_map(|peers| &peers.shares);
                let expected = [&self.expected].into_iter().chain(peers.map(|share| &share.1));
                let differ = |(results, expected): (&Vec<Value>, &Vec<Value>)| {
                    difference(results, expected, self.bound)
                };
                results.iter().zip(expected).enumerate().find_map(|(device, pair)| {
                    differ(pair).map(|problem| format!("device {device}: {problem}"))
                })
            }
        }
    }

    /// The results of each device.
    fn run(&self, module: &Module) -> anyhow::Result<Vec<Vec<Value>>> {
        let Some(peers) = &self.peers else {
            return Ok(vec![plugin::run(module, &self.inputs)?]);
        };
        let others = peers.shares.iter().map(|share| share.0.clone());
        let inputs: Vec<_> = [self.inputs.clone()].into_iter().chain(others).collect();
        let options = match peers.division {
            Division::Replicas => plugin::options().replicas(inputs.len()),
            Division::Partitions => plugin::options().partitions(inputs.len()),
        };
        plugin::run_on(inputs.len(), module, &inputs, &options)
    }
}

/// Where results differ from what is expected by more than the bound, if anywhere.
pub fn difference(results: &[Value], expected: &[Value], bound: Bound) -> Option<String> {
    if results.len() != expected.len() {
        return Some(format!("{} results instead of {}", results.len(), expected.len()));
    }
    for (number, (result, expected)) in results.iter().zip(expected).enumerate() {
        if result.shape != expected.shape {
            return Some(format!("result {number} is {}, not {}", result.shape, expected.shape));
        }
        let dtype = result.shape.dtype;
        let element = (result.complex().into_iter().zip(expected.complex()))
            .zip(result.elements().zip(expected.elements()))
            .position(|((got, want), (got_bits, want_bits))| {
                let real = |a: f64, b: f64| is_close(a, b, dtype, bound);
                got_bits != want_bits
                    && !(dtype.class() != Class::Pred
                        && !dtype.is_integer()
                        && real(got.re, want.re)
                        && real(got.im, want.im))
            });
        if let Some(at) = element {
            let (got, want) = (result.complex()[at], expected.complex()[at]);
            return Some(format!(
                "result {number}, element {at}: {got}, not {want}, beyond {bound:?}"
            ));
        }
    }
    None
}

fn is_close(got: f64, want: f64, dtype: DType, bound: Bound) -> bool {
    if got.is_nan() || want.is_nan() {
        return got.is_nan() && want.is_nan();
    }
    if got == want {
        let signed = matches!(bound, Bound::Exact);
        return !signed || got.is_sign_negative() == want.is_sign_negative();
    }
    let distance = (got - want).abs();
    match bound {
        Bound::Exact => false,
        Bound::Ulps(ulps) => {
            let (epsilon, least) = precision(dtype.real());
            distance <= ulps * epsilon * want.abs().max(least)
        }
        Bound::Close(by) => distance <= by * want.abs().max(1.0),
    }
}

/// Distance from 1 to the next number, and the least normal number.
fn precision(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F64 => (f64::EPSILON, f64::MIN_POSITIVE),
        DType::F32 => (f32::EPSILON.into(), f32::MIN_POSITIVE.into()),
        DType::BF16 => (2f64.powi(-7), 2f64.powi(-126)),
        DType::F16 => (2f64.powi(-10), 2f64.powi(-14)),
        DType::F8E3M4 => (2f64.powi(-4), 2f64.powi(-2)),
        DType::F8E5M2 | DType::F8E5M2FNUZ => (2f64.powi(-2), 2f64.powi(-15)),
        DType::F8E8M0FNU => (1.0, 2f64.powi(-127)),
        DType::F4E2M1FN => (0.5, 1.0),
        _ => (2f64.powi(-3), 2f64.powi(-10)),
    }
}

/// Runs cases on as many threads as there are cores; panics with all that is wrong.
pub fn check(cases: &[Case]) {
    assert!(!cases.is_empty(), "no cases");
    let next = AtomicUsize::new(0);
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let worker = || {
        let mut problems = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(problem) = case.problem() {
                problems.push(format!("{} {}: {problem}", case.op, case.name));
            }
        }
        problems
    };
    let problems: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a case panicked")).collect()
    });
    println!("{} conformance cases", cases.len());
    if !problems.is_empty() {
        let mut text = format!("{} of {} cases are wrong:\n", problems.len(), cases.len());
        problems.iter().take(40).for_each(|problem| {
            let _ = writeln!(text, "  {problem}");
        });
        panic!("{text}");
    }
}
