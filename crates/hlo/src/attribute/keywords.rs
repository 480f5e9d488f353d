//! Attributes that are one word of a fixed set.

use super::{Attribute, list};

macro_rules! keywords {
    ($(#[doc = $doc:literal])+ $Name:ident = $mlir:literal { $($(#[doc = $vdoc:literal])+ $Variant:ident = $word:literal),* $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $Name { $($(#[doc = $vdoc])+ $Variant),* }
        impl $Name {
            fn word(self) -> &'static str {
                match self { $($Name::$Variant => $word),* }
            }
        }
        impl Attribute for $Name {
            fn mlir(&self) -> Option<String> {
                Some(format!(concat!("#stablehlo<", $mlir, " {}>"), self.word()))
            }
        }
    };
}

keywords! {
    /// Which comparison.
    Direction = "comparison_direction" {
        /// Equal.
        Eq = "EQ",
        /// Not equal; true for NaN.
        Ne = "NE",
        /// Greater or equal.
        Ge = "GE",
        /// Greater.
        Gt = "GT",
        /// Less or equal.
        Le = "LE",
        /// Less.
        Lt = "LT",
    }
}

keywords! {
    /// How elements compare.
    CompareType = "comparison_type" {
        /// IEEE: NaN is unordered.
        Float = "FLOAT",
        /// Total order of floats: -NaN, -inf, .., -0, +0, .., inf, NaN.
        TotalOrder = "TOTALORDER",
        /// Two's complement.
        Signed = "SIGNED",
        /// From zero; also for `pred`.
        Unsigned = "UNSIGNED",
    }
}

keywords! {
    /// How exactly a device multiplies floats; what each means is the platform's choice.
    Precision = "precision" {
        /// The fastest.
        Default = "DEFAULT",
        /// Better.
        High = "HIGH",
        /// The most exact.
        Highest = "HIGHEST",
    }
}

/// One per operand.
impl Attribute for Vec<Precision> {
    fn mlir(&self) -> Option<String> {
        Some(format!("[{}]", list(self.iter().filter_map(Attribute::mlir))))
    }
}

keywords! {
    /// Counter-based generator of random bits.
    RngAlgorithm = "rng_algorithm" {
        /// The platform's choice.
        Default = "DEFAULT",
        /// Threefry-2x32; the state is 2 x u64.
        ThreeFry = "THREE_FRY",
        /// Philox-4x32; the state is 2 or 3 x u64.
        Philox = "PHILOX",
    }
}
