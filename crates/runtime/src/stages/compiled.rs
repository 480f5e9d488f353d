//! Programs ready to be called on eager arrays.

use std::fmt;
use std::sync::Arc;

use rectiflow_pjrt::{Argument, Buffer, LoadedExecutable};

use super::Lowered;
use crate::eager::{Array, Inner, Queue, Slot};
use crate::error::{Code, Error, Result};

/// An executable of one device, and what it was compiled from.
///
/// `Display` says what it takes, returns and needs.
#[derive(Debug, Clone)]
pub struct Compiled {
    lowered: Lowered,
    executable: LoadedExecutable,
}

impl Compiled {
    pub(super) fn new(lowered: Lowered, executable: LoadedExecutable) -> Compiled {
        Compiled { lowered, executable }
    }

    /// The executable itself.
    pub fn executable(&self) -> &LoadedExecutable {
        &self.executable
    }

    /// What it was compiled from.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// Runs it on arrays of `queue`; the results are arrays of that queue. Pending ops are handed
    /// over first, if an argument is among their results
    /// ([`FlushReason::CompiledCall`](crate::FlushReason::CompiledCall)).
    ///
    /// Returns before the device has finished. Arguments survive, also where the program would
    /// take them over.
    ///
    /// # Errors
    /// [`Code::Array`] when number or shapes of the arguments are not the program's, all of them in
    /// one message, or when it is compiled for other devices; an argument's own error.
    pub fn call(&self, queue: &Queue, args: &[&Array]) -> Result<Vec<Array>> {
        let slots = self.arguments(queue, args)?;
        let buffers = slots.iter().map(|slot| slot.wait()).collect::<Result<Vec<&Buffer>>>()?;
        let outputs = self.executable.execute(&buffers).map_err(|error| self.failed(error))?;
        outputs.into_iter().map(|buffer| queue.from_buffer(buffer)).collect()
    }

    /// As [`Compiled::call`], but arguments are given away: the program may reuse the memory of
    /// those that nobody else holds, where it was traced to.
    ///
    /// # Errors
    /// As [`Compiled::call`].
    pub fn call_donating(&self, queue: &Queue, args: Vec<Array>) -> Result<Vec<Array>> {
        let slots = self.arguments(queue, &args.iter().collect::<Vec<_>>())?;
        drop(args);
        let (given, kept): (Vec<_>, Vec<_>) = slots.into_iter().map(given_or_kept).unzip();
        let mut args = Vec::with_capacity(kept.len());
        for (given, kept) in given.into_iter().zip(&kept) {
            args.push(match (given, kept) {
                (Some(buffer), _) => Argument::Donated(buffer),
                (None, Some(slot)) => Argument::Borrowed(slot.wait()?),
                (None, None) => unreachable!("an argument is given away or kept"),
            });
        }
        let outputs = self.executable.execute_donating(args).map_err(|error| self.failed(error))?;
        outputs.into_iter().map(|buffer| queue.from_buffer(buffer)).collect()
    }

    /// The slots of the arguments, launched or on their way.
    fn arguments(&self, queue: &Queue, args: &[&Array]) -> Result<Vec<Arc<Slot>>> {
        self.check(args)?;
        let mut slots = Vec::with_capacity(args.len());
        for arg in args {
            let slot = Slot::of(arg)?;
            if let Some(inner) = Inner::of(arg) {
                inner.flush_for_call(arg.graph(), &slot);
            }
            slots.push(slot);
        }
        match queue.runs(&self.executable) {
            true => Ok(slots),
            false => Err(Error::new(Code::Array, self.wrong_device(queue))),
        }
    }

    fn check(&self, args: &[&Array]) -> Result<()> {
        let Lowered { parameters, names, .. } = &self.lowered;
        let mut problems = Vec::new();
        if args.len() != parameters.len() {
            problems.push(format!("expected {} arguments, found {}", parameters.len(), args.len()));
        }
        for (i, (arg, expected)) in args.iter().zip(parameters).enumerate() {
            if arg.shape() != expected {
                let name = &names[i];
                let called =
                    if *name == i.to_string() { String::new() } else { format!(" ({name})") };
                let found = arg.shape();
                problems.push(format!("argument {i}{called}: expected {expected}, found {found}"));
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        let message = format!("cannot call `{}`: {}", self.lowered.name, problems.join("; "));
        Err(Error::new(Code::Array, message))
    }

    fn wrong_device(&self, queue: &Queue) -> String {
        format!(
            "`{}` is compiled for {:?}, which is not the one device of {queue:?}",
            self.lowered.name,
            self.executable.devices()
        )
    }

    fn failed(&self, error: rectiflow_pjrt::Error) -> Error {
        Error::pjrt(Code::Execute, format!("cannot run `{}`", self.lowered.name), error)
    }
}

/// The buffer of an array that nobody else holds, or the array.
fn given_or_kept(slot: Arc<Slot>) -> (Option<Buffer>, Option<Arc<Slot>>) {
    // It must be there before it can be taken.
    if slot.wait().is_err() {
        return (None, Some(slot));
    }
    match Slot::into_buffer(slot) {
        Ok(buffer) => (Some(buffer), None),
        Err(slot) => (None, Some(slot)),
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lowered { name, parameters, results, .. } = &self.lowered;
        let list = |shapes: &[rectiflow_hlo::Shape]| {
            shapes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        writeln!(f, "{name}: ({}) -> ({})", list(parameters), list(results))?;
        write!(f, "on {:?}", self.executable.devices())?;
        // What a plugin does not tell is left out.
        if let Ok(stats) = self.executable.executable().memory_stats() {
            write!(
                f,
                "\nbytes: {} code, {} arguments, {} outputs, {} aliased, {} temporary",
                stats.code_bytes,
                stats.argument_bytes,
                stats.output_bytes,
                stats.alias_bytes,
                stats.temp_bytes
            )?;
        }
        if let Ok(fingerprint) = self.executable.executable().fingerprint() {
            write!(f, "\nfingerprint {}", fingerprint.escape_debug())?;
        }
        Ok(())
    }
}
