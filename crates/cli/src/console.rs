//! What a person sees of work that takes long, and of the libraries' log.

use std::io;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use xla_build::{Bar, Progress, Silent};

use crate::arguments::Verbosity;

/// Sends the libraries' log to stderr.
pub(crate) fn start_log(verbosity: &Verbosity) {
    let level = match verbosity {
        Verbosity { quiet: true, .. } => LevelFilter::ERROR,
        Verbosity { verbose: 0, .. } => LevelFilter::WARN,
        Verbosity { verbose: 1, .. } => LevelFilter::INFO,
        Verbosity { .. } => LevelFilter::DEBUG,
    };
    let wanted = std::env::var("RUST_LOG").ok().filter(|text| !text.trim().is_empty());
    let parsed = wanted.as_deref().map(str::parse::<Targets>);
    let targets = match &parsed {
        Some(Ok(targets)) => targets.clone(),
        _ => Targets::new().with_default(level),
    };
    let layer =
        tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false).without_time();
    tracing_subscriber::registry().with(layer).with(targets).init();
    if let Some(Err(error)) = parsed {
        tracing::warn!(%error, "RUST_LOG is not a list of target=level, and is ignored");
    }
}

/// Where progress is shown: on stderr if a person watches it, else nowhere.
#[derive(Clone, Copy)]
pub(crate) struct Console {
    pub(crate) is_quiet: bool,
}

impl Console {
    pub(crate) fn new(verbosity: &Verbosity) -> Console {
        Console { is_quiet: verbosity.quiet }
    }

    /// Does work, and shows meanwhile what it is.
    pub(crate) fn while_shown<T>(self, what: &str, work: impl FnOnce() -> T) -> T {
        if self.is_quiet {
            return work();
        }
        // Hidden where stderr is no terminal.
        let bar = ProgressBar::new_spinner().with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        let done = work();
        bar.finish_and_clear();
        done
    }

    /// For an installation.
    pub(crate) fn installation(self) -> Box<dyn Progress> {
        if self.is_quiet { Box::new(Silent) } else { Box::new(Bar::stderr()) }
    }
}
