//! As much of MLIR's bytecode as tells for how many devices a program is.
//!
//! Plugins compile a program for as many devices as they are told, whatever it says of itself. In
//! text that is easily seen; in bytecode it is an entry of the table of attributes:
//!
//! ```text
//! file       ::= "ML\xefR" version producer 0 section*
//! section    ::= id|0x80-if-aligned length [alignment 0xcb*] byte[length]
//! strings    ::= count length[count], last first, and then the strings, each with its 0
//! offsets    ::= n_attributes n_types (dialect count (length<<1|is_custom)[count])*
//! attributes ::= the entries one after another, each as its dialect writes it
//! ```
//!
//! What cannot be understood is no answer, rather than an error: the plugin reads it properly.

const MAGIC: usize = 4;
const STRINGS: usize = 0;
const ATTRIBUTES: usize = 2;
const OFFSETS: usize = 3;

/// How the builtin dialect numbers its attributes.
const DICTIONARY: u64 = 1;
const STRING: u64 = 2;
const INTEGER: u64 = 8;

/// The value of an integer attribute with this name, whatever it is attached to.
pub(super) fn integer_attribute(bytecode: &[u8], name: &str) -> Option<i64> {
    let sections = sections(bytecode)?;
    let names = strings(sections[STRINGS]?)?;
    let entries = entries(sections[OFFSETS]?, sections[ATTRIBUTES]?)?;
    let is_name = |entry: u64| -> Option<bool> {
        let mut reader = Reader(entries.get(usize::try_from(entry).ok()?)?);
        let is_string = reader.number()? == STRING;
        let text = names.get(usize::try_from(reader.number()?).ok()?)?;
        Some(is_string && *text == name.as_bytes())
    };
    for entry in &entries {
        let mut reader = Reader(entry);
        if reader.number() != Some(DICTIONARY) {
            continue;
        }
        for _ in 0..reader.number()? {
            let (key, value) = (reader.number()?, reader.number()?);
            if is_name(key) == Some(true) {
                return integer(entries.get(usize::try_from(value).ok()?)?);
            }
        }
    }
    None
}

/// An attribute of the builtin dialect with a type and a number of up to 64 bits.
fn integer(entry: &[u8]) -> Option<i64> {
    let mut reader = Reader(entry);
    if reader.number()? != INTEGER {
        return None;
    }
    let _type = reader.number()?;
    // Up to 8 bits are one byte as it is; wider ones have their sign in the lowest bit.
    match reader.0 {
        [byte] if byte & 1 == 0 => Some(i64::from(*byte)),
        _ => {
            let folded = reader.number()?;
            Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
        }
    }
}

fn sections(bytecode: &[u8]) -> Option<[Option<&[u8]>; 128]> {
    let mut sections = [None; 128];
    let mut reader = Reader(bytecode.get(MAGIC..)?);
    let _version = reader.number()?;
    let producer = reader.0.iter().position(|byte| *byte == 0)?;
    reader.take(producer + 1)?;
    while let Some(&[id]) = reader.take(1) {
        let length = usize::try_from(reader.number()?).ok()?;
        if id & 0x80 != 0 {
            let alignment = usize::try_from(reader.number()?).ok()?;
            let at = bytecode.len() - reader.0.len();
            reader.take(at.checked_next_multiple_of(alignment)? - at)?;
        }
        sections[usize::from(id & 0x7f)] = Some(reader.take(length)?);
    }
    Some(sections)
}

fn strings(section: &[u8]) -> Option<Vec<&[u8]>> {
    let mut reader = Reader(section);
    let lengths = (0..reader.number()?).map(|_| reader.number()).collect::<Option<Vec<_>>>()?;
    let string = |length: &u64| reader.take(usize::try_from(*length).ok()?)?.split_last();
    let texts = lengths.iter().rev().map(string).map(|split| Some(split?.1));
    texts.collect()
}

/// The attributes, without the types that come after them.
fn entries<'b>(offsets: &[u8], attributes: &'b [u8]) -> Option<Vec<&'b [u8]>> {
    let (mut offsets, mut attributes) = (Reader(offsets), Reader(attributes));
    let (n, _types) = (offsets.number()?, offsets.number()?);
    let mut entries = Vec::new();
    while (entries.len() as u64) < n {
        let _dialect = offsets.number()?;
        for _ in 0..offsets.number()? {
            entries.push(attributes.take(usize::try_from(offsets.number()? >> 1).ok()?)?);
        }
    }
    Some(entries)
}

/// What is left to read.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    /// The zeros below the lowest bit that is set tell how many bytes follow the first.
    fn number(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let n = first.trailing_zeros() as usize + 1;
        if n > 8 {
            self.take(1)?;
            return Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?));
        }
        let mut bytes = [0; 8];
        bytes[..n].copy_from_slice(self.take(n)?);
        Some(u64::from_le_bytes(bytes) >> n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_DEVICES: &[u8] = include_bytes!("../../tests/fixtures/two_devices.mlirbc");

    #[test]
    fn module_attributes_are_found_by_name() {
        let of = |bytecode, name| integer_attribute(bytecode, name);
        assert_eq!(of(TWO_DEVICES, "mhlo.num_partitions"), Some(2));
        assert_eq!(of(TWO_DEVICES, "mhlo.num_replicas"), Some(1));
        assert_eq!(of(TWO_DEVICES, "mhlo.num_nothing"), None);
        let one = include_bytes!("../../tests/fixtures/gelu.mlirbc");
        assert_eq!(of(one, "mhlo.num_partitions"), Some(1));
    }

    #[test]
    fn damage_is_no_answer_and_no_panic() {
        for end in 0..TWO_DEVICES.len() {
            integer_attribute(&TWO_DEVICES[..end], "mhlo.num_partitions");
        }
        for at in MAGIC..TWO_DEVICES.len() {
            for byte in [0, 1, 0x55, 0xff] {
                let mut damaged = TWO_DEVICES.to_vec();
                damaged[at] = byte;
                integer_attribute(&damaged, "mhlo.num_partitions");
            }
        }
    }
}
