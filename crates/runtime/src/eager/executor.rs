//! Compiles and launches programs that were recorded.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use rectiflow_hlo::Graph;
use rectiflow_pjrt::{LoadedExecutable, Program};

use super::launch::{fail, launch};
use super::pending::{Job, PendingOp, cut};
use super::slot::{Slot, Source};
use super::structure::{Input, Step, Structure};
use crate::cache::{Cache, CacheOutcome, Key, Request};
use crate::compile_options::CompileOptions;
use crate::error::{Code, Error, Result};

/// Runs jobs, from any thread.
#[derive(Debug)]
pub(super) struct Executor {
    cache: Arc<Cache>,
    options: CompileOptions,
    known: Mutex<LruCache<u64, Vec<Arc<Known>>>>,
    /// Programs of several ops that the compiler refused, by their hash: it need not be asked again.
    refused: Mutex<LruCache<u64, Structure>>,
}

/// A structure whose program was printed once: later, only the structure is compared.
#[derive(Debug)]
struct Known {
    structure: Structure,
    key: Key,
    /// Leaves whose buffer the program writes an output into, if it may, each with that output.
    aliases: Vec<(usize, usize)>,
}

/// How a job went.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// `None` if nothing ran.
    pub(super) cache: Option<CacheOutcome>,
    /// Finding the executable, or compiling it.
    pub(super) compile_time: Duration,
    pub(super) launch_time: Duration,
    /// Arguments whose buffers were given to the program.
    pub(super) n_donated: usize,
}

/// What a job may do beyond computing its outputs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    /// Buffers of arguments that nobody else holds may be reused.
    pub(super) may_donate: bool,
    /// Returns when the device has finished.
    pub(super) is_blocking: bool,
    /// Whether anyone looks at the times.
    pub(super) is_timed: bool,
}

/// A clock that is not read where nobody looks at it: reading it three times would be a tenth of
/// what an op costs.
struct Clock(Option<Instant>);

impl Clock {
    fn start(is_timed: bool) -> Clock {
        Clock(is_timed.then(Instant::now))
    }

    fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |start| start.elapsed())
    }
}

/// Structures of which the key is kept. Beyond it, printing a program finds its executable again.
const N_KNOWN: NonZeroUsize = NonZeroUsize::new(1 << 13).unwrap();
/// Refused programs that are remembered.
const N_REFUSED: NonZeroUsize = NonZeroUsize::new(64).unwrap();

impl Executor {
    pub(super) fn new(cache: Arc<Cache>, options: CompileOptions) -> Executor {
        let (known, refused) = (LruCache::new(N_KNOWN), LruCache::new(N_REFUSED));
        Executor { cache, options, known: Mutex::new(known), refused: Mutex::new(refused) }
    }

    /// Runs a job, and fills its outputs: each with a buffer, or the error that it has none for.
    /// `declared` has the functions and meshes that the job's ops name.
    ///
    /// Blocks for compiling, and until earlier jobs whose results it takes are launched.
    pub(super) fn run(&self, job: Job, declared: &Graph, manner: Manner) -> Outcome {
        if job.structure.steps.is_empty() {
            return Outcome::default();
        }
        if job.leaves.iter().any(|leaf| leaf.wait().is_err()) {
            return self.one_by_one(job, declared, manner);
        }
        let clock = Clock::start(manner.is_timed);
        let code = job.structure.hash_code();
        let known = self.known(code, &job.structure);
        let held = known.as_ref().and_then(|known| self.cache.get(&known.key));
        let found = match (known, held) {
            (Some(known), Some(executable)) => Ok((known, executable, CacheOutcome::Memory)),
            (_, None) if self.is_refused(code, &job.structure) => {
                return self.one_by_one(job, declared, manner);
            }
            (known, _) => self.compile(code, &job, known, declared, manner),
        };
        let compile_time = clock.elapsed();
        match found {
            Ok((known, executable, cache)) => {
                let launched = launch(&known.aliases, &executable, job, manner.is_blocking);
                let n_donated = launched.unwrap_or_else(|failed| {
                    let (job, error) = *failed;
                    self.after_failure(job, declared, manner, &error);
                    0
                });
                let launch_time = clock.elapsed() - compile_time;
                Outcome { cache: Some(cache), compile_time, launch_time, n_donated }
            }
            // Of many ops one may be to blame; the others, and what depends on them, can run.
            Err(error) if job.n_ops() > 1 => {
                let n_ops = job.structure.steps.len();
                tracing::warn!(n_ops, %error, "ops that cannot run as one program run one by one");
                if error.code() == Code::Compile {
                    lock(&self.refused).put(code, job.structure.clone());
                }
                self.one_by_one(job, declared, manner)
            }
            Err(error) => {
                fail(&job, &error);
                Outcome { compile_time, ..Outcome::default() }
            }
        }
    }

