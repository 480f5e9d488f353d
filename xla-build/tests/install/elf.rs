//! Shared libraries with just the parts that are checked, written byte by byte.

const X86_64: u16 = 62;
const AARCH64: u16 = 183;
const DYNSYM: u32 = 11;
const STRTAB: u32 = 3;
const VERNEED: u32 = 0x6fff_fffe;
const WEAK: u16 = 2;

/// What a library says of itself.
pub(crate) struct Elf {
    machine: u16,
    symbol: &'static str,
    glibc: &'static str,
    weak: bool,
}

impl Elf {
    /// A plugin for x86-64 that needs an old glibc.
    pub(crate) fn plugin() -> Elf {
        Elf { machine: X86_64, symbol: "GetPjrtApi", glibc: "GLIBC_2.2.5", weak: false }
    }

    pub(crate) fn for_aarch64(mut self) -> Elf {
        self.machine = AARCH64;
        self
    }

    pub(crate) fn exporting(mut self, symbol: &'static str) -> Elf {
        self.symbol = symbol;
        self
    }

    pub(crate) fn needing(mut self, glibc: &'static str) -> Elf {
        self.glibc = glibc;
        self
    }

    pub(crate) fn weakly(mut self) -> Elf {
        self.weak = true;
        self
    }

    /// Header, strings, symbols, version needs, section headers.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let strings = format!("\0{}\0libc.so.6\0{}\0", self.symbol, self.glibc).into_bytes();
        let file = 1 + self.symbol.len() as u32 + 1;
        let version = file + "libc.so.6".len() as u32 + 1;
        let mut body = vec![0; 64];
        let mut sections = vec![[0; 64]];
        let mut add = |body: &mut Vec<u8>, kind, info: u32, entry: u64, content: &[u8]| {
            body.resize(body.len().next_multiple_of(8), 0);
            sections.push(section(kind, body.len() as u64, content.len() as u64, info, entry));
            body.extend(content);
        };
        add(&mut body, STRTAB, 0, 0, &strings);
        add(&mut body, DYNSYM, 1, 24, &symbols());
        add(&mut body, VERNEED, 1, 0, &self.version_need(file, version));
        body.resize(body.len().next_multiple_of(8), 0);
        let header = header(self.machine, body.len() as u64, sections.len() as u16);
        body[..64].copy_from_slice(&header);
        body.extend(sections.concat());
        body
    }

    fn version_need(&self, file: u32, version: u32) -> Vec<u8> {
        let mut need = Vec::new();
        for half in [1_u16, 1] {
            need.extend(half.to_le_bytes());
        }
        for word in [file, 16, 0, 0] {
            need.extend(word.to_le_bytes());
        }
        for half in [if self.weak { WEAK } else { 0 }, 2] {
            need.extend(half.to_le_bytes());
        }
        for word in [version, 0] {
            need.extend(word.to_le_bytes());
        }
        need
    }
}

/// The null symbol, and a global function whose name is the first string.
fn symbols() -> Vec<u8> {
    let mut table = vec![0; 24];
    table.extend(1_u32.to_le_bytes());
    table.extend([0x12, 0]);
    table.extend(1_u16.to_le_bytes());
    table.extend([0; 16]);
    table
}

fn section(kind: u32, offset: u64, size: u64, info: u32, entry: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[4..8].copy_from_slice(&kind.to_le_bytes());
    bytes[24..32].copy_from_slice(&offset.to_le_bytes());
    bytes[32..40].copy_from_slice(&size.to_le_bytes());
    // Strings are in section 1.
    bytes[40..44].copy_from_slice(&1_u32.to_le_bytes());
    bytes[44..48].copy_from_slice(&info.to_le_bytes());
    bytes[48..56].copy_from_slice(&8_u64.to_le_bytes());
    bytes[56..64].copy_from_slice(&entry.to_le_bytes());
    bytes
}

fn header(machine: u16, section_offset: u64, section_count: u16) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1]);
    bytes[16..18].copy_from_slice(&3_u16.to_le_bytes());
    bytes[18..20].copy_from_slice(&machine.to_le_bytes());
    bytes[20..24].copy_from_slice(&1_u32.to_le_bytes());
    bytes[40..48].copy_from_slice(&section_offset.to_le_bytes());
    for (at, half) in [(52, 64_u16), (54, 56), (58, 64), (60, section_count), (62, 1)] {
        bytes[at..at + 2].copy_from_slice(&half.to_le_bytes());
    }
    bytes
}
