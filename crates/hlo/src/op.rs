//! The machinery of the op table: what a row declares and what comes of it.

use num_complex::Complex64;

use crate::{DTypes, Shape, Tensor, error::Mismatch};

/// What a shape rule looks at.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Shapes of the operands.
    pub operands: &'a [Shape],
    /// Types of the regions.
    pub regions: &'a [RegionType],
}

/// Shapes that go into and come out of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionType {
    /// Shapes of its parameters.
    pub parameters: Vec<Shape>,
    /// Shapes of its results.
    pub results: Vec<Shape>,
    /// Number of values it uses from outside.
    pub captures: usize,
}

/// Result shapes, or what is wrong.
pub(crate) type Inferred = Result<Vec<Shape>, Mismatch>;

/// What an elementwise op computes from one element of each operand, exactly rounded: the
/// reference that conformance tests hold a plugin to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meaning {
    /// On floats, evaluated in `f64`.
    pub real: Option<fn(&[f64]) -> f64>,
    /// On integers of the given number of bits (negative for signed ones) before wrapping to that
    /// width, and on `pred` as 0 and 1 with one bit.
    pub integer: Option<fn(&[i128], Width) -> i128>,
    /// On complex numbers.
    pub complex: Option<fn(&[Complex64]) -> Complex64>,
}

/// Width of an integer type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// Number of bits.
    pub bits: u32,
    /// Whether it is two's complement.
    pub signed: bool,
}

impl Meaning {
    pub(crate) const fn real(f: fn(&[f64]) -> f64) -> Meaning {
        Meaning { real: Some(f), integer: None, complex: None }
    }

    pub(crate) const fn integer(f: fn(&[i128], Width) -> i128) -> Meaning {
        Meaning { real: None, integer: Some(f), complex: None }
    }

    pub(crate) const fn complex(f: fn(&[Complex64]) -> Complex64) -> Meaning {
        Meaning { real: None, integer: None, complex: Some(f) }
    }

    pub(crate) const fn or_integer(self, f: fn(&[i128], Width) -> i128) -> Meaning {
        Meaning { integer: Some(f), ..self }
    }

    pub(crate) const fn or_complex(self, f: fn(&[Complex64]) -> Complex64) -> Meaning {
        Meaning { complex: Some(f), ..self }
    }
}

/// A row of the table, as data for documentation and tests.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name in StableHLO text.
    pub mnemonic: &'static str,
    /// Method of [`Tensor`](crate::Tensor) or [`Graph`](crate::Graph) that records it.
    pub method: &'static str,
    /// Documentation.
    pub doc: &'static str,
    /// Names of the operands after the first, for methods that take a fixed number.
    pub operands: &'static [&'static str],
    /// Records the op on its operands, when it has no attributes and a fixed number of them.
    pub record: Option<fn(&[&Tensor]) -> Tensor>,
    /// Names of the attributes.
    pub attributes: &'static [&'static str],
    /// Element types that the first operand may have.
    pub dtypes: DTypes,
    /// What it computes, when it is elementwise.
    pub meaning: Option<Meaning>,
}

/// Derives from the rows: the [`Op`](crate::Op) enum, the recording methods, attributes, rules,
/// and [`Op::TABLE`](crate::Op::TABLE). A row reads
///
/// `Variant { attributes } = "mnemonic", kind method(operands after self), dtypes, rule => meaning;`
///
/// where `kind` is `strict` (operands as given), `broadcast` (operands brought to one shape first)
/// or `by_hand` (the method is written out in `build/`).
macro_rules! ops {
    ($(
        $(#[doc = $doc:literal])+
        $Variant:ident { $($attr:ident : $ty:ty),* } = $mnemonic:literal,
        $kind:ident $method:ident ( $($operand:ident),* ), $dtypes:expr, $rule:expr
        $(=> $meaning:expr)?;
    )*) => {
        /// An operation and its attributes, in the order of the table.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Op {
            $($(#[doc = $doc])+ $Variant {
                $(#[doc = concat!("Attribute `", stringify!($attr), "`.")] $attr: $ty),*
            }),*
        }

        impl Op {
            /// Every row.
            pub const TABLE: &'static [Row] = &[$(Row {
                mnemonic: $mnemonic,
                method: stringify!($method),
                doc: concat!($($doc, "\n"),+),
                operands: &[$(stringify!($operand)),*],
                record: ops!(@record $kind $Variant { $($attr)* }),
                attributes: &[$(stringify!($attr)),*],
                dtypes: $dtypes,
                meaning: ops!(@meaning $($meaning)?),
            }),*];

            /// Name in StableHLO text.
            pub fn mnemonic(&self) -> &'static str {
                match self { $(Op::$Variant { .. } => $mnemonic),* }
            }

            /// The attributes that are written, by name, in MLIR text.
            pub fn attributes(&self) -> Vec<(&'static str, String)> {
                match self { $(Op::$Variant { $($attr),* } => {
                    let all: &[(&'static str, Option<String>)] =
                        &[$((stringify!($attr), Attribute::mlir($attr))),*];
                    all.iter().filter_map(|(name, text)| Some((*name, text.clone()?))).collect()
                }),* }
            }

            /// Shapes of the results.
            ///
            /// # Errors
            /// What the op expects and what it was given.
            pub fn infer(&self, inputs: &Inputs<'_>) -> Result<Vec<Shape>, Mismatch> {
                match self { $(Op::$Variant { $($attr),* } => {
                    $crate::rules::check_dtype(inputs, $dtypes)?;
                    ($rule)(inputs $(, $attr)*)
                }),* }
            }
        }

        $(ops! { @$kind $(#[doc = $doc])+ $Variant { $($attr : $ty),* } $method($($operand),*) })*
    };
    (@record by_hand $Variant:ident $attrs:tt) => { None };
    (@record $kind:ident $Variant:ident {}) => {
        Some(|operands| Tensor::$kind(Op::$Variant {}, operands))
    };
    (@record $kind:ident $Variant:ident $attrs:tt) => { None };
    (@meaning) => { None };
    (@meaning $meaning:expr) => { Some($meaning) };
    (@by_hand $($row:tt)*) => {};
    (@strict $($row:tt)*) => { ops! { @method strict $($row)* } };
    (@broadcast $($row:tt)*) => { ops! { @method broadcast $($row)* } };
    (@method $kind:ident $(#[doc = $doc:literal])+ $Variant:ident { $($attr:ident : $ty:ty),* } $method:ident($($operand:ident),*)) => {
        impl Tensor {
            $(#[doc = $doc])+
            #[track_caller]
            pub fn $method(&self $(, $operand: &Tensor)* $(, $attr: impl Into<$ty>)*) -> Tensor {
                let op = Op::$Variant { $($attr: $attr.into()),* };
                Tensor::$kind(op, &[self $(, $operand)*])
            }
        }
    };
}
pub(crate) use ops;
