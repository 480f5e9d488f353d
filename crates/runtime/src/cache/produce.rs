//! Where an executable comes from when it is not in memory.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rectiflow_pjrt::{self as pjrt, LoadedExecutable};

use super::entry::Damage;
use super::stats::{count, timed};
use super::{Cache, CacheOutcome, Disk, Key, Request};
use crate::error::{Code, Error, Result};

impl Cache {
    /// Loads or compiles; called by one thread for each key.
    pub(super) fn produce(
        &self,
        key: &Key,
        request: &Request<'_>,
    ) -> Result<(LoadedExecutable, CacheOutcome)> {
        let Some(disk) = self.usable_disk() else {
            self.refuse_if_cache_only(request)?;
            let (executable, _) = self.compile(request)?;
            return Ok((executable, CacheOutcome::Compiled));
        };
        let unusable = match self.load(disk, key) {
            Ok(Some(executable)) => return Ok((executable, CacheOutcome::Disk)),
            found => found.is_err(),
        };
        if self.cache_only {
            if unusable {
                self.load_or_warn(disk, key, request);
            }
            self.refuse_if_cache_only(request)?;
        }
        let lock = disk.lock(key);
        if let Err(error) = &lock {
            self.warn_unwritable(disk, error);
        }
        // Whoever had the lock before may have compiled it.
        if let Some(executable) = self.load_or_warn(disk, key, request) {
            return Ok((executable, CacheOutcome::Disk));
        }
        let (executable, time) = self.compile(request)?;
        self.store(disk, key, request.name, &executable, time);
        Ok((executable, CacheOutcome::Compiled))
    }

    fn usable_disk(&self) -> Option<&Disk> {
        self.disk.as_ref().filter(|_| !self.is_disk_useless.load(Relaxed))
    }

    fn refuse_if_cache_only(&self, request: &Request<'_>) -> Result<()> {
        if !self.cache_only {
            return Ok(());
        }
        let why = self.why(request);
        let signature = why.key.part("signature").unwrap_or_default();
        let signature: String = signature.chars().take(200).collect();
        let message = format!(
            "would have to compile `{}` {signature}, and cache-only mode forbids it: {why}; \
             run it once with cache-only mode off",
            request.name
        );
        Err(Error::new(Code::CacheMiss, message))
    }

    fn compile(&self, request: &Request<'_>) -> Result<(LoadedExecutable, Duration)> {
        let _span = tracing::info_span!("compile", name = request.name).entered();
        let options = request.options.to_pjrt(&self.environment.platform);
        let (result, time) =
            timed(&self.counters.compile_nanos, || self.client.compile(request.program, &options));
        let executable = result.map_err(|error| {
            Error::pjrt(Code::Compile, format!("cannot compile `{}`", request.name), error)
        })?;
        count(&self.counters.compiles);
        tracing::debug!(seconds = time.as_secs_f64(), "compiled");
        Ok((executable, time))
    }

    fn load(&self, disk: &Disk, key: &Key) -> Result<Option<LoadedExecutable>, Damage> {
        let (result, _) = timed(&self.counters.load_nanos, || match disk.read(key)? {
            Some(payload) => self.loaded(self.client.deserialize(&payload)),
            None => Ok(None),
        });
        if let Ok(Some(_)) = result {
            count(&self.counters.disk_hits);
        }
        result
    }

    /// What to make of the plugin's answer: that it cannot load is no damage to the file.
    fn loaded(
        &self,
        answer: pjrt::Result<LoadedExecutable>,
    ) -> Result<Option<LoadedExecutable>, Damage> {
        match answer {
            Ok(executable) => Ok(Some(executable)),
            Err(error) if error.is_unimplemented() => {
                self.give_up_disk(&error);
                Ok(None)
            }
            Err(error) => Err(Damage::new(format!("the plugin refuses it: {error}"))),
        }
    }

    /// Takes what cannot be loaded for a miss, and says so.
    fn load_or_warn(
        &self,
        disk: &Disk,
        key: &Key,
        request: &Request<'_>,
    ) -> Option<LoadedExecutable> {
        self.load(disk, key).unwrap_or_else(|damage| {
            count(&self.counters.load_failures);
            let (name, folder) = (request.name, disk.folder().display());
            tracing::warn!(name, %key, %folder, %damage, "a cached executable cannot be used; it is \
                compiled anew and replaced");
            None
        })
    }

