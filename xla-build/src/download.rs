//! Gets a row's wheel onto the disk: put there by hand, left there by an earlier run, or fetched.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result};
use crate::http::{self, Fetch, Response};
use crate::manifest::Row;
use crate::progress::Progress;
use crate::record::digest;
use crate::settings::Settings;
use crate::url;

/// How often a transfer is taken up again as long as it gets further each time.
const ATTEMPTS: u32 = 20;

/// A wheel with the pinned hash.
pub(crate) struct Wheel {
    pub(crate) path: PathBuf,
    /// Whether a person put it there; then it is not ours to delete.
    pub(crate) by_hand: bool,
}

/// Finds or downloads the wheel of `row` and verifies it. The caller holds the row's lock.
pub(crate) fn wheel(settings: &Settings, row: &Row, progress: &mut dyn Progress) -> Result<Wheel> {
    let path = settings.by_hand(row);
    if path.exists() {
        verify(&path, row, "remove it, or put the right file there")?;
        return Ok(Wheel { path, by_hand: true });
    }
    let part = path.with_file_name(format!("{}.part", row.wheel));
    // Complete when a run was killed between the last byte and the unpacking.
    if length(&part) != row.size {
        let fetch = Fetch::new(settings, row)?;
        let url = fetch.locate()?;
        let done = fetch.download(&url, &part, progress);
        progress.end();
        done?;
    }
    match verify(&part, row, "it was deleted; try again, or use another index") {
        Ok(()) => Ok(Wheel { path: part, by_hand: false }),
        Err(error) => {
            fs::remove_file(&part).map_err(|e| Error::write(&part, e))?;
            Err(error)
        }
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |m| m.len())
}

fn verify(path: &Path, row: &Row, advice: &str) -> Result<()> {
    let (size, found) = digest(path, |_| ()).map_err(|e| Error::read(path, e))?;
    if size < row.size {
        let message = format!(
            "{} is truncated: expected {} bytes, found {size}; {advice}",
            path.display(),
            row.size
        );
        return Err(Error::new(Code::Truncated, message));
    }
    if found != row.sha256 {
        let message = format!(
            "{} is not the pinned {} {}: expected sha256 {}, found {found}; {advice}",
            path.display(),
            row.package,
            row.version,
            row.sha256
        );
        return Err(Error::new(Code::WrongHash, message));
    }
    Ok(())
}

/// How one request ended, when it did not fail for good.
enum Transfer {
    Complete,
    /// The connection broke off; what came is kept.
    Cut(String),
    /// The server does not serve the rest of what is here; it starts at the beginning again.
    Restart,
}

impl Fetch<'_> {
    /// Appends to `part` until it has its pinned length, or nothing came several times in a row.
    fn download(&self, url: &str, part: &Path, progress: &mut dyn Progress) -> Result<()> {
        let mut cause = String::new();
        let mut failures = 0;
        for _ in 0..ATTEMPTS {
            let before = length(part);
            match self.transfer(url, part, progress)? {
                Transfer::Complete => return Ok(()),
                Transfer::Restart => {
                    cause = "the server does not serve the rest".to_owned();
                    continue;
                }
                Transfer::Cut(why) => cause = why,
            }
            failures = if length(part) > before { 0 } else { failures + 1 };
            match failures {
                0 => {}
                http::TRIES => break,
                _ => http::pause(failures),
            }
        }
        let message = format!(
            "the download of {} stopped at {} of {} bytes ({cause}); run this again to resume it",
            self.row.wheel,
            length(part),
            self.row.size
        );
        Err(Error::new(Code::Truncated, message))
    }

    fn transfer(&self, url: &str, part: &Path, progress: &mut dyn Progress) -> Result<Transfer> {
        let open = OpenOptions::new().create(true).append(true).open(part);
        let mut file = open.map_err(|e| Error::write(part, e))?;
        let mut have = length(part);
        if have > self.row.size {
            file.set_len(0).map_err(|e| Error::write(part, e))?;
            have = 0;
        }
        let range = [("range", format!("bytes={have}-"))];
        let response = self.get(url, if have > 0 { &range } else { &[] })?;
        let (start, total) = match (response.status().as_u16(), content_range(&response)) {
            (200, _) => (0, response.body().content_length()),
            (206, Some((start, total))) if start == have => (have, total),
            (206 | 416, _) if have > 0 => {
                file.set_len(0).map_err(|e| Error::write(part, e))?;
                return Ok(Transfer::Restart);
            }
            (status, _) => return Err(self.refused(url, status)),
        };
        self.check_total(url, total)?;
        if start < have {
            file.set_len(start).map_err(|e| Error::write(part, e))?;
        }
        let what = format!("{} {}", self.row.package, self.row.version);
        progress.begin(&what, self.row.size, start);
        self.copy(response, start, &mut file, part, progress)
    }

    /// A length other than the pinned one need not be downloaded to be refused.
    fn check_total(&self, url: &str, total: Option<u64>) -> Result<()> {
        let Some(found) = total.filter(|t| *t != self.row.size) else {
            return Ok(());
        };
        let code = if found < self.row.size { Code::Truncated } else { Code::WrongHash };
        let (shown, _) = url::take_credentials(url);
        let message = format!(
            "{shown} is not the pinned file: expected {} bytes, the server has {found}; use \
             another index, or put the file at {} by hand",
            self.row.size,
            self.settings.by_hand(self.row).display()
        );
        Err(Error::new(code, message))
    }

    fn copy(
        &self,
        response: Response,
        start: u64,
        file: &mut File,
        part: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Transfer> {
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        let mut have = start;
        while have < self.row.size {
            let room =
                buffer.len().min(usize::try_from(self.row.size - have).unwrap_or(usize::MAX));
            let count = match body.read(&mut buffer[..room]) {
                Ok(0) => return Ok(Transfer::Cut("the server closed the connection".to_owned())),
                Ok(count) => count,
                Err(e) => return Ok(Transfer::Cut(e.to_string())),
            };
            file.write_all(&buffer[..count]).map_err(|e| Error::write(part, e))?;
            have += count as u64;
            progress.advance(count as u64);
        }
        Ok(Transfer::Complete)
    }
}

/// Where a partial answer starts, and how long the whole is if the server says so.
fn content_range(response: &Response) -> Option<(u64, Option<u64>)> {
    let text = response.headers().get("content-range")?.to_str().ok()?;
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.parse().ok()?, total.parse().ok()))
}
