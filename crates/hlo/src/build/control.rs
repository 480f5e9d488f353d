//! Control flow, calls, barriers, tuples and random bits.

use std::sync::{Arc, Mutex, Weak};

use crate::{
    DType, Dictionary, Error, Graph, Op, RngAlgorithm, Shape, Symbol, Tensor,
    attribute::{Aliases, Effect, RowMajor},
    block::{Block, Capture, Live},
    error::Mismatch,
    graph::Shared,
    module::Function,
};

/// Records a branch on its view of the operands.
type Branch<'a> = dyn FnMut(&[Tensor]) -> Vec<Tensor> + 'a;

/// A function declared in a graph, to be called from it.
#[derive(Clone, Debug)]
pub struct FunctionRef {
    /// The graph's, so that no other graph takes it for a function of its own.
    owner: Weak<Mutex<Shared>>,
    symbol: Symbol,
    effect: Effect,
    results: Vec<Shape>,
    /// Of a function declared in an eager graph: the error in it, which its calls have.
    failure: Option<Error>,
}

/// A call of code that a plugin or the program registered under a name (typed FFI).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomCall {
    /// Name of the registered code.
    pub target: String,
    /// Attributes it is given.
    pub config: Dictionary,
    /// Whether it does more than compute its results, and so must run even if they are unused.
    pub has_side_effect: bool,
    /// Results that share an operand's buffer, as (result, operand).
    pub aliases: Vec<(i64, i64)>,
}

impl CustomCall {
    /// A pure call without attributes.
    pub fn new(target: impl Into<String>) -> CustomCall {
        CustomCall { target: target.into(), ..CustomCall::default() }
    }
}

impl Graph {
    /// Runs `body` on the state while `condition` holds, and returns the last state. Both get the
    /// state; both may use values of the graphs around them.
    #[track_caller]
    pub fn while_loop(
        &self,
        state: &[&Tensor],
        condition: impl FnOnce(&[Tensor]) -> Tensor,
        body: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let shapes: Vec<Shape> = state.iter().map(|tensor| tensor.shape().clone()).collect();
        let graph = self.around(state);
        let condition = graph.record_region(&shapes, |state| vec![condition(state)]);
        let body = graph.record_region(&shapes, body);
        graph.record_while(state, condition, body)
    }

    /// The innermost of this graph and those of `tensors`, where their regions belong.
    fn around(&self, tensors: &[&Tensor]) -> Graph {
        crate::graph::innermost(self, tensors)
    }

    /// Loops take no values from outside in every compiler, so what the regions capture becomes
    /// part of the state, passed on unchanged.
    #[track_caller]
    pub(super) fn record_while(
        &self,
        state: &[&Tensor],
        mut condition: Block,
        mut body: Block,
    ) -> Vec<Tensor> {
        let mut operands: Vec<Tensor> = state.iter().map(|&tensor| tensor.clone()).collect();
        let mut outer: Vec<Capture> =
            condition.captures.iter().chain(&body.captures).cloned().collect();
        outer.sort_unstable_by_key(|capture| capture.outer);
        outer.dedup_by_key(|capture| capture.outer);
        for capture in outer {
            let id = capture.outer;
            let tensor = match capture.live {
                Some(Live(tensor)) => tensor,
                None => self.tensor(id, self.shape_of(id)),
            };
            condition.parameter_for(id, tensor.shape());
            let passed_on = body.parameter_for(id, tensor.shape());
            body.results.push(passed_on);
            operands.push(tensor);
        }
        let count = operands.len();
        let mut results = self.record(
            Op::While {},
            &operands.iter().collect::<Vec<_>>(),
            vec![condition, body],
            count,
        );
        results.truncate(state.len());
        results
    }

    /// The results of `on_true` or `on_false`, whose shapes must be equal. Both get the operands as
    /// values of their region. Only the taken one runs; what is computed from none of the operands
    /// but from other values around it runs before.
    #[track_caller]
    pub fn if_else(
        &self,
        pred: &Tensor,
        operands: &[&Tensor],
        on_true: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
        on_false: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let graph = self.around(&[&[pred], operands].concat());
        let regions =
            vec![graph.record_branch(operands, on_true), graph.record_branch(operands, on_false)];
        let count = regions[0].results.len();
        graph.record(Op::If {}, &[pred], regions, count)
    }

