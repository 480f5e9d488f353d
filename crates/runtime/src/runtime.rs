//! A plugin, its client, and the executables compiled for it.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rectiflow_pjrt::{Client, LoadedExecutable, Plugin};

use crate::cache::{Cache, CacheStats, Counters, Request};
use crate::device::{DeviceInfo, DeviceName};
use crate::eager::{EagerOptions, Queue};
use crate::error::{Code, Error, Result};
use crate::options::RuntimeOptions;

/// One client of one plugin, with its cache of executables. Cheap to clone.
///
/// Nothing is shared between runtimes but the folder they may name; several live side by side in
/// one process.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    options: RuntimeOptions,
    loaded: OnceLock<Loaded>,
    /// Held while loading, so that it is done once.
    loading: Mutex<()>,
    counters: Arc<Counters>,
}

struct Loaded {
    client: Client,
    cache: Arc<Cache>,
    queue: OnceLock<Queue>,
}

impl Runtime {
    /// A runtime that has not loaded its plugin yet.
    ///
    /// # Errors
    /// [`Code::Options`] for options that cannot be met.
    pub fn new(options: &RuntimeOptions) -> Result<Runtime> {
        if let Some(n) = options.device_count {
            let is_simulated = matches!(options.device, DeviceName::Cpu | DeviceName::Plugin(_));
            if n == 0 || !is_simulated || i64::try_from(n).is_err() {
                let message = format!(
                    "cannot have {n} devices of {}: only a CPU plugin simulates as many as it is \
                     told, and at least 1",
                    options.device
                );
                return Err(Error::new(Code::Options, message));
            }
        }
        let inner = Inner {
            options: options.clone(),
            loaded: OnceLock::new(),
            loading: Mutex::new(()),
            counters: Arc::default(),
        };
        Ok(Runtime(Arc::new(inner)))
    }

    /// What it was made with.
    pub fn options(&self) -> &RuntimeOptions {
        &self.0.options
    }

    /// Loads the plugin and creates the client, if that is not done yet. Blocks: it may install the
    /// CPU plugin, and waits for the devices to be ready.
    ///
    /// # Errors
    /// [`Code::NoPlugin`] when none is found or installed, [`Code::Plugin`] when it does not start.
    /// The next call tries again.
    pub fn load(&self) -> Result<()> {
        self.loaded(true).map(|_| ())
    }

    /// Whether the plugin is loaded.
    pub fn is_loaded(&self) -> bool {
        self.0.loaded.get().is_some()
    }

    /// The client. Loads the plugin at first use.
    ///
    /// # Errors
    /// [`Code::AutoloadOff`] when the plugin is not loaded and [`RuntimeOptions::autoload`] is off;
    /// else as [`Runtime::load`].
    pub fn client(&self) -> Result<&Client> {
        self.loaded(self.0.options.autoload).map(|loaded| &loaded.client)
    }

    /// The executables.
    ///
    /// # Errors
    /// As [`Runtime::client`].
    pub fn cache(&self) -> Result<&Cache> {
        self.loaded(self.0.options.autoload).map(|loaded| &*loaded.cache)
    }

    /// The executable of a program; see [`Cache::get_or_compile`].
    ///
    /// # Errors
    /// As [`Runtime::client`] and [`Cache::get_or_compile`].
    pub fn get_or_compile(&self, request: &Request<'_>) -> Result<LoadedExecutable> {
        self.cache()?.get_or_compile(request)
    }

    /// The queue of eager ops that [`RuntimeOptions::eager`] describes, the same at each call.
    ///
    /// # Errors
    /// As [`Runtime::client`], and [`Runtime::new_queue`].
    pub fn queue(&self) -> Result<&Queue> {
        let loaded = self.loaded(self.0.options.autoload)?;
        if let Some(queue) = loaded.queue.get() {
            return Ok(queue);
        }
        let queue = self.new_queue(&self.0.options.eager)?;
        Ok(loaded.queue.get_or_init(|| queue))
    }

    /// Another queue of eager ops.
    ///
    /// # Errors
    /// As [`Runtime::client`]; [`Code::Options`] if there is no such device.
    pub fn new_queue(&self, options: &EagerOptions) -> Result<Queue> {
        let loaded = self.loaded(self.0.options.autoload)?;
        Queue::new(&loaded.client, &loaded.cache, options)
    }

    /// All devices, those of other processes of the job included.
    ///
    /// # Errors
    /// As [`Runtime::client`]; [`Code::Plugin`] when the plugin does not describe its devices.
    pub fn devices(&self) -> Result<Vec<DeviceInfo>> {
        let devices = self.client()?.devices();
        let described = devices.and_then(|devices| devices.iter().map(DeviceInfo::of).collect());
        described.map_err(|error| {
            Error::pjrt(Code::Plugin, "the plugin does not describe its devices", error)
        })
    }

    /// What the cache did so far; all zeros before the plugin is loaded.
    pub fn stats(&self) -> CacheStats {
        self.0.counters.snapshot()
    }

    fn loaded(&self, may_load: bool) -> Result<&Loaded> {
        if let Some(loaded) = self.0.loaded.get() {
            return Ok(loaded);
        }
        if !may_load {
            let message = format!(
                "the plugin of device {} is not loaded, and autoload is off: call Runtime::load \
                 first, or unset RECTIFLOW_AUTOLOAD",
                self.0.options.device
            );
            return Err(Error::new(Code::AutoloadOff, message));
        }
        let _loading = self.0.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = self.0.loaded.get() {
            return Ok(loaded);
        }
        let new = self.0.start()?;
        Ok(self.0.loaded.get_or_init(|| new))
    }
}

impl Inner {
    fn start(&self) -> Result<Loaded> {
        let options = &self.options;
        let _span = tracing::info_span!("load_plugin", device = %options.device).entered();
        let path = options.device.plugin_path()?;
        let failed = |what: &str| {
            let message = format!("cannot {what} for device {}", options.device);
            move |error| Error::pjrt(Code::Plugin, message, error)
        };
        let plugin = Plugin::load(&path).map_err(failed("load a plugin"))?;
        let mut client = options.client.clone();
        if let Some(n) = options.device_count {
            client = client.cpu_device_count(n as i64);
        }
        let client = plugin.client(&client).map_err(failed("create a client"))?;
        let cache = Cache::counted(&client, &options.cache, Arc::clone(&self.counters))?;
        Ok(Loaded { client, cache: Arc::new(cache), queue: OnceLock::new() })
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("device", &self.0.options.device)
            .field("is_loaded", &self.is_loaded())
            .finish_non_exhaustive()
    }
}