    fn store(
        &self,
        disk: &Disk,
        key: &Key,
        name: &str,
        compiled: &LoadedExecutable,
        time: Duration,
    ) {
        if self.usable_disk().is_none() {
            return;
        }
        let Some(payload) = self.serialized(name, compiled.serialize()) else { return };
        if let Err(error) = disk.write(key, name, time, &payload) {
            count(&self.counters.store_failures);
            self.warn_unwritable(disk, &error);
        }
    }

    fn serialized(&self, name: &str, answer: pjrt::Result<Vec<u8>>) -> Option<Vec<u8>> {
        match answer {
            Ok(payload) => return Some(payload),
            Err(error) if error.is_unimplemented() => self.give_up_disk(&error),
            Err(error) => {
                count(&self.counters.store_failures);
                tracing::warn!(name, %error, "an executable cannot be serialized; it stays in memory");
            }
        }
        None
    }

    fn give_up_disk(&self, error: &pjrt::Error) {
        if !self.is_disk_useless.swap(true, Relaxed) {
            let plugin = self.client.plugin().path().display();
            tracing::warn!(%plugin, %error, "the plugin cannot save and load executables: they are \
                kept in memory, and every process compiles its own");
        }
    }

    /// Once: if one cannot be kept, hundreds cannot.
    fn warn_unwritable(&self, disk: &Disk, error: &std::io::Error) {
        if !self.was_unwritable.swap(true, Relaxed) {
            let folder = disk.folder().display();
            tracing::warn!(%folder, %error, "executables cannot be kept in the cache folder, only in \
                memory: free some space there, or choose a folder that can be written");
        }
    }
}

#[cfg(test)]
#[path = "../../tests/cache/warnings.rs"]
mod warnings;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CacheOptions, CompileOptions};
    use pjrt::{ClientOptions, ErrorCode, Plugin, Program};

    fn cache(folder: &std::path::Path) -> Cache {
        let path = xla_build::find_or_install(xla_build::Platform::Cpu).unwrap();
        let client = Plugin::load(path).unwrap().client(&ClientOptions::new()).unwrap();
        Cache::new(&client, &CacheOptions::in_folder(folder)).unwrap()
    }

    fn compile(cache: &Cache) {
        let program = Program::stablehlo(
            "func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }",
        );
        let options = CompileOptions::default();
        let request = Request { name: "same", program: &program, options: &options };
        cache.get_or_compile(&request).unwrap();
    }

    fn unimplemented<T>() -> pjrt::Result<T> {
        Err(pjrt::Error::with_code(ErrorCode::Unimplemented, "not on this platform"))
    }

    /// No plugin at hand lacks it, so the answer is made here; torch_xla met it on TPUs.
    #[test]
    fn a_plugin_without_loading_leaves_the_folder_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = cache(folder.path());
        compile(&first);
        assert_eq!(first.disk().unwrap().ls().unwrap().entries.len(), 1);

        let second = cache(folder.path());
        let ((), said) = warnings::of(|| {
            for _ in 0..3 {
                assert!(matches!(second.loaded(unimplemented()), Ok(None)), "taken for damage");
            }
        });
        let expected = "the plugin cannot save and load executables: they are kept in memory";
        assert!(said.len() == 1 && said[0].contains(expected), "{said:?}");
        compile(&second);
        compile(&second);
        let stats = second.stats();
        assert_eq!((stats.compiles, stats.memory_hits, stats.disk_hits), (1, 1, 0), "{stats:?}");
        assert_eq!((stats.load_failures, stats.store_failures), (0, 0), "{stats:?}");
    }

    #[test]
    fn a_plugin_without_serialization_goes_on_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        assert!(cache.serialized("same", unimplemented()).is_none());
        compile(&cache);
        assert_eq!(cache.stats().store_failures, 0);
        assert_eq!(cache.disk().unwrap().ls().unwrap().entries.len(), 0);
        // Any other failure is of one executable, and the next may be kept.
        let other = self::cache(folder.path());
        let failed = Err(pjrt::Error::with_code(ErrorCode::Internal, "out of luck"));
        assert!(other.serialized("same", failed).is_none());
        assert_eq!(other.stats().store_failures, 1);
        compile(&other);
        assert_eq!(other.disk().unwrap().ls().unwrap().entries.len(), 1);
    }

    #[test]
    fn what_the_plugin_refuses_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let garbage = cache.client.deserialize(b"whole, checked, and no executable");
        let damage = cache.loaded(garbage).unwrap_err().to_string();
        assert!(damage.starts_with("the plugin refuses it: PJRT_"), "{damage}");
    }
}
