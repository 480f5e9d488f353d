//! Telling a person how far a download is.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Receives what an installation does; every method may do nothing.
pub trait Progress {
    /// A step of known length starts, of which `done` bytes are already there.
    fn begin(&mut self, what: &str, total: u64, done: u64);
    /// `bytes` more are done.
    fn advance(&mut self, bytes: u64);
    /// The step ended, well or not.
    fn end(&mut self);
    /// Something a person may want to know, such as waiting for another process.
    fn note(&mut self, text: &str);
}

/// Says nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&mut self, _: &str, _: u64, _: u64) {}
    fn advance(&mut self, _: u64) {}
    fn end(&mut self) {}
    fn note(&mut self, _: &str) {}
}

/// A progress bar on stderr when that is a terminal, and notes as lines in any case.
#[derive(Debug)]
pub struct Bar {
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl Bar {
    /// A bar that appears with the first step.
    pub fn stderr() -> Bar {
        Bar { bar: None, terminal: std::io::stderr().is_terminal() }
    }
}

impl Progress for Bar {
    fn begin(&mut self, what: &str, total: u64, done: u64) {
        self.end();
        if !self.terminal {
            return;
        }
        let bar = ProgressBar::new(total).with_position(done).with_message(what.to_owned());
        let line = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        // A rate counted from the resumed position would be absurd for the first seconds.
        bar.reset_eta();
        if let Ok(style) = ProgressStyle::with_template(line) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        self.bar = Some(bar);
    }

    fn advance(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn note(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }
}
