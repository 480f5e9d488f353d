//! A PJRT plugin that does nothing right, for tests of the ABI.
//!
//! What it does wrong is the part of its file name after the last `_`:
//! `libstub_short.so` has a short table. So one library gives many plugins, each
//! with its own statics, and tests need no environment variables.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use rectiflow_pjrt_sys as sys;

/// `Dl_info` of `dlfcn.h`.
#[repr(C)]
struct DlInfo {
    file_name: *const c_char,
    file_base: *mut c_void,
    symbol_name: *const c_char,
    symbol_address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}

/// The part of this library's file name after the last `_`.
fn variant() -> String {
    let mut info = DlInfo {
        file_name: null_mut(),
        file_base: null_mut(),
        symbol_name: null_mut(),
        symbol_address: null_mut(),
    };
    let here: extern "C" fn() -> *const sys::PJRT_Api = GetPjrtApi;
    // SAFETY: `dladdr` fills the struct with texts that live as long as the library.
    let path = unsafe {
        assert!(dladdr(here as *const c_void, &raw mut info) != 0);
        CStr::from_ptr(info.file_name).to_string_lossy().into_owned()
    };
    path.trim_end_matches(".so").rsplit('_').next().unwrap_or_default().to_owned()
}

/// Where the loader starts.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const sys::PJRT_Api {
    let variant = variant();
    if variant == "nothing" {
        return std::ptr::null();
    }
    // SAFETY: all entries are nullable, all other fields integers and pointers.
    let mut api: sys::PJRT_Api = unsafe { std::mem::zeroed() };
    api.struct_size = size_of::<sys::PJRT_Api>();
    api.pjrt_api_version.struct_size = size_of::<sys::PJRT_Api_Version>();
    api.pjrt_api_version.minor_version = 60;
    api.PJRT_Error_Destroy = Some(error_destroy);
    api.PJRT_Error_Message = Some(error_message);
    api.PJRT_Error_GetCode = Some(error_code);
    api.PJRT_Plugin_Initialize = Some(initialize);
    api.PJRT_Client_Create = Some(client_create);
    api.PJRT_Client_Destroy = Some(client_destroy);
    api.PJRT_Client_AddressableDevices = Some(no_devices);
    match variant.as_str() {
        "major" => api.pjrt_api_version.major_version = 1,
        "ancient" => api.pjrt_api_version.minor_version = 56,
        "tiny" => api.struct_size = size_of::<usize>() * 2,
        "short" => api.struct_size = offset_of!(sys::PJRT_Api, PJRT_Client_Compile),
        "init" => api.PJRT_Plugin_Initialize = Some(initialize_fails),
        "error" => api.PJRT_Client_Create = Some(client_create_fails),
        "newer" => api.PJRT_Client_Create = Some(client_create_longer),
        _ => {}
    }
    let table = Box::into_raw(Box::new(api));
    // Kept reachable, so that leak checkers see it for what it is.
    TABLE.store(table, Ordering::Relaxed);
    table
}

static TABLE: AtomicPtr<sys::PJRT_Api> = AtomicPtr::new(null_mut());

/// What `PJRT_Error` pointers of this plugin point to.
struct StubError {
    code: u32,
    message: String,
}

fn fail(code: u32, message: String) -> *mut sys::PJRT_Error {
    Box::into_raw(Box::new(StubError { code, message })).cast()
}

unsafe extern "C" fn error_destroy(args: *mut sys::PJRT_Error_Destroy_Args) {
    // SAFETY: errors come from `fail`, and are destroyed once.
    drop(unsafe { Box::from_raw((*args).error.cast::<StubError>()) });
}

unsafe extern "C" fn error_message(args: *mut sys::PJRT_Error_Message_Args) {
    // SAFETY: the caller passes a live struct and error.
    unsafe {
        let error = &*(*args).error.cast::<StubError>();
        (*args).message = error.message.as_ptr().cast();
        (*args).message_size = error.message.len();
    }
}

unsafe extern "C" fn error_code(args: *mut sys::PJRT_Error_GetCode_Args) -> *mut sys::PJRT_Error {
    // SAFETY: the caller passes a live struct and error.
    unsafe {
        (*args).code = sys::PJRT_Error_Code((*(*args).error.cast::<StubError>()).code);
    }
    null_mut()
}

unsafe extern "C" fn initialize(_: *mut sys::PJRT_Plugin_Initialize_Args) -> *mut sys::PJRT_Error {
    null_mut()
}

unsafe extern "C" fn initialize_fails(
    _: *mut sys::PJRT_Plugin_Initialize_Args,
) -> *mut sys::PJRT_Error {
    fail(9, "the driver is older than the plugin".to_owned())
}

unsafe extern "C" fn client_create(
    args: *mut sys::PJRT_Client_Create_Args,
) -> *mut sys::PJRT_Error {
    // SAFETY: the caller passes a live struct; the client is an opaque box.
    unsafe { (*args).client = Box::into_raw(Box::new(0u64)).cast() };
    null_mut()
}

unsafe extern "C" fn client_create_fails(
    _: *mut sys::PJRT_Client_Create_Args,
) -> *mut sys::PJRT_Error {
    fail(14, "no devices today".to_owned())
}

/// As a plugin of the future would: its struct has eight more words, the last of
/// which it reads.
unsafe extern "C" fn client_create_longer(
    args: *mut sys::PJRT_Client_Create_Args,
) -> *mut sys::PJRT_Error {
    let expected = size_of::<sys::PJRT_Client_Create_Args>() + size_of::<[usize; 8]>();
    // SAFETY: every args struct begins with its size.
    let got = unsafe { (*args).struct_size };
    if got < expected {
        return fail(3, format!("args size: expected {expected}, got {got}"));
    }
    // SAFETY: the caller states that the struct is this long.
    let last = unsafe { args.cast::<u8>().add(expected).cast::<usize>().sub(1).read() };
    if last != 0 {
        return fail(3, "an unknown field is not zero".to_owned());
    }
    // SAFETY: as for any caller.
    unsafe { client_create(args) }
}

unsafe extern "C" fn client_destroy(
    args: *mut sys::PJRT_Client_Destroy_Args,
) -> *mut sys::PJRT_Error {
    // SAFETY: clients come from `client_create`, and are destroyed once.
    drop(unsafe { Box::from_raw((*args).client.cast::<u64>()) });
    null_mut()
}

unsafe extern "C" fn no_devices(
    _: *mut sys::PJRT_Client_AddressableDevices_Args,
) -> *mut sys::PJRT_Error {
    null_mut()
}
