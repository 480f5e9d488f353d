//! The constants a program passes with a call.

use std::marker::PhantomData;

use rectiflow_pjrt_sys as sys;

use crate::api::slice;
use crate::element_type::{ElementType, HostElement};
use crate::error::{Error, Result};

/// Attributes by name: those of a call, or of a dictionary among them.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    raw: *const sys::XLA_FFI_Attrs,
    _borrow: PhantomData<&'a sys::XLA_FFI_Attrs>,
}

/// One attribute.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Attribute<'a> {
    /// A number or boolean: its type and bytes.
    Scalar(ElementType, &'a [u8]),
    /// Numbers of one type: their type and bytes.
    Array(ElementType, &'a [u8]),
    /// Text, usually UTF-8.
    String(&'a [u8]),
    /// Named attributes.
    Dictionary(Attributes<'a>),
}

impl<'a> Attributes<'a> {
    /// # Safety
    /// `raw` must be live for `'a`.
    pub(crate) unsafe fn new(raw: *const sys::XLA_FFI_Attrs) -> Self {
        Attributes { raw, _borrow: PhantomData }
    }

    /// All names, in XLA's order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.entries().map(|(name, _, _)| std::str::from_utf8(name).unwrap_or_default())
    }

    /// An attribute by name.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is of a kind or type this crate does not know.
    pub fn get(&self, name: &str) -> Result<Option<Attribute<'a>>> {
        let found = self.entries().find(|(found, _, _)| *found == name.as_bytes());
        // SAFETY: the entry's type says what its pointer points to.
        found.map(|(_, kind, data)| unsafe { read(name, kind, data) }).transpose()
    }

    /// A scalar attribute.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is missing or not a scalar of type `T`.
    pub fn scalar<T: HostElement>(&self, name: &str) -> Result<T> {
        match self.required(name)? {
            Attribute::Scalar(found, bytes) if found == T::ELEMENT_TYPE => {
                let value = elements::<T>(name, bytes)?;
                value.first().copied().ok_or_else(|| wrong(name, "an empty scalar"))
            }
            other => Err(wrong(name, &format!("{}, not {}", other.kind(), T::ELEMENT_TYPE))),
        }
    }

    /// An array attribute.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is missing or not an array of type `T`.
    pub fn array<T: HostElement>(&self, name: &str) -> Result<&'a [T]> {
        match self.required(name)? {
            Attribute::Array(found, bytes) if found == T::ELEMENT_TYPE => elements(name, bytes),
            other => {
                Err(wrong(name, &format!("{}, not an array of {}", other.kind(), T::ELEMENT_TYPE)))
            }
        }
    }

    /// A text attribute.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is missing or not UTF-8 text.
    pub fn string(&self, name: &str) -> Result<&'a str> {
        match self.required(name)? {
            Attribute::String(text) => {
                std::str::from_utf8(text).map_err(|_| wrong(name, "not UTF-8"))
            }
            other => Err(wrong(name, &format!("{}, not text", other.kind()))),
        }
    }

    /// A dictionary attribute.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is missing or not a dictionary.
    pub fn dictionary(&self, name: &str) -> Result<Attributes<'a>> {
        match self.required(name)? {
            Attribute::Dictionary(attributes) => Ok(attributes),
            other => Err(wrong(name, &format!("{}, not a dictionary", other.kind()))),
        }
    }

    fn required(&self, name: &str) -> Result<Attribute<'a>> {
        self.get(name)?.ok_or_else(|| wrong(name, "missing"))
    }

    fn entries(
        &self,
    ) -> impl Iterator<Item = (&'a [u8], sys::XLA_FFI_AttrType, *const std::ffi::c_void)> {
        // SAFETY: `raw` is live for `'a`, and its three lists have `size` entries,
        // each name pointing to its text.
        unsafe {
            let attrs = &*self.raw;
            let n = attrs.size.max(0) as usize;
            let names = slice::<'a, _>(attrs.names.cast_const(), n);
            let kinds = slice::<'a, _>(attrs.types.cast_const(), n);
            let data = slice::<'a, _>(attrs.attrs.cast_const(), n);
            names.iter().zip(kinds).zip(data).map(|((name, kind), data)| {
                (slice::<'a, u8>((**name).ptr.cast(), (**name).len), *kind, data.cast_const())
            })
        }
    }
}

impl Attribute<'_> {
    fn kind(&self) -> String {
        match self {
            Attribute::Scalar(element_type, _) => format!("a scalar of {element_type}"),
            Attribute::Array(element_type, _) => format!("an array of {element_type}"),
            Attribute::String(_) => "text".to_owned(),
            Attribute::Dictionary(_) => "a dictionary".to_owned(),
        }
    }
}

fn wrong(name: &str, what: &str) -> Error {
    Error::invalid(format!("attribute {name} is {what}"))
}

/// # Safety
/// `data` must point to what `kind` says, live for `'a`.
unsafe fn read<'a>(
    name: &str,
    kind: sys::XLA_FFI_AttrType,
    data: *const std::ffi::c_void,
) -> Result<Attribute<'a>> {
    use sys::XLA_FFI_AttrType as Kind;
    // SAFETY: as promised by the caller; each struct points to live memory of the
    // size it states.
    unsafe {
        match kind {
            Kind::XLA_FFI_AttrType_SCALAR => {
                let scalar = &*data.cast::<sys::XLA_FFI_Scalar>();
                let element_type = element_type(name, scalar.dtype)?;
                let bytes = slice(scalar.value.cast::<u8>(), element_type.host_bytes());
                Ok(Attribute::Scalar(element_type, bytes))
            }
            Kind::XLA_FFI_AttrType_ARRAY => {
                let array = &*data.cast::<sys::XLA_FFI_Array>();
                let element_type = element_type(name, array.dtype)?;
                let n_bytes = array.size * element_type.host_bytes();
                Ok(Attribute::Array(element_type, slice(array.data.cast::<u8>(), n_bytes)))
            }
            Kind::XLA_FFI_AttrType_STRING => {
                let text = &*data.cast::<sys::XLA_FFI_ByteSpan>();
                Ok(Attribute::String(slice(text.ptr.cast(), text.len)))
            }
            Kind::XLA_FFI_AttrType_DICTIONARY => {
                Ok(Attribute::Dictionary(Attributes::new(data.cast())))
            }
            other => Err(wrong(name, &format!("of unknown kind {}", other.0))),
        }
    }
}

fn element_type(name: &str, raw: sys::XLA_FFI_DataType) -> Result<ElementType> {
    let code = raw.0 as i32;
    ElementType::from_hlo(code)
        .ok_or_else(|| wrong(name, &format!("of unknown element type {code}")))
}

/// Reads bytes as elements.
fn elements<'a, T: HostElement>(name: &str, bytes: &'a [u8]) -> Result<&'a [T]> {
    if bytes.is_empty() {
        return Ok(&[]);
    }
    if !bytes.as_ptr().cast::<T>().is_aligned() {
        return Err(wrong(name, "not aligned to its elements"));
    }
    if !T::ANY_BYTES && bytes.iter().any(|byte| *byte > 1) {
        return Err(wrong(name, "a boolean that is neither 0 nor 1"));
    }
    // SAFETY: alignment and validity were checked, and the length is rounded down.
    Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) })
}
