//! What the handle of an eager tensor holds.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use rectiflow_hlo::{Handle, Instruction, Literal, Shape, Tensor};
use rectiflow_pjrt::Buffer;

use super::view::View;
use crate::error::{Code, Error, Result};

/// One value of an eager queue: on its way until `value` is set, once.
///
/// Its reference count is the liveness of the value: a pending op whose results nobody holds is
/// never run, and the buffer of a value that only one program still wants may be reused by it.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(super) value: OnceLock<Result<Buffer>>,
    /// Whether a program that was handed over will set the value. What only pending ops want, or
    /// the inside of a program, may never have one.
    is_output: AtomicBool,
    pub(super) shape: Arc<Shape>,
    pub(super) source: Source,
}

/// Where a value comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// The host, a file, or a program called as a whole.
    Outside,
    /// A constant of model code.
    Constant(Literal),
    Op(Origin),
    /// An op that has not run since it moves no data; what needs the value computes it.
    View(Origin, Box<View>),
    /// A tuple, which is on no device; its members are.
    Members(Vec<Arc<Slot>>),
}

/// The op that a value is a result of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// Number of the op in its queue.
    pub(super) op: u64,
    /// Number of the result.
    pub(super) result: u32,
    pub(super) mnemonic: &'static str,
    pub(super) location: &'static Location<'static>,
}

impl Slot {
    pub(super) fn new(shape: Arc<Shape>, source: Source) -> Slot {
        Slot { value: OnceLock::new(), is_output: AtomicBool::new(false), shape, source }
    }

    pub(crate) fn ready(shape: Arc<Shape>, source: Source, buffer: Buffer) -> Slot {
        Slot { value: Ok(buffer).into(), ..Slot::new(shape, source) }
    }

    pub(super) fn failed(shape: Arc<Shape>, source: Source, error: Error) -> Slot {
        Slot { value: Err(error).into(), ..Slot::new(shape, source) }
    }

    /// The slot of a tensor, if it is one of an eager queue.
    pub(crate) fn of(tensor: &Tensor) -> Result<Arc<Slot>> {
        let slot = tensor.handle().and_then(|handle| Handle::clone(handle).downcast().ok());
        slot.ok_or_else(|| {
            let message = format!(
                "a value of a program that is being traced, {}, has no elements: return it from the \
                 traced function, call the compiled program, and read its result",
                tensor.shape()
            );
            Error::new(Code::Array, message)
        })
    }

    /// Number of the op and of its result, for a result that is not yet computed.
    pub(super) fn awaited(&self) -> Option<Origin> {
        match self.source {
            Source::Op(origin) if self.value.get().is_none() => Some(origin),
            _ => None,
        }
    }

    /// What the value is a view of, unless it was computed.
    pub(super) fn view(&self) -> Option<&View> {
        match &self.source {
            Source::View(_, view) if self.value.get().is_none() => Some(view),
            _ => None,
        }
    }

    pub(super) fn origin(&self) -> Option<&Origin> {
        match &self.source {
            Source::Op(origin) | Source::View(origin, _) => Some(origin),
            _ => None,
        }
    }

    pub(super) fn constant(&self) -> Option<&Literal> {
        match &self.source {
            Source::Constant(literal) => Some(literal),
            _ => None,
        }
    }

    pub(super) fn error(&self) -> Option<&Error> {
        self.value.get()?.as_ref().err()
    }

    /// Whether the value is set, or will be without more being asked for.
    pub(super) fn is_under_way(&self) -> bool {
        self.value.get().is_some() || self.is_output.load(Relaxed)
    }

    /// A program is about to be handed over that sets the value.
    pub(super) fn announce(&self) {
        self.is_output.store(true, Relaxed);
    }

    /// Sets the value of a slot that was pending.
    pub(super) fn fill(&self, value: Result<Buffer>) {
        // Only the one job that owns the op fills its results; a view may be read by two threads.
        let first = self.value.set(value).is_ok();
        debug_assert!(first || matches!(self.source, Source::View(..)), "a value is set once");
    }

    /// The buffer. Blocks until the op that computes it is launched, which must be under way.
    pub(crate) fn wait(&self) -> Result<&Buffer> {
        self.value.wait().as_ref().map_err(Error::clone)
    }

    /// The buffer itself, where nobody else holds the slot.
    pub(crate) fn into_buffer(slot: Arc<Slot>) -> Result<Buffer, Arc<Slot>> {
        if Arc::strong_count(&slot) > 1 || !matches!(slot.value.get(), Some(Ok(_))) {
            return Err(slot);
        }
        let slot = Arc::try_unwrap(slot)?;
        match slot.value.into_inner() {
            Some(Ok(buffer)) => Ok(buffer),
            value => {
                let value = value.map(OnceLock::from).unwrap_or_default();
                Err(Arc::new(Slot { value, ..slot }))
            }
        }
    }

    /// Why the value can never be on a device.
    pub(super) fn has_no_buffer(&self) -> Option<&'static str> {
        match self.source {
            Source::Members(_) => Some("a tuple has no elements; read its members"),
            _ => None,
        }
    }

    /// An error of the device, at the line of the op that computed the value.
    pub(super) fn explain(&self, error: rectiflow_pjrt::Error) -> Error {
        let message = match self.origin() {
            Some(Origin { mnemonic, location, .. }) => {
                format!("{location}: {mnemonic}: cannot compute {}", self.shape)
            }
            None => format!("cannot read {}", self.shape),
        };
        Error::pjrt(Code::Execute, message, error)
    }
}

impl Origin {
    /// Of a result of op number `number`.
    pub(super) fn new(instruction: &Instruction, number: u64, result: usize) -> Origin {
        let (mnemonic, location) = (instruction.op.mnemonic(), instruction.location());
        Origin { op: number, result: result as u32, mnemonic, location }
    }
}

impl Slot {
    /// Bytes of the value.
    pub(super) fn bytes(&self) -> u64 {
        self.shape.byte_size().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
    }
}
