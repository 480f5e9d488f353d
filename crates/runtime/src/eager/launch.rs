//! Programs on their way to the device, and their results back into slots.

use std::sync::Arc;

use rectiflow_pjrt::{Argument, Buffer, LoadedExecutable};
use smallvec::SmallVec;

use super::pending::Job;
use super::slot::Slot;
use crate::error::{Error, Result};

/// Launches a job and fills its outputs; returns how many arguments were given away. Gives the job
/// back with the error if all it takes is still there.
pub(super) fn launch(
    aliases: &[(usize, usize)],
    executable: &LoadedExecutable,
    mut job: Job,
    is_blocking: bool,
) -> Result<usize, Box<(Job, Error)>> {
    let (buffers, n_donated) = if aliases.is_empty() {
        let args: Result<SmallVec<[&Buffer; 8]>> =
            job.leaves.iter().map(|leaf| leaf.wait()).collect();
        (args.and_then(|args| executable.execute(&args).map_err(Error::execute)), 0)
    } else {
        launch_donating(aliases, executable, &mut job.leaves)
    };
    let buffers = buffers.and_then(|buffers| match is_blocking {
        true => finished(buffers),
        false => Ok(buffers),
    });
    match buffers {
        Ok(buffers) => {
            // Before an output is seen: who then records more may be their only holder.
            job.leaves.clear();
            job.outputs().zip(buffers).for_each(|(slot, buffer)| slot.fill(Ok(buffer)));
            Ok(n_donated)
        }
        Err(error) if n_donated == 0 => Err(Box::new((job, error))),
        Err(error) => {
            fail(&job, &error);
            Ok(n_donated)
        }
    }
}

/// Takes the leaves, and gives them back if none was given away.
fn launch_donating(
    aliases: &[(usize, usize)],
    executable: &LoadedExecutable,
    leaves: &mut SmallVec<[Arc<Slot>; 4]>,
) -> (Result<Vec<Buffer>>, usize) {
    let mut held: SmallVec<[Option<Arc<Slot>>; 4]> = SmallVec::with_capacity(leaves.len());
    let mut given = Vec::with_capacity(leaves.len());
    for (i, slot) in std::mem::take(leaves).into_iter().enumerate() {
        let taken = match aliases.iter().any(|(leaf, _)| *leaf == i) {
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
                Err(error) => return (Err(error), n_donated),
            },
            (None, None) => unreachable!("a leaf is held or given away"),
        });
    }
    let results = executable.execute_donating(args).map_err(Error::execute);
    if n_donated == 0 {
        *leaves = held.into_iter().flatten().collect();
    }
    (results, n_donated)
}

/// The buffers, when the device has computed them.
fn finished(buffers: Vec<Buffer>) -> Result<Vec<Buffer>> {
    for buffer in &buffers {
        buffer.ready().and_then(|event| event.wait()).map_err(Error::execute)?;
    }
    Ok(buffers)
}

/// Fills all outputs with an error, each at its line of model code.
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
            None => error.clone(),
        };
        slot.fill(Err(error));
    }
}
