//! A conformance case: a graph, inputs, and what must come out.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use rectiflow_hlo::{Class, Graph, Module, Tensor};

use crate::{Bound, Value, bound::differences, plugin};

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
    /// Other results that are as right, element by element; for a case on one device.
    pub alternatives: Vec<Vec<Value>>,
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
        let (alternatives, bound, peers) = (Vec::new(), Bound::Exact, None);
        Case { op, name, inputs, record, expected, alternatives, bound, peers }
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

    /// The same, but each element may also be the one of these results.
    pub fn or(mut self, expected: Vec<Value>) -> Case {
        self.alternatives.push(expected);
        self
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
    pub fn problem(&self) -> Option<String> {
        let module = match self.module() {
            Ok(module) => module,
            Err(error) => return Some(format!("not recorded: {error}")),
        };
        if !module.to_string().contains(&format!("\"{}\"", self.op)) {
            return Some(format!("its program has no {}", self.op));
        }
        let results = match self.run(&module) {
            Ok(results) => results,
            Err(error) => return Some(format!("not run: {error:#}")),
        };
        let shares = self.peers.iter().flat_map(|peers| &peers.shares);
        let expected = [(&self.inputs, &self.expected)].into_iter();
        let expected = expected.chain(shares.map(|(inputs, expected)| (inputs, expected)));
        let mut problems = results.iter().zip(expected).map(|(results, (inputs, expected))| {
            difference_of(results, inputs, expected, &self.alternatives, self.bound)
        });
        if self.peers.is_none() {
            return problems.next().flatten();
        }
        problems.enumerate().find_map(|(i, problem)| Some(format!("device {i}: {}", problem?)))
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

/// Where results differ from all that is right, if anywhere.
fn difference_of(
    results: &[Value],
    inputs: &[Value],
    expected: &Vec<Value>,
    alternatives: &[Vec<Value>],
    bound: Bound,
) -> Option<String> {
    let right: Vec<&[Value]> =
        [expected].into_iter().chain(alternatives).map(Vec::as_slice).collect();
    let (number, wrong) = match differences(results, &right, bound) {
        Ok(found) => found?,
        Err(text) => return Some(text),
    };
    let at = wrong[0];
    let (result, expected) = (&results[number], &expected[number]);
    let (got, want) = (element(result, at), element(expected, at));
    let shape = &result.shape;
    let mut text =
        format!("result {number} ({shape}), element {at}: {got}, not {want} ({bound:?})");
    // Of an elementwise case the operands at that place say more than the place.
    let elementwise = inputs.iter().all(|input| input.shape.dims == shape.dims);
    if elementwise && !inputs.is_empty() {
        let operands: Vec<String> = inputs.iter().map(|input| element(input, at)).collect();
        let _ = write!(text, " for {}", operands.join(", "));
    }
    let _ = write!(text, "; {} of {} differ", wrong.len(), result.elements().count());
    Some(text)
}

/// One element, for reading.
fn element(value: &Value, at: usize) -> String {
    match value.shape.dtype.class() {
        Class::Complex => value.complex()[at].to_string(),
        Class::Float => format!("{:?}", value.reals()[at]),
        _ => value.integers()[at].to_string(),
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
