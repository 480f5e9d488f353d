//! Elements narrower than a byte: the dense form and the host form.
//!
//! PJRT exchanges `S4`, `U2` and their like one element per byte. Files and
//! device memory pack them, first element in the low bits of the first byte.

use crate::element_type::ElementType;
use crate::error::{Error, Result};

/// Spreads densely packed elements to one per byte. Signed types are sign
/// extended, all others zero extended.
///
/// # Errors
/// `INVALID_ARGUMENT` if the type is not 1, 2 or 4 bits wide and packable, or
/// `packed` is not `len` elements long.
pub fn unpack(packed: &[u8], element_type: ElementType, len: usize) -> Result<Vec<u8>> {
    let bits = packed_bits(element_type)?;
    let needed = len
        .checked_mul(bits)
        .ok_or_else(|| Error::invalid(format!("{len} elements of {element_type} are too many")))?
        .div_ceil(8);
    if packed.len() != needed {
        return Err(Error::invalid(format!(
            "{len} packed elements of {element_type} take {needed} bytes, found {}",
            packed.len()
        )));
    }
    let signed = matches!(element_type, ElementType::S1 | ElementType::S2 | ElementType::S4);
    let spread = |i: usize| {
        let low = (packed[i * bits / 8] >> (i * bits % 8)) << (8 - bits);
        // The value now sits in the high bits; shifting back extends it.
        if signed { ((low as i8) >> (8 - bits)) as u8 } else { low >> (8 - bits) }
    };
    Ok((0..len).map(spread).collect())
}

/// Packs elements held one per byte. Bits above the element's width are ignored.
///
/// # Errors
/// `INVALID_ARGUMENT` if the type is not 1, 2 or 4 bits wide and packable.
pub fn pack(unpacked: &[u8], element_type: ElementType) -> Result<Vec<u8>> {
    let bits = packed_bits(element_type)?;
    let mask = (1u8 << bits) - 1;
    let mut packed = vec![0u8; (unpacked.len() * bits).div_ceil(8)];
    for (i, byte) in unpacked.iter().enumerate() {
        packed[i * bits / 8] |= (byte & mask) << (i * bits % 8);
    }
    Ok(packed)
}

/// Gives narrow signed elements their sign: plugins differ in whether the bits
/// above a value copy its sign or are zero.
pub(crate) fn sign_extend(bytes: &mut [u8], element_type: ElementType) {
    let bits = match element_type {
        ElementType::S1 | ElementType::S2 | ElementType::S4 => element_type.bits(),
        _ => return,
    };
    for byte in bytes {
        *byte = (((*byte << (8 - bits)) as i8) >> (8 - bits)) as u8;
    }
}

fn packed_bits(element_type: ElementType) -> Result<usize> {
    match element_type.bits() {
        // Six-bit elements do not divide a byte; PJRT defines no packing for them.
        bits @ (1 | 2 | 4) if element_type.is_sub_byte() => Ok(bits),
        _ => Err(Error::invalid(format!("{element_type} is not packed below a byte"))),
    }
}
