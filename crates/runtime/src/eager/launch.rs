//! Programs on their way to the device, and their results back into slots.

use std::sync::Arc;

use rectiflow_pjrt::{Argument, Buffer, LoadedExecutable};
use smallvec::SmallVec;

use super::pending::Job;
use super::slot::Slot;
use crate::error::{Error, Result};

/// Launches a job and fills its outputs; returns how many arguments were given away, of those
/// listed in `donated`, which the program writes outputs into.
pub(super) fn launch(
    donated: &[usize],
    executable: &LoadedExecutable,
    mut job: Job,
    is_blocking: bool,
) -> usize {
    let leaves = std::mem::take(&mut job.leaves);
    let (buffers, n_donated) = if donated.is_empty() {
        let args: Result<SmallVec<[&Buffer; 8]>> = leaves.iter().map(|leaf| leaf.wait()).collect();
        (args.and_then(|args| executable.execute(&args).map_err(Error::execute)), 0)
    } else {
        launch_donating(donated, executable, leaves)
    };
    let buffers = buffers.and_then(|buffers| match is_blocking {
        true => finished(buffers),
        false => Ok(buffers),
    });
    match buffers {
        Ok(buffers) => job.outputs().zip(buffers).for_each(|(slot, buffer)| slot.fill(Ok(buffer))),
        Err(error) => fail(&job, &error),
    }
    n_donated
}

fn launch_donating(
    donated: &[usize],
    executable: &LoadedExecutable,
    leaves: SmallVec<[Arc<Slot>; 4]>,
) -> (Result<Vec<Buffer>>, usize) {
    let mut held = Vec::with_capacity(leaves.len());
    let mut given = Vec::with_capacity(leaves.len());
    for (i, slot) in leaves.into_iter().enumerate() {
        let taken = match donated.contains(&i) {
            true => Slot::into_buffer(slot),
            false => Err(slot),
        };
        match taken {
            Ok(buffer) => (held.push(None), given.push(Some(buffer))),
            Err(slot) => (held.push(Some(slot)), given.push(None)),
        };
    }
    let n_donated = given.iter().flatten().count();
    let mut args = Vec::with_capacity(held.len());
    for (slot, buffer) in held.iter().zip(given) {
        args.push(match (slot, buffer) {
            (_, Some(buffer)) => Argument::Donated(buffer),
            (Some(slot), None) => match slot.wait() {
                Ok(buffer) => Argument::Borrowed(buffer),
                Err(error) => return (Err(error), 0),
            },
            (None, None) => unreachable!("a leaf is held or given away"),
        });
    }
    (executable.execute_donating(args).map_err(Error::execute), n_donated)
}

/// The buffers, when the device has computed them.
fn finished(buffers: Vec<Buffer>) -> Result<Vec<Buffer>> {
    for buffer in &buffers {
        buffer.ready().and_then(|event| event.wait()).map_err(Error::execute)?;
    }
    Ok(buffers)
}

/// Fills all outputs with an error, at the line of model code where there is one.
pub(super) fn fail(job: &Job, error: &Error) {
    if job.structure.outputs.is_empty() {
        tracing::error!(%error, "ops that run for their effect alone failed");
    }
    for slot in job.outputs() {
        let error = match slot.origin() {
            Some(origin) => {
                let message = format!("{}: {}: {error}", origin.location, origin.mnemonic);
                Error::because_of(error, message)
            }
            _ => error.clone(),
        };
        slot.fill(Err(error));
    }
}
