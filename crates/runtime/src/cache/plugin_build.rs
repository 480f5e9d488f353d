//! Which build of a plugin is loaded.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::key::hex;

/// The SHA-256 of the plugin's file.
///
/// Version texts do not tell builds apart, nor do sizes, and not every plugin has an ELF build id.
/// Equal bytes are the same compiler, wherever the file lies and whatever its date.
///
/// Hashing hundreds of megabytes takes a good part of a second, so the answer is noted in `folder`.
/// The note is for one file as it is now: each write changes its `ctime`, which no call sets back.
pub(super) fn plugin_build(plugin: &Path, folder: Option<&Path>) -> io::Result<String> {
    let mut file = File::open(plugin)?;
    let note = match folder {
        Some(folder) => Some(folder.join(note_name(&file.metadata()?))),
        None => None,
    };
    let noted = note.as_ref().and_then(|note| fs::read_to_string(note).ok());
    if let Some(digest) = noted.filter(|text| is_digest(text)) {
        return Ok(digest);
    }
    let digest = digest(&mut file)?;
    if let Some(note) = note
        && let Err(error) = write(&note, &digest)
    {
        // Without a note the next process hashes again; that is all.
        tracing::debug!(note = %note.display(), %error, "cannot note the plugin's digest");
    }
    Ok(digest)
}

fn note_name(metadata: &Metadata) -> String {
    let parts = [
        metadata.dev().to_string(),
        metadata.ino().to_string(),
        metadata.size().to_string(),
        format!("{}.{:09}", metadata.ctime(), metadata.ctime_nsec()),
    ];
    format!("plugin-{}", parts.join("-"))
}

/// A torn note is no answer. A wrong one would be another digest, and so cost a compile at most.
fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn digest(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..count]);
    }
}

fn write(note: &Path, digest: &str) -> io::Result<()> {
    let folder = note.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(digest.as_bytes())?;
    file.persist(note)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(folder: &Path) -> usize {
        fs::read_dir(folder).map_or(0, |entries| entries.count())
    }

    #[test]
    fn equal_bytes_are_one_build_and_a_changed_byte_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let notes_folder = folder.path().join("notes");
        let (a, b) = (folder.path().join("a.so"), folder.path().join("b.so"));
        let build = |path: &Path| plugin_build(path, Some(&notes_folder)).unwrap();
        fs::write(&a, "one build").unwrap();
        fs::write(&b, "one build").unwrap();
        let first = build(&a);
        assert_eq!(first, hex(&Sha256::digest("one build")));
        assert_eq!(build(&b), first);
        assert_eq!(notes(&notes_folder), 2);

        // Same length, and even the same date.
        let date = fs::metadata(&a).unwrap().modified().unwrap();
        fs::write(&a, "two build").unwrap();
        File::options().write(true).open(&a).unwrap().set_modified(date).unwrap();
        assert_ne!(build(&a), first);
        assert_eq!(build(&a), plugin_build(&a, None).unwrap());
    }

    #[test]
    fn the_note_is_used_if_it_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let (plugin, notes) = (folder.path().join("a.so"), folder.path().join("notes"));
        fs::write(&plugin, "build").unwrap();
        let build = || plugin_build(&plugin, Some(&notes)).unwrap();
        let right = build();
        let note = fs::read_dir(&notes).unwrap().next().unwrap().unwrap().path();
        fs::write(&note, "0".repeat(64)).unwrap();
        assert_eq!(build(), "0".repeat(64), "hashed although it was noted");
        fs::write(&note, &right[..40]).unwrap();
        assert_eq!(build(), right, "a torn note was believed");
        assert_eq!(fs::read_to_string(&note).unwrap(), right);
    }
}
