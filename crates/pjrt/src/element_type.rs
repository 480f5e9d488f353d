//! Element types of arrays.

use std::fmt;

use rectiflow_pjrt_sys as sys;

use crate::error::{Error, Result};

macro_rules! element_types {
    ($($(#[$doc:meta])* $variant:ident = $pjrt:ident, $code:literal, $text:literal, $bits:literal;)*) => {
        /// The type of an array's elements: every type PJRT has.
        ///
        /// `Display` prints the name StableHLO text uses, such as `f32` or `ui4`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ElementType { $($(#[$doc])* $variant,)* }

        impl ElementType {
            /// All element types, in the order of the PJRT header.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant,)*];

            pub(crate) fn to_pjrt(self) -> sys::PJRT_Buffer_Type {
                match self {
                    $(ElementType::$variant => sys::PJRT_Buffer_Type::$pjrt,)*
                }
            }

            pub(crate) fn from_pjrt(raw: sys::PJRT_Buffer_Type) -> Result<Self> {
                match raw {
                    $(sys::PJRT_Buffer_Type::$pjrt => Ok(ElementType::$variant),)*
                    other => Err(Error::invalid(format!("unknown element type {}", other.0))),
                }
            }

            /// From `xla.PrimitiveType`, which HLO protos and the FFI use.
            pub(crate) fn from_hlo(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(ElementType::$variant),)*
                    _ => None,
                }
            }

            /// The name in StableHLO text.
            pub fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $text,)* }
            }

            /// Bits that carry information: 4 for `S4`, 1 for `Pred`, 0 for `Token`.
            pub const fn bits(self) -> usize {
                match self { $(ElementType::$variant => $bits,)* }
            }
        }
    };
}

element_types! {
    /// Boolean, one byte on the host, 0 or 1.
    Pred = PJRT_Buffer_Type_PRED, 1, "i1", 1;
    /// Signed 8-bit integer.
    S8 = PJRT_Buffer_Type_S8, 2, "i8", 8;
    /// Signed 16-bit integer.
    S16 = PJRT_Buffer_Type_S16, 3, "i16", 16;
    /// Signed 32-bit integer.
    S32 = PJRT_Buffer_Type_S32, 4, "i32", 32;
    /// Signed 64-bit integer.
    S64 = PJRT_Buffer_Type_S64, 5, "i64", 64;
    /// Unsigned 8-bit integer.
    U8 = PJRT_Buffer_Type_U8, 6, "ui8", 8;
    /// Unsigned 16-bit integer.
    U16 = PJRT_Buffer_Type_U16, 7, "ui16", 16;
    /// Unsigned 32-bit integer.
    U32 = PJRT_Buffer_Type_U32, 8, "ui32", 32;
    /// Unsigned 64-bit integer.
    U64 = PJRT_Buffer_Type_U64, 9, "ui64", 64;
    /// IEEE half precision.
    F16 = PJRT_Buffer_Type_F16, 10, "f16", 16;
    /// IEEE single precision.
    F32 = PJRT_Buffer_Type_F32, 11, "f32", 32;
    /// IEEE double precision.
    F64 = PJRT_Buffer_Type_F64, 12, "f64", 64;
    /// The upper half of an `F32`.
    BF16 = PJRT_Buffer_Type_BF16, 16, "bf16", 16;
    /// Complex number of two `F32`.
    C64 = PJRT_Buffer_Type_C64, 15, "complex<f32>", 64;
    /// Complex number of two `F64`.
    C128 = PJRT_Buffer_Type_C128, 18, "complex<f64>", 128;
    /// 8-bit float, 5 exponent and 2 mantissa bits.
    F8E5M2 = PJRT_Buffer_Type_F8E5M2, 19, "f8E5M2", 8;
    /// 8-bit float, 4 exponent and 3 mantissa bits, no infinities.
    F8E4M3FN = PJRT_Buffer_Type_F8E4M3FN, 20, "f8E4M3FN", 8;
    /// 8-bit float, 4 and 3 bits, bias 11, no infinities or negative zero.
    F8E4M3B11FNUZ = PJRT_Buffer_Type_F8E4M3B11FNUZ, 23, "f8E4M3B11FNUZ", 8;
    /// 8-bit float, 5 and 2 bits, no infinities or negative zero.
    F8E5M2FNUZ = PJRT_Buffer_Type_F8E5M2FNUZ, 24, "f8E5M2FNUZ", 8;
    /// 8-bit float, 4 and 3 bits, no infinities or negative zero.
    F8E4M3FNUZ = PJRT_Buffer_Type_F8E4M3FNUZ, 25, "f8E4M3FNUZ", 8;
    /// Signed 4-bit integer.
    S4 = PJRT_Buffer_Type_S4, 21, "i4", 4;
    /// Unsigned 4-bit integer.
    U4 = PJRT_Buffer_Type_U4, 22, "ui4", 4;
    /// Orders side effects; carries no data.
    Token = PJRT_Buffer_Type_TOKEN, 17, "!stablehlo.token", 0;
    /// Signed 2-bit integer.
    S2 = PJRT_Buffer_Type_S2, 26, "i2", 2;
    /// Unsigned 2-bit integer.
    U2 = PJRT_Buffer_Type_U2, 27, "ui2", 2;
    /// 8-bit float, 4 exponent and 3 mantissa bits, with infinities.
    F8E4M3 = PJRT_Buffer_Type_F8E4M3, 28, "f8E4M3", 8;
    /// 8-bit float, 3 exponent and 4 mantissa bits.
    F8E3M4 = PJRT_Buffer_Type_F8E3M4, 29, "f8E3M4", 8;
    /// 8-bit power of two, the scale of MX formats.
    F8E8M0FNU = PJRT_Buffer_Type_F8E8M0FNU, 33, "f8E8M0FNU", 8;
    /// 4-bit MX float.
    F4E2M1FN = PJRT_Buffer_Type_F4E2M1FN, 32, "f4E2M1FN", 4;
    /// Signed 1-bit integer.
    S1 = PJRT_Buffer_Type_S1, 30, "si1", 1;
    /// Unsigned 1-bit integer.
    U1 = PJRT_Buffer_Type_U1, 31, "ui1", 1;
    /// 6-bit MX float, 2 exponent and 3 mantissa bits.
    F6E2M3FN = PJRT_Buffer_Type_F6E2M3FN, 36, "f6E2M3FN", 6;
    /// 6-bit MX float, 3 exponent and 2 mantissa bits.
    F6E3M2FN = PJRT_Buffer_Type_F6E3M2FN, 35, "f6E3M2FN", 6;
}

