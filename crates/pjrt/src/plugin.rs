//! Loading a plugin.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rectiflow_pjrt_sys as sys;

use crate::api::{Api, function};
use crate::element_type::ElementType;
use crate::error::{Error, ErrorCode, Result};
use crate::extension::{Extension, ExtensionTable, Located, Table, probe};
use crate::value::{NamedValue, Value, read_values};

/// A loaded PJRT plugin. Cheap to clone; clones share the loaded library.
///
/// The library stays loaded until the process ends: plugins start threads and
/// register handlers that outlive every client.
#[derive(Clone)]
pub struct Plugin(Arc<Inner>);

struct Inner {
    api: Api,
    path: PathBuf,
    version: (i32, i32),
    extensions: Vec<Located>,
    /// Flag names found in the library, read only to explain an unknown flag.
    flag_names: OnceLock<Vec<String>>,
    /// Names of the FFI handlers registered so far.
    ffi_names: Mutex<BTreeSet<String>>,
}

/// Major and minor version of the PJRT API that this crate is built with.
pub const API_VERSION: (i32, i32) = (sys::PJRT_API_MAJOR as i32, sys::PJRT_API_MINOR as i32);

/// The last version that moved entries of the function table. Since then it has
/// only grown.
const OLDEST_MINOR: i32 = 57;

/// Tables already initialised: a plugin wants `PJRT_Plugin_Initialize` once,
/// and loading a library again returns the same table.
static INITIALIZED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl Plugin {
    /// Loads a plugin from a shared library and initialises it.
    ///
    /// # Errors
    /// `NOT_FOUND` when the library cannot be opened, `INVALID_ARGUMENT` when it
    /// does not export `GetPjrtApi`, `FAILED_PRECONDITION` when its version of the
    /// PJRT API is not major 0, minor 57 or newer, or whatever the
    /// plugin's own start-up returns.
    ///
    /// # Trust
    /// A plugin is native code that runs inside this process. Load only
    /// libraries you trust, as with any executable: to do what the PJRT header
    /// says, and to let no C++ exception out of its functions.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let table = open(path)?;
        // SAFETY: `GetPjrtApi` returns a table that lives as long as the library,
        // and `open` never unloads it.
        let api = unsafe { Api::new(table) };
        let header = api.header().ok_or_else(|| {
            let message = format!("its function table has only {} bytes", api.size());
            Error::load(path, ErrorCode::FailedPrecondition, message)
        })?;
        if header.major != sys::PJRT_API_MAJOR as i32 {
            let message = format!(
                "it speaks PJRT API {}.{}, this build needs major version {}",
                header.major,
                header.minor,
                sys::PJRT_API_MAJOR
            );
            return Err(Error::load(path, ErrorCode::FailedPrecondition, message));
        }
        if header.minor < OLDEST_MINOR {
            let message = format!(
                "it speaks PJRT API 0.{}, older than 0.{OLDEST_MINOR}, which reordered the table",
                header.minor
            );
            return Err(Error::load(path, ErrorCode::FailedPrecondition, message));
        }
        initialize(api)?;
        // SAFETY: the chain belongs to the table and lives as long.
        let extensions = unsafe { probe(header.extensions) };
        let version = (header.major, header.minor);
        tracing::debug!(path = %path.display(), ?version, "loaded plugin");
        let path = path.to_owned();
        Ok(Plugin(Arc::new(Inner {
            api,
            path,
            version,
            extensions,
            flag_names: OnceLock::new(),
            ffi_names: Mutex::default(),
        })))
    }

    pub(crate) fn ffi_names(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.ffi_names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the plugin was loaded from.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Major and minor version of the PJRT API the plugin was built with.
    pub fn api_version(&self) -> (i32, i32) {
        self.0.version
    }

    /// Facts the plugin states about itself, such as `xla_version`.
    ///
    /// # Errors
    /// Those of `PJRT_Plugin_Attributes`.
    pub fn attributes(&self) -> Result<Vec<NamedValue>> {
        // SAFETY: no pointers go in.
        let args = unsafe { self.api().get(function!(PJRT_Plugin_Attributes), |_| ())? };
        // SAFETY: attributes live as long as the process.
        unsafe { read_values(args.attributes, args.num_attributes) }
    }

    /// The oldest and the newest StableHLO version the plugin reads, where it
    /// says so.
    ///
    /// # Errors
    /// As [`Plugin::attributes`].
    pub fn stablehlo_versions(&self) -> Result<Option<StablehloVersions>> {
        let attributes = self.attributes()?;
        let find = |wanted: &str| {
            attributes.iter().find_map(|(name, value)| match value {
                Value::IntList(list) if name == wanted => <[i64; 3]>::try_from(&list[..]).ok(),
                _ => None,
            })
        };
        let minimum = find("stablehlo_minimum_version");
        let current = find("stablehlo_current_version");
        Ok(minimum.zip(current).map(|(minimum, current)| StablehloVersions { minimum, current }))
    }

    /// Every extension the plugin lists, including kinds unknown to this crate.
    pub fn extensions(&self) -> Vec<Extension> {
        self.0.extensions.iter().map(|located| located.extension).collect()
    }

    /// Refuses an element type that is newer than the plugin.
    pub(crate) fn check_type(&self, element_type: ElementType) -> Result<()> {
        let (needed, found) = (element_type.since_minor(), self.0.version.1);
        if found >= needed {
            return Ok(());
        }
        let message = format!(
            "the plugin speaks PJRT API 0.{found}, which has no {element_type}: 0.{needed} does"
        );
        Err(Error::with_code(ErrorCode::Unimplemented, message))
    }

    pub(crate) fn api(&self) -> Api {
        self.0.api
    }

    pub(crate) fn extension<T: ExtensionTable>(&self) -> Result<Table<T>> {
        Table::find(self.0.api, &self.0.extensions)
    }

    pub(crate) fn flag_names(&self) -> &[String] {
        self.0.flag_names.get_or_init(|| crate::flags::names_in(&self.0.path))
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("path", &self.0.path)
            .field("api_version", &self.0.version)
            .finish()
    }
}

