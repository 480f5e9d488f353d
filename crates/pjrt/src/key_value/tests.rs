//! The callbacks, called as a plugin calls them.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex};

use super::*;

#[derive(Default)]
struct MemoryStore {
    values: Mutex<HashMap<Vec<u8>, Vec<u8>>>,
    changed: Condvar,
}

impl KeyValueStore for MemoryStore {
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>> {
        let values = self.values.lock().expect("not poisoned");
        let absent = |values: &mut HashMap<_, _>| !values.contains_key(key);
        let (values, _) =
            self.changed.wait_timeout_while(values, timeout, absent).expect("not poisoned");
        let late = || Error::with_code(ErrorCode::DeadlineExceeded, "nobody put it");
        values.get(key).cloned().ok_or_else(late)
    }

    fn try_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        assert_ne!(key, b"panic", "asked to");
        Ok(self.values.lock().expect("not poisoned").get(key).cloned())
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        if key.is_empty() {
            return Err(Error::invalid("empty key"));
        }
        self.values.lock().expect("not poisoned").insert(key.to_vec(), value.to_vec());
        self.changed.notify_all();
        Ok(())
    }
}

/// What the stand-in for the plugin's error constructor makes.
struct Reported(u32, String);

unsafe extern "C" fn create(
    code: sys::PJRT_Error_Code,
    message: *const c_char,
    len: usize,
) -> *mut sys::PJRT_Error {
    // SAFETY: the callback passes a live message.
    let message = unsafe { crate::api::string(message, len) };
    Box::into_raw(Box::new(Reported(code.0, message))).cast()
}

/// Takes back what `create` made; `None` for success.
fn reported(error: *mut sys::PJRT_Error) -> Option<(u32, String)> {
    if error.is_null() {
        return None;
    }
    // SAFETY: errors come from `create`.
    let Reported(code, message) = *unsafe { Box::from_raw(error.cast::<Reported>()) };
    Some((code, message))
}

struct Plugin {
    args: sys::PJRT_Client_Create_Args,
    create: sys::PJRT_CallbackError,
    _callbacks: Box<Callbacks>,
}

impl Plugin {
    fn new() -> Self {
        let callbacks = Box::new(Callbacks::new(Arc::new(MemoryStore::default())));
        // SAFETY: zero is valid for every field.
        let mut args: sys::PJRT_Client_Create_Args = unsafe { std::mem::zeroed() };
        callbacks.fill(&mut args);
        Plugin { args, create: Some(create), _callbacks: callbacks }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Option<(u32, String)> {
        // SAFETY: zero is valid for every field; the callback gets live texts.
        unsafe {
            let mut args: sys::PJRT_KeyValuePutCallback_Args = std::mem::zeroed();
            (args.key, args.key_size) = (key.as_ptr().cast(), key.len());
            (args.value, args.value_size) = (value.as_ptr().cast(), value.len());
            args.callback_error = &raw mut self.create;
            args.user_arg = self.args.kv_put_user_arg;
            reported(self.args.kv_put_callback.expect("registered")(&raw mut args))
        }
    }

    fn get(&mut self, key: &[u8], timeout_ms: i32) -> Result<Vec<u8>, (u32, String)> {
        // SAFETY: as above; the value is copied, then freed by its deleter.
        unsafe {
            let mut args: sys::PJRT_KeyValueGetCallback_Args = std::mem::zeroed();
            (args.key, args.key_size) = (key.as_ptr().cast(), key.len());
            args.timeout_in_ms = timeout_ms;
            args.callback_error = &raw mut self.create;
            args.user_arg = self.args.kv_get_user_arg;
            let error = self.args.kv_get_callback.expect("registered")(&raw mut args);
            reported(error).map_or(Ok(()), Err)?;
            let value = slice(args.value.cast::<u8>(), args.value_size).to_vec();
            args.value_deleter_callback.expect("set")(args.value);
            Ok(value)
        }
    }

    fn try_get(&mut self, key: &[u8]) -> Result<Vec<u8>, (u32, String)> {
        // SAFETY: as above.
        unsafe {
            let mut args: sys::PJRT_KeyValueTryGetCallback_Args = std::mem::zeroed();
            (args.key, args.key_size) = (key.as_ptr().cast(), key.len());
            args.callback_error = &raw mut self.create;
            args.user_arg = self.args.kv_try_get_user_arg;
            let error = self.args.kv_try_get_callback.expect("registered")(&raw mut args);
            reported(error).map_or(Ok(()), Err)?;
            let value = slice(args.value.cast::<u8>(), args.value_size).to_vec();
            args.value_deleter_callback.expect("set")(args.value);
            Ok(value)
        }
    }
}

#[test]
fn values_come_back() {
    let mut plugin = Plugin::new();
    assert_eq!(plugin.put(b"key", b"a\0b"), None);
    assert_eq!(plugin.get(b"key", 0), Ok(b"a\0b".to_vec()));
    assert_eq!(plugin.try_get(b"key"), Ok(b"a\0b".to_vec()));
    assert_eq!(plugin.put(b"empty", b""), None);
    assert_eq!(plugin.get(b"empty", 0), Ok(Vec::new()));
}

#[test]
fn errors_carry_their_codes() {
    let mut plugin = Plugin::new();
    assert_eq!(plugin.get(b"absent", 1), Err((4, "nobody put it".to_owned())));
    assert_eq!(plugin.try_get(b"absent"), Err((5, "the key does not exist".to_owned())));
    assert_eq!(plugin.put(b"", b"x"), Some((3, "empty key".to_owned())));
}

#[test]
fn panics_are_caught() {
    let (code, message) = Plugin::new().try_get(b"panic").expect_err("it panics");
    assert_eq!(code, 13);
    assert!(message.starts_with("the key-value store panicked: "), "{message}");
}
