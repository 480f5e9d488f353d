//! A small wheel, the row that pins it, and a cache folder of its own for each test.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use xla_build::manifest::{Purpose, Row};
use xla_build::{Finder, Glibc, Machine, Platform, Progress, Settings};
use zip::write::SimpleFileOptions;

use crate::elf::Elf;
use crate::server::{Content, Page, Server};

pub(crate) const WHEEL: &str = "tiny_pjrt-1.0-py3-none-any.whl";
pub(crate) const LIBRARY: &str = "tiny_pjrt/plugin.so";

pub(crate) struct Setup {
    pub(crate) folder: TempDir,
    pub(crate) wheel: Vec<u8>,
    pub(crate) settings: Settings,
}

impl Setup {
    /// With a wheel that holds a good plugin.
    pub(crate) fn new() -> Setup {
        Setup::with_library(&Elf::plugin().bytes())
    }

    pub(crate) fn with_library(library: &[u8]) -> Setup {
        Setup::with_wheel(wheel(&[(LIBRARY, library)]))
    }

    pub(crate) fn with_wheel(wheel: Vec<u8>) -> Setup {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::isolated(folder.path().join("cache"));
        settings.machine = Some(Machine::X86_64Linux);
        settings.glibc = Some(Glibc { major: 2, minor: 31 });
        settings.manifest = vec![row(wheel.len(), &sha256(&wheel))];
        Setup { folder, wheel, settings }
    }

    pub(crate) fn content(&self) -> Content {
        Content {
            page: Page::Json,
            name: WHEEL.to_owned(),
            link: format!("/files/{WHEEL}"),
            body: self.wheel.clone(),
            ranges: true,
            faults: Vec::new(),
            cuts: Vec::new(),
            gate: None,
        }
    }

    pub(crate) fn server(&self) -> Server {
        Server::start(self.content())
    }

    /// A finder that asks `server`.
    pub(crate) fn finder(&self, server: &Server) -> Finder {
        let mut settings = self.settings.clone();
        settings.index = Some(server.url("/simple"));
        Finder::new(settings)
    }

    /// A finder that has nobody to ask.
    pub(crate) fn offline(&self) -> Finder {
        let port = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let mut settings = self.settings.clone();
        settings.index = Some(format!("http://127.0.0.1:{port}/simple"));
        Finder::new(settings)
    }

    pub(crate) fn by_hand(&self) -> PathBuf {
        self.settings.by_hand(&self.settings.manifest[0])
    }

    pub(crate) fn part(&self) -> PathBuf {
        self.by_hand().with_file_name(format!("{WHEEL}.part"))
    }

    /// Puts bytes at a path whose folders may be missing.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// What lies in the folder of installed plugins, staged ones included.
    pub(crate) fn plugins(&self) -> Vec<String> {
        let entries = fs::read_dir(self.settings.cache.join("plugins")).into_iter().flatten();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}

pub(crate) fn row(size: usize, sha256: &str) -> Row {
    Row {
        purpose: Purpose::Plugin(Platform::Cpu),
        machine: Machine::Any,
        registry: "Example",
        package: "tiny-pjrt",
        version: "1.0",
        wheel: WHEEL,
        size: size as u64,
        // Rows are constants elsewhere; here a few bytes live as long as the test.
        sha256: Box::leak(sha256.to_owned().into_boxed_str()),
        file: LIBRARY,
        licence: "MIT",
        pjrt_api: "0.1",
    }
}

/// A wheel with the given files, a licence, and enough noise to take several packets.
pub(crate) fn wheel(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    });
    let noise: Vec<u8> = noise.take(300_000).collect();
    let more: [(&str, &[u8]); 2] =
        [("tiny_pjrt/noise", &noise), ("tiny_pjrt-1.0.dist-info/LICENSE", b"do as you like")];
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files.iter().chain(&more) {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Keeps what it is told.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Total and what was already done, of each download.
    pub(crate) downloads: Vec<(u64, u64)>,
    pub(crate) advanced: u64,
    pub(crate) notes: Vec<String>,
    in_download: bool,
}

impl Progress for Recorder {
    fn begin(&mut self, what: &str, total: u64, done: u64) {
        self.in_download = !what.starts_with("unpacking");
        if self.in_download {
            self.downloads.push((total, done));
        }
    }

    fn advance(&mut self, bytes: u64) {
        if self.in_download {
            self.advanced += bytes;
        }
    }

    fn end(&mut self) {}

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}
