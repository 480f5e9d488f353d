//! One executable in one file.
//!
//! | bytes | what |
//! |---|---|
//! | 24 | `rectiflow executable 001` |
//! | 8 | length of the description, little endian |
//! | 32 | SHA-256 of the description |
//! | | the description: JSON, with the parts of the key and the SHA-256 of the payload |
//! | rest | the payload: what the plugin serialized |
//!
//! Every byte is under one of the digests or compared, so damage cannot pass; and the description
//! can be trusted without reading the payload. Nothing inside names a place on this machine.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::key::{Key, Part, hex};

const MAGIC: &[u8; 24] = b"rectiflow executable 001";

/// An executable on disk.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// What it depends on.
    pub key: Key,
    /// What the program was called when it was compiled; not part of the key.
    pub name: String,
    /// Length of its file.
    pub bytes: u64,
    /// How long it took to compile.
    pub compile_time: Duration,
    /// When it was compiled.
    pub created: SystemTime,
    /// When it was last loaded, by any process.
    pub last_used: SystemTime,
}

/// The description inside the file.
#[derive(Serialize, Deserialize)]
struct Description {
    name: String,
    parts: Vec<(String, String)>,
    compile_micros: u64,
    created_unix_seconds: u64,
    payload_bytes: u64,
    payload_sha256: String,
}

/// Why a file is not the executable that its name promises.
#[derive(Debug)]
pub(super) struct Damage(String);

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Damage {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Damage(message.into())
    }
}

impl From<io::Error> for Damage {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Damage::new("it ends too early"),
            _ => Damage::new(error.to_string()),
        }
    }
}

/// The bytes of a file before its payload.
pub(super) fn head(key: &Key, name: &str, compile_time: Duration, payload: &[u8]) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let parts = key.parts().iter().map(|part| (part.label.clone(), part.value.clone()));
    let description = Description {
        name: name.to_owned(),
        parts: parts.collect(),
        compile_micros: u64::try_from(compile_time.as_micros()).unwrap_or(u64::MAX),
        created_unix_seconds: now.as_secs(),
        payload_bytes: payload.len() as u64,
        payload_sha256: hex(&Sha256::digest(payload)),
    };
    let json = serde_json::to_vec(&description).expect("texts and numbers are JSON");
    let length = (json.len() as u64).to_le_bytes();
    [&MAGIC[..], &length, &Sha256::digest(&json), &json].concat()
}

/// Reads the description of the file at `path`, which must be that of its own name; `None` if there
/// is no such file.
pub(super) fn describe(path: &Path) -> Result<Option<Entry>, Damage> {
    Ok(open(path)?.map(|opened| opened.entry))
}

/// Reads the payload of the file at `path`, which must be that of its own name; `None` if there is
/// no such file.
pub(super) fn payload(path: &Path) -> Result<Option<Vec<u8>>, Damage> {
    let Some(Opened { mut file, payload_bytes, payload_sha256, .. }) = open(path)? else {
        return Ok(None);
    };
    let mut payload = Vec::new();
    file.read_to_end(&mut payload)?;
    if payload.len() as u64 != payload_bytes {
        let found = payload.len();
        return Err(Damage::new(format!("expected {payload_bytes} bytes of code, found {found}")));
    }
    let found = hex(&Sha256::digest(&payload));
    if found != payload_sha256 {
        return Err(Damage::new(format!("its code has sha256 {found}, not {payload_sha256}")));
    }
    Ok(Some(payload))
}

struct Opened {
    /// At the beginning of the payload.
    file: File,
    entry: Entry,
    payload_bytes: u64,
    payload_sha256: String,
}

fn open(path: &Path) -> Result<Option<Opened>, Damage> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    let description = description(&mut file, metadata.len())?;
    let parts = description.parts.into_iter().map(|(label, value)| Part::new(label, value));
    let key = Key::new(parts.collect());
    if path.file_stem().is_none_or(|stem| stem != key.to_string().as_str()) {
        return Err(Damage::new(format!("its name is not that of its key, {key:.12}")));
    }
    let entry = Entry {
        key,
        name: description.name,
        bytes: metadata.len(),
        compile_time: Duration::from_micros(description.compile_micros),
        created: UNIX_EPOCH + Duration::from_secs(description.created_unix_seconds),
        last_used: metadata.modified()?,
    };
    let Description { payload_bytes, payload_sha256, .. } = description;
    Ok(Some(Opened { file, entry, payload_bytes, payload_sha256 }))
}

/// Reads up to the payload.
fn description(file: &mut File, file_bytes: u64) -> Result<Description, Damage> {
    let mut start = [0; MAGIC.len() + 8 + 32];
    file.read_exact(&mut start)?;
    let (magic, rest) = start.split_at(MAGIC.len());
    let (length, digest) = rest.split_at(8);
    if magic != MAGIC {
        let found = magic.escape_ascii();
        return Err(Damage::new(format!("it begins with `{found}`, not the format's name")));
    }
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
    // A damaged length must not make us allocate it.
    if length > file_bytes {
        return Err(Damage::new("it is shorter than its description"));
    }
    let mut json = vec![0; length as usize];
    file.read_exact(&mut json)?;
    if Sha256::digest(&json)[..] != *digest {
        return Err(Damage::new("its description has another sha256 than it should"));
    }
    serde_json::from_slice(&json).map_err(|error| Damage::new(error.to_string()))
}
