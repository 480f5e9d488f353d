//! Element types, and sets of them.

use std::fmt;

macro_rules! dtypes {
    ($($(#[doc = $doc:literal])+ $Variant:ident = $mlir:literal, $bits:literal, $class:ident;)*) => {
        /// An element type, as StableHLO and PJRT know it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum DType { $($(#[doc = $doc])+ $Variant),* }

        impl DType {
            /// Every element type, in declaration order.
            pub const ALL: &'static [DType] = &[$(DType::$Variant),*];

            /// The spelling inside `tensor<..>` in MLIR text.
            pub fn mlir(self) -> &'static str {
                match self { $(DType::$Variant => $mlir),* }
            }

            /// Bits of one element as the type defines them (1 for `pred`, 4 for `i4`);
            /// zero for tokens and tuples, which have no elements.
            pub fn bits(self) -> u32 {
                match self { $(DType::$Variant => $bits),* }
            }

            /// What kind of number the element is.
            pub fn class(self) -> Class {
                match self { $(DType::$Variant => Class::$class),* }
            }
        }
    };
}

dtypes! {
    /// Boolean.
    Pred = "i1", 1, Pred;
    /// Signed integer of 2 bits.
    I2 = "i2", 2, Signed;
    /// Signed integer of 4 bits.
    I4 = "i4", 4, Signed;
    /// Signed integer of 8 bits.
    I8 = "i8", 8, Signed;
    /// Signed integer of 16 bits.
    I16 = "i16", 16, Signed;
    /// Signed integer of 32 bits.
    I32 = "i32", 32, Signed;
    /// Signed integer of 64 bits.
    I64 = "i64", 64, Signed;
    /// Unsigned integer of 2 bits.
    U2 = "ui2", 2, Unsigned;
    /// Unsigned integer of 4 bits.
    U4 = "ui4", 4, Unsigned;
    /// Unsigned integer of 8 bits.
    U8 = "ui8", 8, Unsigned;
    /// Unsigned integer of 16 bits.
    U16 = "ui16", 16, Unsigned;
    /// Unsigned integer of 32 bits.
    U32 = "ui32", 32, Unsigned;
    /// Unsigned integer of 64 bits.
    U64 = "ui64", 64, Unsigned;
    /// Float of 4 bits: 2 exponent, 1 mantissa, finite only.
    F4E2M1FN = "f4E2M1FN", 4, Float;
    /// Float of 8 bits: 3 exponent, 4 mantissa.
    F8E3M4 = "f8E3M4", 8, Float;
    /// Float of 8 bits: 4 exponent, 3 mantissa.
    F8E4M3 = "f8E4M3", 8, Float;
    /// Float of 8 bits: 4 exponent, 3 mantissa, no infinities.
    F8E4M3FN = "f8E4M3FN", 8, Float;
    /// Float of 8 bits: 4 exponent (bias 11), 3 mantissa, no infinities, no negative zero.
    F8E4M3B11FNUZ = "f8E4M3B11FNUZ", 8, Float;
    /// Float of 8 bits: 4 exponent, 3 mantissa, no infinities, no negative zero.
    F8E4M3FNUZ = "f8E4M3FNUZ", 8, Float;
    /// Float of 8 bits: 5 exponent, 2 mantissa.
    F8E5M2 = "f8E5M2", 8, Float;
    /// Float of 8 bits: 5 exponent, 2 mantissa, no infinities, no negative zero.
    F8E5M2FNUZ = "f8E5M2FNUZ", 8, Float;
    /// Power of two of 8 exponent bits.
    F8E8M0FNU = "f8E8M0FNU", 8, Float;
    /// Brain float: 8 exponent, 7 mantissa.
    BF16 = "bf16", 16, Float;
    /// IEEE half.
    F16 = "f16", 16, Float;
    /// IEEE single.
    F32 = "f32", 32, Float;
    /// IEEE double.
    F64 = "f64", 64, Float;
    /// Complex of two singles.
    C64 = "complex<f32>", 64, Complex;
    /// Complex of two doubles.
    C128 = "complex<f64>", 128, Complex;
    /// Ordering of side effects; has no elements.
    Token = "token", 0, None;
    /// A tuple of shapes; has no elements of its own.
    Tuple = "tuple", 0, None;
}

/// What kind of number an element is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// `true` or `false`.
    Pred,
    /// Two's complement integer.
    Signed,
    /// Integer from zero.
    Unsigned,
    /// Floating point.
    Float,
    /// A real and an imaginary float.
    Complex,
    /// Not a number: token or tuple.
    None,
}

impl DType {
    /// Bytes of one element in a dense host array, where `pred` and sub-byte types take a byte.
    pub fn byte_size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Whether the type is a float (complex is not).
    pub fn is_float(self) -> bool {
        self.class() == Class::Float
    }

