//! `rectiflow cache ls`.

use std::io::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use rectiflow_runtime::{Disk, Entry, Listing};
use serde_json::{Value, json};

use super::{count, size};
use crate::table::{self, Align};

#[derive(clap::Args)]
pub(crate) struct ListArguments {
    /// Print JSON, with whole keys and all that they are made of
    #[arg(long)]
    json: bool,
}

pub(super) fn list(disk: &Disk, arguments: &ListArguments) -> Result<()> {
    let listing = disk.ls()?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&as_json(disk, &listing))?;
        writeln!(io::stdout(), "{text}")?;
        return Ok(());
    }
    print(disk, &listing)?;
    Ok(())
}

fn print(disk: &Disk, listing: &Listing) -> io::Result<()> {
    const COLUMNS: [(&str, Align); 6] = [
        ("name", Align::Left),
        ("key", Align::Left),
        ("size", Align::Right),
        ("compiled in", Align::Right),
        ("age", Align::Right),
        ("last used", Align::Right),
    ];
    let mut out = io::stdout().lock();
    let now = SystemTime::now();
    let rows: Vec<Vec<String>> = listing.entries.iter().map(|entry| row(entry, now)).collect();
    if !rows.is_empty() {
        table::write(&mut out, &COLUMNS, &rows)?;
    }
    let totals = totals(listing);
    writeln!(
        out,
        "{}, {}, compiled in {:.1} s, in {}",
        count(rows.len(), "executable"),
        size(totals.bytes),
        totals.compile_time.as_secs_f64(),
        disk.folder().display()
    )?;
    for (path, damage) in &listing.damaged {
        writeln!(out, "damaged: {}: {damage}; `rectiflow cache gc` removes it", path.display())?;
    }
    Ok(())
}

fn row(entry: &Entry, now: SystemTime) -> Vec<String> {
    let since = |time| duration(now.duration_since(time).unwrap_or_default());
    vec![
        entry.name.clone(),
        format!("{:.12}", entry.key),
        size(entry.bytes),
        format!("{:.2} s", entry.compile_time.as_secs_f64()),
        since(entry.created),
        since(entry.last_used),
    ]
}

/// In the largest unit of which there are two or more.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [("d", 86_400), ("h", 3_600), ("min", 60)];
    let unit = units.into_iter().find(|(_, length)| seconds >= 2 * length);
    unit.map_or(format!("{seconds} s"), |(unit, length)| format!("{} {unit}", seconds / length))
}

struct Totals {
    bytes: u64,
    compile_time: Duration,
}

fn totals(listing: &Listing) -> Totals {
    Totals {
        bytes: listing.entries.iter().map(|entry| entry.bytes).sum(),
        compile_time: listing.entries.iter().map(|entry| entry.compile_time).sum(),
    }
}

fn as_json(disk: &Disk, listing: &Listing) -> Value {
    let unix = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let parts = |entry: &Entry| -> Vec<Value> {
        let parts = entry.key.parts().iter();
        parts.map(|part| json!({"label": part.label, "value": part.value})).collect()
    };
    let entry = |entry: &Entry| {
        json!({
            "name": entry.name,
            "key": entry.key.to_string(),
            "bytes": entry.bytes,
            "compile_seconds": entry.compile_time.as_secs_f64(),
            "created_unix_seconds": unix(entry.created),
            "last_used_unix_seconds": unix(entry.last_used),
            "parts": parts(entry),
        })
    };
    let damaged = listing
        .damaged
        .iter()
        .map(|(path, damage)| json!({"path": path.to_string_lossy(), "damage": damage}));
    let totals = totals(listing);
    json!({
        "folder": disk.folder().to_string_lossy(),
        "entries": listing.entries.iter().map(entry).collect::<Vec<_>>(),
        "damaged": damaged.collect::<Vec<_>>(),
        "total": {
            "entries": listing.entries.len(),
            "bytes": totals.bytes,
            "compile_seconds": totals.compile_time.as_secs_f64(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_a_unit_that_fits() {
        let shown = |seconds| duration(Duration::from_secs(seconds));
        let units = [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_200, "2 h"), (200_000, "2 d")];
        for (seconds, expected) in units {
            assert_eq!(shown(seconds), expected);
        }
    }
}