impl ElementType {
    /// Bytes of one element in host memory. Types narrower than a byte take a
    /// whole byte each, the value in its low bits and signed ones sign extended:
    /// that is how they move to and from the host, however the device packs them. See
    /// [`packing`](crate::packing) for the dense form that files use.
    pub const fn host_bytes(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Minor version of the PJRT API that introduced the type. Plugins older than
    /// it do not refuse the type's code: they crash on it.
    pub(crate) fn since_minor(self) -> i32 {
        match self {
            ElementType::F8E4M3 | ElementType::F8E3M4 => 55,
            ElementType::F4E2M1FN | ElementType::F8E8M0FNU => 63,
            ElementType::S1 | ElementType::U1 => 94,
            // Absent from the headers of 0.105, present in a plugin of 0.115.
            ElementType::F6E2M3FN | ElementType::F6E3M2FN => 115,
            _ => 0,
        }
    }

    /// Whether one byte holds several elements when packed densely.
    pub fn is_sub_byte(self) -> bool {
        matches!(self.bits(), 2 | 4 | 6) || matches!(self, ElementType::S1 | ElementType::U1)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type whose memory is exactly one array element.
///
/// # Safety
/// `Self` must be plain bytes without padding, `size_of::<Self>()` must equal
/// `ELEMENT_TYPE.host_bytes()`, and if `ANY_BYTES` is true every bit pattern of
/// that size must be a valid `Self`. If it is false, exactly the patterns
/// `0` and `1` must be.
pub unsafe trait HostElement: Copy + Send + Sync + 'static {
    /// The element type this Rust type stands for.
    const ELEMENT_TYPE: ElementType;
    /// Whether every bit pattern is valid.
    const ANY_BYTES: bool = true;
}

macro_rules! host_elements {
    ($($rust:ty => $variant:ident;)*) => {$(
        const _: () = assert!(size_of::<$rust>() == ElementType::$variant.host_bytes());
        // SAFETY: a number or an array of numbers of the size checked above.
        unsafe impl HostElement for $rust {
            const ELEMENT_TYPE: ElementType = ElementType::$variant;
        }
    )*};
}

host_elements! {
    i8 => S8;
    i16 => S16;
    i32 => S32;
    i64 => S64;
    u8 => U8;
    u16 => U16;
    u32 => U32;
    u64 => U64;
    half::f16 => F16;
    half::bf16 => BF16;
    f32 => F32;
    f64 => F64;
    [f32; 2] => C64;
    [f64; 2] => C128;
}

// SAFETY: one byte, of which `false` is 0 and `true` is 1.
unsafe impl HostElement for bool {
    const ELEMENT_TYPE: ElementType = ElementType::Pred;
    const ANY_BYTES: bool = false;
}

/// Views elements as bytes.
pub(crate) fn as_bytes<T: HostElement>(elements: &[T]) -> &[u8] {
    // SAFETY: `HostElement` types are plain bytes without padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
