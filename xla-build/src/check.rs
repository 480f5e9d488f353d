//! What can be said about a library without loading it.
//!
//! The file is parsed, not trusted: every read is bounds-checked by the parser, and no code of
//! the library runs.

use std::fmt;
use std::fs::File;
use std::path::Path;

use object::Endianness;
use object::elf::{self, FileHeader64, VER_FLG_WEAK};
use object::read::elf::{FileHeader, SectionTable};
use object::read::{ReadCache, ReadRef};

use crate::error::{Code, Error, Result};
use crate::platform::Machine;

type Elf = FileHeader64<Endianness>;

/// A version of the GNU C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glibc {
    /// 2, so far.
    pub major: u32,
    /// The number after the point.
    pub minor: u32,
}

impl Glibc {
    /// The version that this process runs on; `None` under another C library.
    ///
    /// Read from the symbol versions that the mapped `libc.so.6` defines, since asking the library
    /// itself would take a foreign call.
    pub fn running() -> Option<Glibc> {
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let path = maps
            .lines()
            .filter_map(|line| line.find('/').map(|at| &line[at..]))
            .find(|path| path.ends_with("/libc.so.6") || path.contains("/libc-2."))?;
        let cache = ReadCache::new(File::open(path).ok()?);
        let library = Library::parse(&cache).ok()?;
        library.defined_versions().ok()?.into_iter().max()
    }

    /// Reads a symbol version such as `GLIBC_2.27`; private and other versions give `None`.
    fn from_symbol_version(name: &[u8]) -> Option<Glibc> {
        let text = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
        let mut parts = text.split('.').map(|p| p.parse().ok());
        Some(Glibc { major: parts.next()??, minor: parts.next()?? })
    }
}

impl fmt::Display for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Checks that a file is a PJRT plugin that this kind of machine can load.
///
/// # Errors
/// [`Code::NotFound`], [`Code::NotAPlugin`], [`Code::WrongArchitecture`] or
/// [`Code::GlibcTooOld`]. `None` for the machine or the glibc skips that check.
pub fn check_plugin(path: &Path, machine: Option<Machine>, glibc: Option<Glibc>) -> Result<()> {
    check_library(path, machine, glibc, Some("GetPjrtApi"))
}

/// As [`check_plugin`], for a library that need not be a plugin.
pub(crate) fn check_library(
    path: &Path,
    machine: Option<Machine>,
    glibc: Option<Glibc>,
    symbol: Option<&str>,
) -> Result<()> {
    let shown = path.display();
    let file = File::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(Code::NotFound, format!("{shown} does not exist"))
        }
        _ => Error::read(path, e),
    })?;
    if !file.metadata().is_ok_and(|m| m.is_file()) {
        return Err(Error::new(Code::NotAPlugin, format!("{shown} is not a file")));
    }
    let cache = ReadCache::new(file);
    let damaged = |e: object::Error| {
        let message = format!("{shown} is not a shared library for 64-bit Linux");
        Error::new(Code::NotAPlugin, message).because(e)
    };
    let library = Library::parse(&cache).map_err(damaged)?;
    if let Some(machine) = machine {
        library.check_machine(path, machine)?;
    }
    let needed = library.needed_glibc().map_err(damaged)?;
    if let (Some(needed), Some(running)) = (needed, glibc)
        && needed > running
    {
        let message = format!(
            "{shown} needs glibc {needed}, this system has {running}; use a newer system or \
             container image, or a plugin built for an older one"
        );
        return Err(Error::new(Code::GlibcTooOld, message));
    }
    match symbol {
        Some(symbol) if !library.exports(symbol).map_err(damaged)? => {
            let message =
                format!("{shown} is a library but no PJRT plugin: it exports no {symbol}");
            Err(Error::new(Code::NotAPlugin, message))
        }
        _ => Ok(()),
    }
}

struct Library<'data, R: ReadRef<'data>> {
    data: R,
    header: &'data Elf,
    endian: Endianness,
    sections: SectionTable<'data, Elf, R>,
}

impl<'data, R: ReadRef<'data>> Library<'data, R> {
    fn parse(data: R) -> object::Result<Self> {
        let header = Elf::parse(data)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, data)?;
        Ok(Library { data, header, endian, sections })
    }

    fn check_machine(&self, path: &Path, expected: Machine) -> Result<()> {
        let found = match self.header.e_machine(self.endian) {
            elf::EM_X86_64 => Machine::X86_64Linux,
            elf::EM_AARCH64 => Machine::Aarch64Linux,
            other => {
                let message = format!(
                    "{} is for another processor (ELF machine {}), this one needs {expected}",
                    path.display(),
                    other.0
                );
                return Err(Error::new(Code::WrongArchitecture, message));
            }
        };
        if found == expected {
            return Ok(());
        }
        let message = format!("{} is for {found}, this machine needs {expected}", path.display());
        Err(Error::new(Code::WrongArchitecture, message))
    }

    fn exports(&self, name: &str) -> object::Result<bool> {
        use object::read::elf::Sym;
        let symbols = self.sections.symbols(self.endian, self.data, elf::SHT_DYNSYM)?;
        for symbol in symbols.iter() {
            if !symbol.is_undefined(self.endian)
                && symbol.name(self.endian, symbols.strings())? == name.as_bytes()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The newest glibc version that the library insists on. A weak need only gives a warning when
    /// it is not met, so it does not count.
    fn needed_glibc(&self) -> object::Result<Option<Glibc>> {
        let mut newest = None;
        let Some((mut needs, link)) = self.sections.gnu_verneed(self.endian, self.data)? else {
            return Ok(None);
        };
        let strings = self.sections.strings(self.endian, self.data, link)?;
        while let Some((_, mut versions)) = needs.next()? {
            while let Some(version) = versions.next()? {
                if !version.vna_flags.get(self.endian).contains(VER_FLG_WEAK) {
                    let name = version.name(self.endian, strings)?;
                    newest = newest.max(Glibc::from_symbol_version(name));
                }
            }
        }
        Ok(newest)
    }

    fn defined_versions(&self) -> object::Result<Vec<Glibc>> {
        let mut defined = Vec::new();
        let Some((mut definitions, link)) = self.sections.gnu_verdef(self.endian, self.data)?
        else {
            return Ok(defined);
        };
        let strings = self.sections.strings(self.endian, self.data, link)?;
        while let Some((_, mut names)) = definitions.next()? {
            if let Some(name) = names.next()? {
                defined.extend(Glibc::from_symbol_version(name.name(self.endian, strings)?));
            }
        }
        Ok(defined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_versions_are_read_and_others_ignored() {
        let read = |text: &str| Glibc::from_symbol_version(text.as_bytes());
        assert_eq!(read("GLIBC_2.27"), Some(Glibc { major: 2, minor: 27 }));
        assert_eq!(read("GLIBC_2.2.5"), Some(Glibc { major: 2, minor: 2 }));
        assert_eq!(read("GLIBC_PRIVATE"), None);
        assert_eq!(read("GLIBCXX_3.4"), None);
        assert!(read("GLIBC_2.4") < read("GLIBC_2.27"), "versions are numbers, not text");
    }

    /// The other way to know the version on this machine: the loader's own answer.
    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_running_glibc_is_the_one_that_getconf_reports() {
        let Ok(output) = std::process::Command::new("getconf").arg("GNU_LIBC_VERSION").output()
        else {
            return;
        };
        let running = Glibc::running().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), format!("glibc {running}"));
    }
}
