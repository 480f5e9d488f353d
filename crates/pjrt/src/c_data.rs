//! Data in the form C wants it: padded argument structs, texts, arrays.

use std::ffi::c_char;
use std::ops::{Deref, DerefMut};

/// Zero bytes appended to each argument struct, and counted in its
/// `struct_size`. A plugin refuses a struct shorter than the one it was built
/// with, so without them every field added upstream would lock us out; zero is
/// what every PJRT field means by "not given".
const PADDING_WORDS: usize = 16;

/// A C struct whose first field is `size_t struct_size`, and for which all-zero
/// bytes are a valid value.
///
/// # Safety
/// Both must hold; the padding and zeroing below rely on them.
pub(crate) unsafe trait CStruct: Sized {}

/// A zeroed, padded argument struct with `struct_size` filled in.
#[repr(C)]
pub(crate) struct Padded<A> {
    args: A,
    padding: [usize; PADDING_WORDS],
}

impl<A: CStruct> Padded<A> {
    pub(crate) fn new() -> Self {
        // SAFETY: `CStruct` promises that zero bytes are a valid `A`, and they
        // are a valid integer array.
        let mut padded: Self = unsafe { std::mem::zeroed() };
        // SAFETY: `CStruct` promises that the first field is a `size_t`.
        unsafe { (&raw mut padded).cast::<usize>().write(size_of::<Self>()) };
        padded
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut A {
        (&raw mut *self).cast()
    }
}

impl<A> Deref for Padded<A> {
    type Target = A;
    fn deref(&self) -> &A {
        &self.args
    }
}

impl<A> DerefMut for Padded<A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.args
    }
}

/// Copies a string of the plugin's, which is not always valid UTF-8.
///
/// # Safety
/// `data` must be null or point to `len` bytes.
pub(crate) unsafe fn string(data: *const c_char, len: usize) -> String {
    // SAFETY: as promised by the caller.
    String::from_utf8_lossy(unsafe { slice(data.cast::<u8>(), len) }).into_owned()
}

/// Borrows an array of the plugin's; null is an empty array.
///
/// # Safety
/// `data` must be null or point to `len` values that live as long as `'a`.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(data, len) }
}
