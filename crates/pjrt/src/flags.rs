//! Suggestions for misspelt XLA flags.
//!
//! No plugin lists its flags, but each carries their names: as strings of the
//! flag table, or as field names in an embedded protobuf descriptor. They are
//! collected from the library's file only after a compile was refused.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::Error;

const PREFIX: &[u8] = b"xla_";
/// Longest name kept; longer runs are not flags.
const MAX_LEN: usize = 120;
const CHUNK: usize = 1 << 20;
const SUGGESTIONS: usize = 3;

/// All strings of a file that look like XLA flags, sorted. An unreadable file
/// has none: this only serves an error message that is already under way.
pub(crate) fn names_in(path: &Path) -> Vec<String> {
    let Ok(mut file) = File::open(path) else { return Vec::new() };
    let mut names = BTreeSet::new();
    let mut data = Vec::with_capacity(CHUNK + MAX_LEN);
    loop {
        let kept = data.len();
        data.resize(kept + CHUNK, 0);
        let Ok(read) = file.read(&mut data[kept..]) else { break };
        data.truncate(kept + read);
        collect(&data, &mut names);
        if read == 0 {
            break;
        }
        // A name may straddle two chunks: carry the tail over.
        let tail = data.len().saturating_sub(MAX_LEN);
        data.drain(..tail);
    }
    names.into_iter().collect()
}

fn collect(data: &[u8], names: &mut BTreeSet<String>) {
    let mut from = 0;
    while let Some(at) = find(&data[from..]) {
        let start = from + at;
        let len = data[start..].iter().take_while(|b| is_name_byte(**b)).count();
        from = start + len.max(1);
        let whole = start == 0 || !is_name_byte(data[start - 1]);
        if whole && len > PREFIX.len() + 3 && len < MAX_LEN {
            names.insert(String::from_utf8_lossy(&data[start..start + len]).into_owned());
        }
    }
}

fn find(data: &[u8]) -> Option<usize> {
    data.windows(PREFIX.len()).position(|window| window == PREFIX)
}

fn is_name_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')
}

/// The flag of `used` that the plugin's message complains about.
fn refused<'a>(used: impl Iterator<Item = &'a str>, message: &str) -> Option<&'a str> {
    let complains = ["No such compile option", "nknown", "not found", "nvalid", "nrecognized"];
    if !complains.iter().any(|word| message.contains(word)) {
        return None;
    }
    // The longest, because one flag's name may be the beginning of another's.
    used.filter(|flag| message.contains(flag)).max_by_key(|flag| flag.len())
}

/// Adds close names to the error of a refused flag; other errors pass unchanged.
pub(crate) fn explain<'a>(
    error: Error,
    used: impl Iterator<Item = &'a str>,
    names: impl FnOnce() -> &'a [String],
) -> Error {
    let Some(flag) = error.plugin_message().and_then(|message| refused(used, message)) else {
        return error;
    };
    let close = closest(flag, names());
    if close.is_empty() {
        return error;
    }
    error.hinted(format!("{flag}: did you mean {}?", close.join(" or ")))
}

fn closest(flag: &str, names: &[String]) -> Vec<String> {
    let mut scored: Vec<(usize, &String)> = names
        .iter()
        .filter(|name| *name != flag)
        .map(|name| (strsim::damerau_levenshtein(flag, name), name))
        .filter(|(distance, _)| *distance <= 2 + flag.len() / 5)
        .collect();
    scored.sort();
    let best = scored.first().map_or(0, |(distance, _)| *distance);
    scored
        .into_iter()
        // Far runners-up would only distract from a near match.
        .filter(|(distance, _)| *distance <= best + 2)
        .take(SUGGESTIONS)
        .map(|(_, name)| name.clone())
        .collect()
}
