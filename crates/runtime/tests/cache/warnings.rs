//! What went to `tracing`.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic while writing").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        self.clone()
    }
}

/// The warnings that `work` gives on this thread, one a line.
pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(log.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    let done = tracing::subscriber::with_default(subscriber, work);
    let text = String::from_utf8(log.0.lock().expect("no panic").clone()).expect("text");
    (done, text.lines().map(str::to_owned).collect())
}
