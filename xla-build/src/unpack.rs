//! Takes out of a wheel what was pinned, and the licence files that come with it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Code, Error, Result};
use crate::manifest::{Purpose, Row};
use crate::progress::Progress;

/// The folders below the include folder whose headers are kept; a wheel of headers has thousands.
const HEADER_FOLDERS: &[&str] =
    &["xla/pjrt/c/", "xla/pjrt/extensions/", "xla/ffi/api/", "xla/backends/profiler/plugin/"];

/// Unpacks into `folder` and returns the name of the library or include folder in it.
pub(crate) fn unpack(
    wheel: &Path,
    row: &Row,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<String> {
    let broken = |e: ZipError| {
        Error::new(Code::BadArchive, format!("{} does not unpack", wheel.display())).because(e)
    };
    let file = File::open(wheel).map_err(|e| Error::read(wheel, e))?;
    let mut archive = ZipArchive::new(file).map_err(broken)?;
    let name = match row.purpose {
        Purpose::Headers => "include",
        _ => row.file.rsplit('/').next().unwrap_or(row.file),
    };
    let mut found = false;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(broken)?;
        // A name that would lead out of the folder gives nothing here.
        let Some(inside) = entry.enclosed_name().filter(|_| entry.is_file()) else {
            continue;
        };
        let Some(kept) = keep(row, &inside, name) else {
            continue;
        };
        found |= Path::new(&kept).starts_with(name);
        let what = format!("unpacking {}", row.package);
        progress.begin(&what, entry.size(), 0);
        let written = copy(&mut entry, wheel, &folder.join(kept), progress);
        progress.end();
        written?;
    }
    if found {
        return Ok(name.to_owned());
    }
    let message = format!("{} has no {} inside", wheel.display(), row.file);
    Err(Error::new(Code::BadArchive, message))
}

/// The path, below the installation, of a file inside the wheel; `None` when it is not needed.
fn keep(row: &Row, inside: &Path, name: &str) -> Option<String> {
    let text = inside.to_str()?;
    if row.purpose != Purpose::Headers {
        return match text == row.file {
            true => Some(name.to_owned()),
            false => is_licence(inside).then(|| format!("licences/{text}")),
        };
    }
    let below = text.strip_prefix(row.file)?.strip_prefix('/')?;
    let header = below.ends_with(".h") && HEADER_FOLDERS.iter().any(|f| below.starts_with(f));
    match below {
        "LICENSE" => Some(format!("licences/{below}")),
        _ => header.then(|| format!("{name}/{below}")),
    }
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
    ["LICENSE", "LICENCE", "NOTICE", "COPYING"].iter().any(|word| name.contains(word))
}

fn copy(
    entry: &mut impl Read,
    wheel: &Path,
    target: &Path,
    progress: &mut dyn Progress,
) -> Result<()> {
    let parent = target.parent().unwrap_or(target);
    fs::create_dir_all(parent).map_err(|e| Error::write(parent, e))?;
    let mut file = File::create(target).map_err(|e| Error::write(target, e))?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let count = entry.read(&mut buffer).map_err(|e| {
            Error::new(Code::BadArchive, format!("{} does not unpack", wheel.display())).because(e)
        })?;
        if count == 0 {
            return Ok(());
        }
        file.write_all(&buffer[..count]).map_err(|e| Error::write(target, e))?;
        progress.advance(count as u64);
    }
}