    /// Whether the type is a signed or unsigned integer (`pred` is not).
    pub fn is_integer(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// The greatest finite number of a float type; infinity for the others.
    pub fn greatest_finite(self) -> f64 {
        match self {
            DType::F4E2M1FN => 6.0,
            DType::F8E3M4 => 15.5,
            DType::F8E4M3 | DType::F8E4M3FNUZ => 240.0,
            DType::F8E4M3FN => 448.0,
            DType::F8E4M3B11FNUZ => 30.0,
            DType::F8E5M2 | DType::F8E5M2FNUZ => 57344.0,
            DType::F8E8M0FNU => 2f64.powi(127),
            DType::BF16 => half::bf16::MAX.to_f64(),
            DType::F16 => half::f16::MAX.to_f64(),
            DType::F32 => f32::MAX.into(),
            DType::F64 => f64::MAX,
            _ => f64::INFINITY,
        }
    }

    /// The type of the real part of a complex type; any other type is its own.
    pub fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mlir())
    }
}

/// A set of element types, as rows of the op table state it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DTypes {
    classes: &'static [Class],
    /// Only types of one of these; empty means every type of the classes.
    only: &'static [DType],
    /// None of these.
    except: &'static [DType],
    name: &'static str,
}

impl DTypes {
    /// Everything that has elements.
    pub const ANY: DTypes = DTypes::of(
        "any element type",
        &[Class::Pred, Class::Signed, Class::Unsigned, Class::Float, Class::Complex],
    );
    /// Everything but `pred`.
    pub const NUMBER: DTypes = DTypes::of(
        "an integer, float or complex type",
        &[Class::Signed, Class::Unsigned, Class::Float, Class::Complex],
    );
    /// Integers and floats.
    pub const REAL: DTypes =
        DTypes::of("an integer or float type", &[Class::Signed, Class::Unsigned, Class::Float]);
    /// Integers, floats and `pred`.
    pub const ORDERED: DTypes = DTypes::of(
        "pred, an integer or a float type",
        &[Class::Pred, Class::Signed, Class::Unsigned, Class::Float],
    );
    /// Floats.
    pub const FLOAT: DTypes = DTypes::of("a float type", &[Class::Float]);
    /// Floats and complex types.
    pub const INEXACT: DTypes =
        DTypes::of("a float or complex type", &[Class::Float, Class::Complex]);
    /// Integers.
    pub const INTEGER: DTypes = DTypes::of("an integer type", &[Class::Signed, Class::Unsigned]);
    /// Integers and `pred`.
    pub const BITS: DTypes =
        DTypes::of("pred or an integer type", &[Class::Pred, Class::Signed, Class::Unsigned]);
    /// Types with a sign.
    pub const SIGNED: DTypes = DTypes::of(
        "a signed integer, float or complex type",
        &[Class::Signed, Class::Float, Class::Complex],
    );
    /// Complex types.
    pub const COMPLEX: DTypes = DTypes::of("a complex type", &[Class::Complex]);
    /// The two types that are parts of a complex one.
    pub const PART: DTypes =
        DTypes { only: &[DType::F32, DType::F64], ..DTypes::of("f32 or f64", &[Class::Float]) };
    /// `pred` alone.
    pub const PRED: DTypes = DTypes::of("pred", &[Class::Pred]);
    /// Tuples alone.
    pub const TUPLE: DTypes =
        DTypes { only: &[DType::Tuple], ..DTypes::of("a tuple", &[Class::None]) };
    /// Everything but tuples, which compilers take apart.
    pub const VALUE: DTypes = DTypes {
        classes: &[
            Class::Pred,
            Class::Signed,
            Class::Unsigned,
            Class::Float,
            Class::Complex,
            Class::None,
        ],
        except: &[DType::Tuple],
        ..DTypes::of("an element type or a token", &[])
    };
    /// Everything, tokens and tuples too.
    pub const ALL: DTypes = DTypes::of(
        "any type",
        &[Class::Pred, Class::Signed, Class::Unsigned, Class::Float, Class::Complex, Class::None],
    );

    const fn of(name: &'static str, classes: &'static [Class]) -> DTypes {
        DTypes { classes, only: &[], except: &[], name }
    }

    /// Whether the set holds `dtype`.
    pub fn contains(self, dtype: DType) -> bool {
        self.classes.contains(&dtype.class())
            && (self.only.is_empty() || self.only.contains(&dtype))
            && !self.except.contains(&dtype)
    }

    /// The members, in the order of [`DType::ALL`].
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.iter().copied().filter(move |&d| self.contains(d))
    }
}

impl fmt::Display for DTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
