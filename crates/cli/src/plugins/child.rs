//! The process that a plugin is loaded in, seen from outside.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::probe::{Answer, Facts, Trial};
use anyhow::{Context as _, Result, bail};

/// Environment in which libtpu loads where no TPU is, beside others that have it loaded. It must be
/// there before the plugin is; a process cannot safely change its own.
const COMPILE_ONLY: [(&str, &str); 2] =
    [("TPU_SKIP_MDS_QUERY", "1"), ("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")];

/// Loads a plugin in a process of its own, and says what it is, or why it failed.
pub(super) fn ask(path: &Path, timeout: Duration) -> Result<Facts> {
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut command = Command::new(std::env::current_exe()?);
    // A bare name means a file here; the loader would look for it elsewhere.
    command.arg("probe-plugin").arg(std::path::absolute(path)?).envs(COMPILE_ONLY);
    // Files, since a pipe that nobody reads would stop a plugin that logs much.
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn().context("cannot start a process to load it in")?;
    let end = match wait(&mut child, timeout)? {
        Some(status) if status.success() => None,
        Some(status) => Some(format!("{}{}", ended(status), last_words(&text(stderr)?))),
        None => Some(format!("takes more than {} s", timeout.as_secs())),
    };
    // Plugins may print lines of their own between ours.
    let answers = text(stdout)?;
    let answer = answers.lines().rev().find_map(|line| serde_json::from_str::<Answer>(line).ok());
    match (answer, end) {
        (Some(Answer::Facts(mut facts)), end) => {
            if let (Some(ability), Some(end)) = (facts.trying.take(), end) {
                let reason = Some(format!("trying it {end}"));
                facts.abilities.insert(ability, Trial { works: false, reason });
            }
            Ok(*facts)
        }
        (Some(Answer::Refused(reason)), _) => bail!("{reason}"),
        (None, Some(end)) => bail!("loading it {end}"),
        (None, None) => bail!("loading it ends the process without a word"),
    }
}

/// How the process ended; `None` if it had to be stopped.
fn wait(child: &mut Child, timeout: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > timeout {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn text(mut file: File) -> Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn ended(status: ExitStatus) -> String {
    const NAMES: [(i32, &str); 5] =
        [(4, "SIGILL"), (6, "SIGABRT"), (7, "SIGBUS"), (9, "SIGKILL"), (11, "SIGSEGV")];
    match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name = NAMES.iter().find(|(number, _)| *number == signal);
            let name = name.map_or(format!("signal {signal}"), |(_, name)| (*name).to_owned());
            format!("ends the process with {name}")
        }
        (None, Some(code)) => format!("ends the process with status {code}"),
        (None, None) => "ends the process".to_owned(),
    }
}

/// The first thing that it complained about: a trace of its stack may follow.
fn last_words(log: &str) -> String {
    let line = log.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or(String::new(), |line| format!(": {}", line.chars().take(200).collect::<String>()))
}
