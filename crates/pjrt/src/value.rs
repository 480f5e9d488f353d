//! Named values: how PJRT passes options and attributes.

use std::fmt;

use rectiflow_pjrt_sys as sys;

use crate::api::{slice, string};
use crate::error::{Error, Result};

/// The value of an option or an attribute.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Text.
    String(String),
    /// A 64-bit integer.
    Int(i64),
    /// A list of 64-bit integers.
    IntList(Vec<i64>),
    /// A 32-bit float.
    Float(f32),
    /// A boolean.
    Bool(bool),
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::String(value.to_owned())
    }
}
impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::String(value)
    }
}
impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}
impl From<Vec<i64>> for Value {
    fn from(value: Vec<i64>) -> Self {
        Value::IntList(value)
    }
}
impl From<f32> for Value {
    fn from(value: f32) -> Self {
        Value::Float(value)
    }
}
impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::String(value) => f.write_str(value),
            Value::Int(value) => value.fmt(f),
            Value::IntList(value) => write!(f, "{value:?}"),
            Value::Float(value) => value.fmt(f),
            Value::Bool(value) => value.fmt(f),
        }
    }
}

/// A named option or attribute.
pub type NamedValue = (String, Value);

/// Copies an array of the plugin's named values. Values of a type this crate
/// does not know are an error, not a silent gap.
///
/// # Safety
/// `values` must be null or point to `len` well-formed named values.
pub(crate) unsafe fn read_values(
    values: *const sys::PJRT_NamedValue,
    len: usize,
) -> Result<Vec<NamedValue>> {
    // SAFETY: as promised by the caller.
    unsafe { slice(values, len) }
        .iter()
        // SAFETY: each element is well formed.
        .map(|value| unsafe { read_value(value) })
        .collect()
}

unsafe fn read_value(value: &sys::PJRT_NamedValue) -> Result<NamedValue> {
    use sys::PJRT_NamedValue_Type as Type;
    let data = value.__bindgen_anon_1;
    // SAFETY: the name points to `name_size` bytes.
    let name = unsafe { string(value.name, value.name_size) };
    // SAFETY: `type_` says which member of the union is set, and `value_size`
    // how many elements it points to.
    let read = unsafe {
        match value.type_ {
            Type::PJRT_NamedValue_kString => {
                Value::String(string(data.string_value, value.value_size))
            }
            Type::PJRT_NamedValue_kInt64 => Value::Int(data.int64_value),
            Type::PJRT_NamedValue_kInt64List => {
                Value::IntList(slice(data.int64_array_value, value.value_size).to_vec())
            }
            Type::PJRT_NamedValue_kFloat => Value::Float(data.float_value),
            Type::PJRT_NamedValue_kBool => Value::Bool(data.bool_value),
            other => {
                return Err(Error::invalid(format!(
                    "attribute {name} has unknown type {}",
                    other.0
                )));
            }
        }
    };
    Ok((name, read))
}

/// Borrows options in the C form, for the duration of one call.
pub(crate) fn c_values(values: &[NamedValue]) -> Vec<sys::PJRT_NamedValue> {
    values.iter().map(|(name, value)| c_value(name, value)).collect()
}

fn c_value(name: &str, value: &Value) -> sys::PJRT_NamedValue {
    use sys::PJRT_NamedValue__bindgen_ty_1 as Data;
    use sys::PJRT_NamedValue_Type as Type;
    let (type_, data, value_size) = match value {
        Value::String(text) => {
            (Type::PJRT_NamedValue_kString, Data { string_value: text.as_ptr().cast() }, text.len())
        }
        Value::Int(int) => (Type::PJRT_NamedValue_kInt64, Data { int64_value: *int }, 1),
        Value::IntList(list) => (
            Type::PJRT_NamedValue_kInt64List,
            Data { int64_array_value: list.as_ptr() },
            list.len(),
        ),
        Value::Float(float) => (Type::PJRT_NamedValue_kFloat, Data { float_value: *float }, 1),
        Value::Bool(bool) => (Type::PJRT_NamedValue_kBool, Data { bool_value: *bool }, 1),
    };
    sys::PJRT_NamedValue {
        // An element of an array: its size is the stride, so no padding here.
        struct_size: size_of::<sys::PJRT_NamedValue>(),
        extension_start: std::ptr::null_mut(),
        name: name.as_ptr().cast(),
        name_size: name.len(),
        type_,
        __bindgen_anon_1: data,
        value_size,
    }
}
