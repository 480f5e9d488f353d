//! Key-value stores: how the processes of one job find each other.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use rectiflow_pjrt_sys as sys;

use crate::api::slice;
use crate::error::{Error, ErrorCode, Result};

/// A store that all processes of a job share.
///
/// Called from the plugin's threads, possibly several at once. An error's code
/// reaches the plugin; a panic is caught and reported as `INTERNAL`.
pub trait KeyValueStore: Send + Sync {
    /// Blocks until the key exists, at most for `timeout`.
    ///
    /// # Errors
    /// `DEADLINE_EXCEEDED` when the time is up.
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>>;

    /// The value if the key exists now. `Ok(None)` is reported as `NOT_FOUND`.
    ///
    /// # Errors
    /// Whatever keeps the store from answering.
    fn try_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Sets a value.
    ///
    /// # Errors
    /// Whatever keeps the store from accepting it.
    fn put(&self, key: &[u8], value: &[u8]) -> Result<()>;
}

/// What the C callbacks receive as `user_arg`.
pub(crate) struct Callbacks {
    store: Arc<dyn KeyValueStore>,
}

impl Callbacks {
    pub(crate) fn new(store: Arc<dyn KeyValueStore>) -> Self {
        Callbacks { store }
    }

    /// Registers the three callbacks. `self` must outlive the client.
    pub(crate) fn fill(&self, args: &mut sys::PJRT_Client_Create_Args) {
        let user_arg = (&raw const *self).cast_mut().cast::<c_void>();
        args.kv_get_callback = Some(get);
        args.kv_get_user_arg = user_arg;
        args.kv_put_callback = Some(put);
        args.kv_put_user_arg = user_arg;
        args.kv_try_get_callback = Some(try_get);
        args.kv_try_get_user_arg = user_arg;
    }
}

unsafe extern "C" fn get(args: *mut sys::PJRT_KeyValueGetCallback_Args) -> *mut sys::PJRT_Error {
    // SAFETY: the plugin passes a live struct, exclusively for this call.
    let args = unsafe { &mut *args };
    let timeout = Duration::from_millis(args.timeout_in_ms.max(0) as u64);
    // SAFETY: the key points to `key_size` bytes, `user_arg` to our `Callbacks`.
    let (key, store) =
        unsafe { (slice(args.key.cast::<u8>(), args.key_size), store(args.user_arg)) };
    match caught(|| store.get(key, timeout)) {
        Ok(value) => {
            (args.value, args.value_size) = lend(value);
            args.value_deleter_callback = Some(free_value);
            std::ptr::null_mut()
        }
        // SAFETY: the plugin's own error constructor.
        Err(error) => unsafe { report(args.callback_error, &error) },
    }
}

unsafe extern "C" fn try_get(
    args: *mut sys::PJRT_KeyValueTryGetCallback_Args,
) -> *mut sys::PJRT_Error {
    // SAFETY: the plugin passes a live struct, exclusively for this call.
    let args = unsafe { &mut *args };
    // SAFETY: the key points to `key_size` bytes, `user_arg` to our `Callbacks`.
    let (key, store) =
        unsafe { (slice(args.key.cast::<u8>(), args.key_size), store(args.user_arg)) };
    let missing = || Error::with_code(ErrorCode::NotFound, "the key does not exist");
    match caught(|| store.try_get(key)?.ok_or_else(missing)) {
        Ok(value) => {
            (args.value, args.value_size) = lend(value);
            args.value_deleter_callback = Some(free_value);
            std::ptr::null_mut()
        }
        // SAFETY: the plugin's own error constructor.
        Err(error) => unsafe { report(args.callback_error, &error) },
    }
}

unsafe extern "C" fn put(args: *mut sys::PJRT_KeyValuePutCallback_Args) -> *mut sys::PJRT_Error {
    // SAFETY: the plugin passes a live struct for this call.
    let args = unsafe { &*args };
    // SAFETY: key and value point to as many bytes as stated, `user_arg` to our
    // `Callbacks`.
    let (key, value, store) = unsafe {
        (
            slice(args.key.cast::<u8>(), args.key_size),
            slice(args.value.cast::<u8>(), args.value_size),
            store(args.user_arg),
        )
    };
    match caught(|| store.put(key, value)) {
        Ok(()) => std::ptr::null_mut(),
        // SAFETY: the plugin's own error constructor.
        Err(error) => unsafe { report(args.callback_error, &error) },
    }
}

/// # Safety
/// `user_arg` must be the pointer `Callbacks::fill` registered, still alive.
unsafe fn store<'a>(user_arg: *mut c_void) -> &'a dyn KeyValueStore {
    // SAFETY: as promised by the caller.
    unsafe { &*(*user_arg.cast::<Callbacks>()).store }
}

/// A panic must not unwind into the plugin.
fn caught<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    crate::caught::caught("the key-value store", run)
}

/// Bytes in front of a lent value that hold its length: the deleter is given
/// the value alone.
const LEN_BYTES: usize = size_of::<usize>();

/// Hands a value to the plugin, which copies it and calls [`free_value`].
fn lend(value: Vec<u8>) -> (*mut c_char, usize) {
    let len = value.len();
    let mut block = Vec::with_capacity(LEN_BYTES + len);
    block.extend_from_slice(&len.to_ne_bytes());
    block.extend_from_slice(&value);
    let start = Box::into_raw(block.into_boxed_slice()).cast::<u8>();
    // SAFETY: the block is longer than its header.
    (unsafe { start.add(LEN_BYTES) }.cast(), len)
}

unsafe extern "C" fn free_value(value: *mut c_char) {
    if value.is_null() {
        return;
    }
    // SAFETY: `value` came from `lend`, so the header precedes it, unaligned.
    unsafe {
        let start = value.cast::<u8>().sub(LEN_BYTES);
        let len = start.cast::<usize>().read_unaligned();
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, LEN_BYTES + len)));
    }
}

/// # Safety
/// `create` must be null or point to the plugin's error constructor.
unsafe fn report(create: *mut sys::PJRT_CallbackError, error: &Error) -> *mut sys::PJRT_Error {
    // SAFETY: as promised by the caller.
    let Some(create) = (unsafe { create.as_ref() }).copied().flatten() else {
        tracing::error!(%error, "the plugin gave no way to report a key-value error");
        return std::ptr::null_mut();
    };
    let message = error.to_string();
    // SAFETY: the constructor copies the message.
    unsafe { create(error.code().to_pjrt(), message.as_ptr().cast(), message.len()) }
}

#[cfg(test)]
mod tests;