/// The range of StableHLO versions a plugin reads, as major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StablehloVersions {
    /// Programs older than this are refused.
    pub minimum: [i64; 3],
    /// Programs newer than this are refused.
    pub current: [i64; 3],
}

type GetPjrtApi = unsafe extern "C" fn() -> *const sys::PJRT_Api;

/// Opens a library for good and asks it for its table.
fn open(path: &Path) -> Result<NonNull<sys::PJRT_Api>> {
    // SAFETY: running a library's initialisers is what loading a plugin means;
    // `Plugin::load` asks the caller to trust it.
    let library = unsafe { libloading::Library::new(path) }
        .map_err(|e| Error::load(path, ErrorCode::NotFound, e.to_string()))?;
    // SAFETY: the name fixes the signature by the PJRT convention.
    let get = unsafe { library.get::<GetPjrtApi>(b"GetPjrtApi\0") }
        .map_err(|_| {
            let message = "it is not a PJRT plugin: it does not export GetPjrtApi";
            Error::load(path, ErrorCode::InvalidArgument, message)
        })
        .map(|symbol| *symbol)?;
    // SAFETY: the function takes nothing and only returns a pointer.
    let table = unsafe { get() };
    std::mem::forget(library);
    NonNull::new(table.cast_mut()).ok_or_else(|| {
        Error::load(path, ErrorCode::Internal, "GetPjrtApi returned no function table")
    })
}

fn initialize(api: Api) -> Result<()> {
    let mut initialized = INITIALIZED.lock().unwrap_or_else(PoisonError::into_inner);
    if initialized.contains(&api.address()) {
        return Ok(());
    }
    // SAFETY: no pointers go in.
    unsafe { api.get(function!(PJRT_Plugin_Initialize), |_| ())? };
    initialized.push(api.address());
    Ok(())
}
