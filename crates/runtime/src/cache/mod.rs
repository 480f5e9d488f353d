//! Compiles a program once, for this process and for those to come.

mod canonical;
mod disk;
mod entry;
mod host;
mod key;
mod lock;
mod memory;
mod plugin_build;
mod produce;
mod stats;
mod sweep;
mod why;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rectiflow_pjrt::{Client, LoadedExecutable, Program};

pub use disk::Disk;
pub use entry::Entry;
pub use key::{Key, Part};
pub use stats::CacheStats;
pub(crate) use stats::Counters;
pub use sweep::{Listing, Swept};
pub use why::{Difference, Nearest, Why};

use crate::compile_options::CompileOptions;
use crate::environment::compiler_variables;
use crate::error::{Code, Error, Result};
use crate::options::CacheOptions;
use key::Environment;
use memory::{Memory, Source};
use stats::count;

/// A program to be compiled.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What to call it in messages and listings. Two names of one program share an executable.
    pub name: &'a str,
    /// The program.
    pub program: &'a Program,
    /// How to compile it.
    pub options: &'a CompileOptions,
}

/// How a request for an executable was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheOutcome {
    /// It was in memory.
    Memory,
    /// Another thread was just getting it.
    Joined,
    /// It was loaded from the folder.
    Disk,
    /// It was compiled.
    Compiled,
}

/// The executables of one client: in memory, and in a folder if [`CacheOptions`] name one.
///
/// All threads and processes that want the same executable at once wait for one compile. The
/// folder never makes a request fail: what cannot be read is compiled, what cannot be written stays
/// in memory, each with a warning through `tracing`.
pub struct Cache {
    client: Client,
    environment: Environment,
    memory: Memory,
    disk: Option<Disk>,
    cache_only: bool,
    counters: Arc<Counters>,
    /// Set when the plugin turns out to lack serialization.
    is_disk_useless: AtomicBool,
    was_unwritable: AtomicBool,
}

impl Cache {
    /// A cache for the programs of a client. Blocks while it reads the plugin's file, where no note
    /// in the folder tells its digest.
    ///
    /// # Errors
    /// [`Code::Plugin`] when the plugin does not say what it is.
    pub fn new(client: &Client, options: &CacheOptions) -> Result<Cache> {
        Self::counted(client, options, Arc::default())
    }

    pub(crate) fn counted(
        client: &Client,
        options: &CacheOptions,
        counters: Arc<Counters>,
    ) -> Result<Cache> {
        let folder = options.folder.as_deref();
        let build = plugin_build::plugin_build(client.plugin().path(), folder);
        let (plugin_build, is_disk_useless) = match build {
            Ok(digest) => (format!("sha256 {digest}"), false),
            Err(error) => {
                let plugin = client.plugin().path().display();
                tracing::warn!(%plugin, %error, "cannot read the plugin's file, and so not tell its \
                    build: executables are kept in memory only");
                ("unknown".to_owned(), true)
            }
        };
        let environment = environment(client, plugin_build).map_err(|error| {
            Error::pjrt(Code::Plugin, "the plugin does not say what it is", error)
        })?;
        Ok(Cache {
            client: client.clone(),
            environment,
            memory: Memory::new(options.memory_cap),
            disk: folder.map(|folder| Disk::new(folder, options.disk_cap_bytes)),
            cache_only: options.cache_only,
            counters,
            is_disk_useless: AtomicBool::new(is_disk_useless),
            was_unwritable: AtomicBool::new(false),
        })
    }

    /// The executable of a program: from memory, from disk, or compiled.
    ///
    /// Blocks for a compile or a load, its own or that of another thread or process.
    ///
    /// # Errors
    /// [`Code::Compile`] when the compiler refuses; not kept, so the next request tries again.
    /// [`Code::CacheMiss`] in cache-only mode, with what [`Cache::why`] says.
    pub fn get_or_compile(&self, request: &Request<'_>) -> Result<LoadedExecutable> {
        self.get_or_compile_key(&self.key(request), request).map(|(executable, _)| executable)
    }