    /// The results of branch number `index` (a scalar `i32`; out of range takes the last), whose
    /// shapes must all be equal. Otherwise as [`if_else`](Graph::if_else).
    #[track_caller]
    pub fn case(
        &self,
        index: &Tensor,
        operands: &[&Tensor],
        branches: &mut [&mut Branch<'_>],
    ) -> Vec<Tensor> {
        let graph = self.around(&[&[index], operands].concat());
        let mut regions = Vec::with_capacity(branches.len());
        for branch in branches {
            regions.push(graph.record_branch(operands, branch));
        }
        let count = regions.first().map_or(0, |region| region.results.len());
        graph.record(Op::Case {}, &[index], regions, count)
    }

    /// Declares a function; it sees its parameters only.
    #[track_caller]
    pub fn function(
        &self,
        parameters: &[Shape],
        body: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> FunctionRef {
        let graph = self.isolated();
        let tensors = graph.block_parameters(parameters);
        let results = body(&tensors);
        let mut block = self.close_region(&graph, &results);
        block.prune();
        let effect = Effect(block.has_side_effect());
        let returned = block.shapes_of(&block.results);
        let failure = block.failure.clone();
        let mut shared = self.shared();
        // A loop of eager code declares the same function again and again.
        let mut known = shared.functions.iter().filter(|_| self.dispatch().is_some());
        let name = match known.find(|known| known.block == block) {
            Some(known) => known.name.clone(),
            None if failure.is_some() => String::new(),
            None => {
                let name = format!("f{}", shared.functions.len());
                shared.functions.push(Arc::new(Function { name: name.clone(), block }));
                name
            }
        };
        let owner = Arc::downgrade(&self.inner.shared);
        FunctionRef { owner, symbol: Symbol(name), effect, results: returned, failure }
    }

    /// Calls a function declared in this graph.
    #[track_caller]
    pub fn call(&self, function: &FunctionRef, operands: &[&Tensor]) -> Vec<Tensor> {
        if !Weak::ptr_eq(&function.owner, &Arc::downgrade(&self.inner.shared)) {
            let shapes = operands.iter().map(|tensor| tensor.shape().clone()).collect();
            let mismatch = Mismatch::new("a function of this graph", "one of another graph");
            self.fail("func.call", shapes, mismatch);
        }
        if let Some(error) = &function.failure {
            return self.go_on(error, operands, function.results.len());
        }
        let op = Op::Call {
            callee: function.symbol.clone(),
            effect: function.effect,
            results: function.results.clone(),
        };
        self.record(op, operands, Vec::new(), function.results.len())
    }

    /// The same values, but nothing before moves after, nor the reverse.
    #[track_caller]
    pub fn optimization_barrier(&self, operands: &[&Tensor]) -> Vec<Tensor> {
        self.record(Op::OptimizationBarrier {}, operands, Vec::new(), operands.len())
    }

    /// Calls registered code, with results of the given shapes. All buffers are row-major.
    #[track_caller]
    pub fn custom_call(
        &self,
        call: &CustomCall,
        operands: &[&Tensor],
        results: &[Shape],
    ) -> Vec<Tensor> {
        /// Typed FFI.
        const API_VERSION: i32 = 4;
        let op = Op::CustomCall {
            call_target_name: call.target.clone(),
            has_side_effect: call.has_side_effect,
            backend_config: call.config.clone(),
            api_version: API_VERSION,
            operand_layouts: RowMajor(operands.iter().map(|tensor| tensor.rank()).collect()),
            result_layouts: RowMajor(results.iter().map(Shape::rank).collect()),
            output_operand_aliases: Aliases {
                pairs: call.aliases.clone(),
                n_results: results.len(),
            },
            results: results.to_vec(),
        };
        self.record(op, operands, Vec::new(), results.len())
    }

    /// A tuple of values.
    #[track_caller]
    pub fn tuple(&self, members: &[&Tensor]) -> Tensor {
        self.record1(Op::Tuple {}, members)
    }

    /// Random bits of `shape` (`u8` to `u64`) from a `u64` state: the next state, and the bits.
    #[track_caller]
    pub fn rng_bit_generator(
        &self,
        rng_algorithm: RngAlgorithm,
        state: &Tensor,
        shape: Shape,
    ) -> (Tensor, Tensor) {
        let op = Op::RngBitGenerator { rng_algorithm, shape };
        let mut results = self.record(op, &[state], Vec::new(), 2);
        let bits = results.swap_remove(1);
        (results.swap_remove(0), bits)
    }

    /// A scalar `pred` constant.
    #[track_caller]
    pub fn pred(&self, value: bool) -> Tensor {
        self.full(Shape::scalar(DType::Pred), value)
    }
}

impl Block {
    /// Turns the capture of `outer`, if there is one, into a parameter; else adds one.
    fn parameter_for(&mut self, outer: crate::ValueId, shape: &Shape) -> crate::ValueId {
        let at = self.captures.iter().position(|capture| capture.outer == outer);
        let id = match at {
            Some(at) => self.captures.remove(at).inner,
            None => self.new_value(shape.clone()),
        };
        self.parameters.push(id);
        id
    }
}