    fn known(&self, code: u64, structure: &Structure) -> Option<Arc<Known>> {
        let mut all = lock(&self.known);
        all.get(&code)?.iter().find(|known| known.structure == *structure).map(Arc::clone)
    }

    fn is_refused(&self, code: u64, structure: &Structure) -> bool {
        lock(&self.refused).get(&code).is_some_and(|refused| refused == structure)
    }

    fn compile(
        &self,
        code: u64,
        job: &Job,
        known: Option<Arc<Known>>,
        declared: &Graph,
        manner: Manner,
    ) -> Result<(Arc<Known>, LoadedExecutable, CacheOutcome)> {
        let structure = job.structure.clone();
        // What may be donated is decided once, so that it never makes a second program of one.
        let aliases = match known {
            Some(known) => known.aliases.clone(),
            None if manner.may_donate => aliases(job),
            None => Vec::new(),
        };
        let module = structure.module(&declared.sibling(), &aliases).map_err(Error::shape)?;
        let (first, last) = structure.first_and_last();
        let name = match structure.steps.len() {
            1 => format!("{} {}", first.op.mnemonic(), first.location()),
            n => format!("{n} ops {} to {}", first.location(), last.location()),
        };
        let program = Program::stablehlo(module.to_string());
        let request = Request { name: &name, program: &program, options: &self.options };
        let key = self.cache.key(&request);
        let (executable, outcome) = self.cache.get_or_compile_key(&key, &request)?;
        let known = Arc::new(Known { structure, key, aliases });
        let mut all = lock(&self.known);
        let same_code = all.get_or_insert_mut(code, Vec::new);
        same_code.retain(|other| other.structure != known.structure);
        same_code.push(Arc::clone(&known));
        Ok((known, executable, outcome))
    }

    /// Of many ops one failed on the device: run again one by one, the others have their values. Not
    /// if that would repeat an effect.
    fn after_failure(&self, job: Job, declared: &Graph, manner: Manner, error: &Error) {
        let steps = &job.structure.steps;
        if steps.len() > 1 && !steps.iter().any(|step| step.instruction.has_side_effect()) {
            self.one_by_one(job, declared, manner);
        } else {
            fail(&job, error);
        }
    }

    /// Each op as a program of its own, so that errors stay with what depends on them.
    fn one_by_one(&self, job: Job, declared: &Graph, manner: Manner) -> Outcome {
        let mut last = Outcome::default();
        for (at, step) in job.structure.steps.iter().enumerate() {
            let op = pending_again(&job, at, step);
            // Constants of the program have no buffer to wait for.
            let on_device = op.inputs.iter().filter(|slot| slot.constant().is_none());
            if let Some(error) = on_device.filter_map(|slot| slot.wait().err()).next() {
                op.results.iter().for_each(|slot| slot.fill(Err(error.clone())));
                continue;
            }
            let outcome = self.run(cut(vec![op]), declared, Manner { may_donate: false, ..manner });
            let compile_time = last.compile_time + outcome.compile_time;
            let launch_time = last.launch_time + outcome.launch_time;
            last = Outcome { compile_time, launch_time, ..outcome };
        }
        last
    }
}

/// The op of a step, on the values that the steps before it filled.
fn pending_again(job: &Job, at: usize, step: &Step) -> PendingOp {
    let input = |input: &Input| match *input {
        Input::Leaf(i) => Arc::clone(&job.leaves[i as usize]),
        Input::Constant(i) => {
            let literal = job.structure.constants[i as usize].clone();
            let shape = Arc::new(literal.shape().clone());
            Arc::new(Slot::new(shape, Source::Constant(literal)))
        }
        Input::Result(step, i) => Arc::clone(&job.results[step as usize][i as usize]),
    };
    PendingOp {
        number: u64::MAX,
        instruction: step.instruction.clone(),
        inputs: step.inputs.iter().map(input).collect(),
        results: job.results[at].clone(),
    }
}

/// Pairs of a leaf that nobody else holds and an output that fits into its buffer.
fn aliases(job: &Job) -> Vec<(usize, usize)> {
    let mut free: Vec<Option<&Arc<Slot>>> = job.outputs().map(Some).collect();
    let mut aliases = Vec::new();
    for (leaf, slot) in job.leaves.iter().enumerate() {
        if Arc::strong_count(slot) > 1 {
            continue;
        }
        let fits = |output: &Option<&Arc<Slot>>| output.is_some_and(|o| o.shape == slot.shape);
        if let Some(output) = free.iter().position(fits) {
            free[output] = None;
            aliases.push((leaf, output));
        }
    }
    aliases
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics between two changes that belong together.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