    /// As [`Cache::get_or_compile`], for a request whose key is known; tells how it was met.
    ///
    /// # Errors
    /// As [`Cache::get_or_compile`].
    pub fn get_or_compile_key(
        &self,
        key: &Key,
        request: &Request<'_>,
    ) -> Result<(LoadedExecutable, CacheOutcome)> {
        let _span = tracing::debug_span!("get_or_compile", name = request.name, %key).entered();
        count(&self.counters.requests);
        let mut outcome = CacheOutcome::Memory;
        let produce = || {
            let (executable, how) = self.produce(key, request)?;
            outcome = how;
            Ok(executable)
        };
        let (result, source) = self.memory.get_or_init(key, request.name, produce);
        match (&result, source) {
            (Err(_), _) => count(&self.counters.errors),
            (Ok(_), Source::Held) => count(&self.counters.memory_hits),
            (Ok(_), Source::Joined) => {
                count(&self.counters.joined);
                outcome = CacheOutcome::Joined;
            }
            // `produce` knows where it got it.
            (Ok(_), Source::New) => {}
        }
        result.map(|executable| (executable, outcome))
    }

    /// The executable of a key if it is in memory; then counted as a request like any other.
    ///
    /// Making a key reads the whole program. Who asks for the same program again and again keeps
    /// its key, asks for it here, and falls back on [`Cache::get_or_compile`].
    pub fn get(&self, key: &Key) -> Option<LoadedExecutable> {
        let executable = self.memory.get(key)?;
        count(&self.counters.requests);
        count(&self.counters.memory_hits);
        Some(executable)
    }

    /// What the executable of a program depends on.
    pub fn key(&self, request: &Request<'_>) -> Key {
        key::key(request.program, request.options, &self.environment)
    }

    /// Compares a program with all executables in memory and on disk: whether it is there, which
    /// is nearest, and in what that differs. Reads the folder's descriptions.
    pub fn why(&self, request: &Request<'_>) -> Why {
        let listed = self.disk.as_ref().and_then(|disk| disk.ls().ok()).unwrap_or_default();
        let on_disk = listed.entries.into_iter().map(why::Candidate::from);
        let candidates = self.memory.candidates().into_iter().chain(on_disk);
        Why::new(request.name, &self.key(request), candidates)
    }

    /// The folder, if there is one.
    pub fn disk(&self) -> Option<&Disk> {
        self.disk.as_ref()
    }

    /// Lets go of the executables in memory. Those in use stay alive until they are dropped.
    pub fn clear_memory(&self) {
        self.memory.clear();
    }

    /// What this cache did so far.
    pub fn stats(&self) -> CacheStats {
        self.counters.snapshot()
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cache { disk, cache_only, counters, .. } = self;
        let mut debug = f.debug_struct("Cache");
        debug.field("disk", disk).field("cache_only", cache_only).field("counters", counters);
        debug.finish_non_exhaustive()
    }
}

fn environment(client: &Client, plugin_build: String) -> rectiflow_pjrt::Result<Environment> {
    let platform = client.platform_name()?.to_lowercase();
    let mut kinds = Vec::new();
    for device in client.devices()? {
        kinds.push(device.description()?.kind()?);
    }
    let devices = kinds.chunk_by(|a, b| a == b).map(|run| format!("{} x {}", run.len(), run[0]));
    // Only the CPU's compiler makes code for the host.
    let host = if platform == "cpu" { host::describe() } else { "any".to_owned() };
    Ok(Environment {
        platform_version: client.platform_version()?,
        api_version: client.plugin().api_version(),
        plugin_build,
        devices: devices.collect::<Vec<_>>().join(", "),
        host,
        variables: compiler_variables(&platform),
        platform,
    })
}
