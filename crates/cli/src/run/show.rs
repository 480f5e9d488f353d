//! Results for people: shape and numbers, long arrays cut in the middle.

use std::io::{self, Write};

use anyhow::{Context as _, Result};
use half::{bf16, f16};
use rectiflow_pjrt::{Buffer, ElementType};

use super::minifloat;

/// Arrays of up to this many elements are shown in full.
const IN_FULL: usize = 100;
/// Of a dimension that is cut, this many are shown at each end.
const ENDS: usize = 3;

pub(super) fn show(results: &[Buffer], out: &mut impl Write) -> Result<()> {
    for (i, result) in results.iter().enumerate() {
        let bytes = result.to_bytes().with_context(|| format!("cannot read result {i}"))?;
        writeln!(out, "{i}: {}", result.shape())?;
        let dims: Vec<usize> = result.dims().iter().map(|dim| *dim as usize).collect();
        let array = Array { bytes: &bytes, element_type: result.element_type(), dims: &dims };
        array.write(out)?;
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

struct Array<'a> {
    bytes: &'a [u8],
    element_type: ElementType,
    dims: &'a [usize],
}

impl Array<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_part(0, 0, out)
    }

    /// The part below `depth` leading indices, which begins at element `first`.
    fn write_part(&self, depth: usize, first: usize, out: &mut impl Write) -> io::Result<()> {
        let Some((n, inner)) = self.dims[depth..].split_first() else {
            return write!(out, "{}", element(self.bytes, first, self.element_type));
        };
        let stride: usize = inner.iter().product();
        let is_cut = self.dims.iter().product::<usize>() > IN_FULL && *n > 2 * ENDS + 1;
        let separator = match inner.len() {
            0 => ", ".to_owned(),
            // As many lines between parts as the parts have dimensions.
            rank => format!(",{}{}", "\n".repeat(rank), " ".repeat(depth + 1)),
        };
        write!(out, "[")?;
        for i in 0..*n {
            if is_cut && (ENDS..n - ENDS).contains(&i) {
                if i == ENDS {
                    write!(out, "{separator}...")?;
                }
                continue;
            }
            if i > 0 {
                write!(out, "{separator}")?;
            }
            self.write_part(depth + 1, first + i * stride, out)?;
        }
        write!(out, "]")
    }
}

/// The text of one element, of which `bytes` hold one after another.
fn element(bytes: &[u8], i: usize, element_type: ElementType) -> String {
    let width = element_type.host_bytes();
    let bytes = &bytes[i * width..][..width];
    macro_rules! read {
        ($number:ty) => {
            <$number>::from_le_bytes(bytes.try_into().expect("as many bytes as it is wide"))
        };
    }
    let complex = |real: String, imaginary: String| match imaginary.strip_prefix('-') {
        Some(size) => format!("{real}-{size}i"),
        None => format!("{real}+{imaginary}i"),
    };
    match element_type {
        ElementType::Pred => (bytes[0] != 0).to_string(),
        ElementType::S8 | ElementType::S4 | ElementType::S2 | ElementType::S1 => {
            read!(i8).to_string()
        }
        ElementType::U8 | ElementType::U4 | ElementType::U2 | ElementType::U1 => {
            read!(u8).to_string()
        }
        ElementType::S16 => read!(i16).to_string(),
        ElementType::S32 => read!(i32).to_string(),
        ElementType::S64 => read!(i64).to_string(),
        ElementType::U16 => read!(u16).to_string(),
        ElementType::U32 => read!(u32).to_string(),
        ElementType::U64 => read!(u64).to_string(),
        ElementType::F16 => read!(f16).to_string(),
        ElementType::BF16 => read!(bf16).to_string(),
        ElementType::F32 => read!(f32).to_string(),
        ElementType::F64 => read!(f64).to_string(),
        ElementType::C64 => {
            complex(element(bytes, 0, ElementType::F32), element(bytes, 1, ElementType::F32))
        }
        ElementType::C128 => {
            complex(element(bytes, 0, ElementType::F64), element(bytes, 1, ElementType::F64))
        }
        narrow => match bytes.first().map(|byte| minifloat::value(*byte, narrow)) {
            Some(Some(number)) => number.to_string(),
            _ => "?".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dims: &[usize]) -> String {
        let n: usize = dims.iter().product();
        let bytes: Vec<u8> = (0..n).flat_map(|i| (i as i32).to_le_bytes()).collect();
        let mut out = Vec::new();
        let array = Array { bytes: &bytes, element_type: ElementType::S32, dims };
        array.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn small_arrays_are_shown_in_full() {
        assert_eq!(shown(&[]), "0");
        assert_eq!(shown(&[0]), "[]");
        assert_eq!(shown(&[2, 3]), "[[0, 1, 2],\n [3, 4, 5]]");
        assert_eq!(shown(&[2, 2, 1]), "[[[0],\n  [1]],\n\n [[2],\n  [3]]]");
        assert!(!shown(&[100]).contains("..."));
    }

    #[test]
    fn large_arrays_are_cut_along_long_dimensions() {
        assert_eq!(shown(&[1000]), "[0, 1, 2, ..., 997, 998, 999]");
        let text = shown(&[500, 2]);
        assert!(text.starts_with("[[0, 1],\n [2, 3],\n [4, 5],\n ...,\n [994, 995],"), "{text}");
    }

    #[test]
    fn complex_numbers_have_one_sign() {
        let bytes = [1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat();
        assert_eq!(element(&bytes, 0, ElementType::C64), "1.5-2i");
        let bytes = [0f32.to_le_bytes(), 2f32.to_le_bytes()].concat();
        assert_eq!(element(&bytes, 0, ElementType::C64), "0+2i");
    }
}
