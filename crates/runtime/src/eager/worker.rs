//! The thread that compiles and launches what another one recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use rectiflow_hlo::Graph;

use super::executor::{Executor, Manner};
use super::flush::{FlushLog, Ticket};
use super::pending::Job;

/// A job with why it runs, and the functions it names.
pub(super) struct Work {
    pub(super) ticket: Ticket,
    pub(super) job: Job,
    pub(super) declared: Graph,
}

/// Programs that may wait to be launched. Recording stops beyond it, so that a loop which nobody
/// reads does not run ahead of the device without bound.
const N_WAITING: usize = 4;

enum Message {
    Run(Box<Work>),
    /// The sender is dropped when its turn comes.
    Tell(Sender<()>),
}

pub(super) struct Worker {
    /// `None` once it is told to end.
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start(executor: Arc<Executor>, log: Arc<FlushLog>) -> std::io::Result<Worker> {
        let (sender, receiver) = sync_channel(N_WAITING);
        let run = move || {
            receiver.into_iter().for_each(|message| match message {
                Message::Run(work) => work.run(&executor, &log),
                Message::Tell(told) => drop(told),
            })
        };
        let thread = thread::Builder::new().name("rectiflow-queue".into()).spawn(run)?;
        Ok(Worker { sender: Some(sender), thread: Some(thread) })
    }

    /// Hands over a job; gives it back if the thread is gone.
    pub(super) fn send(&self, work: Box<Work>) -> Result<(), Box<Work>> {
        let Some(sender) = &self.sender else { return Err(work) };
        match sender.send(Message::Run(work)) {
            Err(SendError(Message::Run(work))) => Err(work),
            _ => Ok(()),
        }
    }

    /// Blocks until all jobs handed over before have run.
    pub(super) fn wait(&self) {
        let (told, wait) = channel();
        if let Some(sender) = &self.sender
            && sender.send(Message::Tell(told)).is_ok()
        {
            // An error, since the sender is gone.
            let _ = wait.recv();
        }
    }
}

impl Work {
    /// Runs the job on this thread and records how it went.
    pub(super) fn run(self, executor: &Executor, log: &FlushLog) {
        let Work { ticket, job, declared } = self;
        let ran = job.summary();
        let manner = Manner { may_donate: true, is_blocking: false, is_timed: true };
        // A panic is a bug of ours; the job has told those who wait, and the next one may run.
        let run = AssertUnwindSafe(|| executor.run(job, &declared, manner));
        let Ok(outcome) = catch_unwind(run) else { return };
        log.push(ticket.flush(log, &ran, outcome));
    }
}

/// Waits for what was handed over: a thread must not be in the plugin when the process ends.
impl Drop for Worker {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that launches programs panicked");
        }
    }
}
