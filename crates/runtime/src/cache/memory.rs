//! Executables in memory, and those on their way there.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use lru::LruCache;
use rectiflow_pjrt::LoadedExecutable;

use super::key::Key;
use super::why::Candidate;
use crate::error::Result;

/// An executable that one thread is getting, for all that want it.
type Flight = Arc<OnceLock<Result<LoadedExecutable>>>;

pub(super) struct Memory(Mutex<Shelf>);

/// One lock for both: between landing and being held, no executable is in neither.
struct Shelf {
    held: LruCache<Key, Held>,
    flights: HashMap<Key, Flight>,
}

struct Held {
    executable: LoadedExecutable,
    name: String,
}

/// How [`Memory::get_or_init`] came by its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Held,
    /// Another thread was getting it.
    Joined,
    /// `init` was called.
    New,
}

impl Memory {
    pub(super) fn new(cap: Option<NonZeroUsize>) -> Memory {
        let held = cap.map_or_else(LruCache::unbounded, LruCache::new);
        Memory(Mutex::new(Shelf { held, flights: HashMap::new() }))
    }

    pub(super) fn get(&self, key: &Key) -> Option<LoadedExecutable> {
        self.lock().held.get(key).map(|held| held.executable.clone())
    }

    /// The executable of the key. Of all threads that ask for it at once, one calls `init`; the
    /// others wait for its result, also if that is an error. An error is not kept.
    pub(super) fn get_or_init(
        &self,
        key: &Key,
        name: &str,
        init: impl FnOnce() -> Result<LoadedExecutable>,
    ) -> (Result<LoadedExecutable>, Source) {
        let flight = {
            let mut shelf = self.lock();
            if let Some(held) = shelf.held.get(key) {
                return (Ok(held.executable.clone()), Source::Held);
            }
            Arc::clone(shelf.flights.entry(key.clone()).or_default())
        };
        let mut source = Source::Joined;
        let result = flight
            .get_or_init(|| {
                source = Source::New;
                init()
            })
            .clone();
        if source == Source::New {
            let mut shelf = self.lock();
            shelf.flights.remove(key);
            if let Ok(executable) = &result {
                let held = Held { executable: executable.clone(), name: name.to_owned() };
                shelf.held.put(key.clone(), held);
            }
        }
        (result, source)
    }

    /// What is held, to be compared with a key.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let shelf = self.lock();
        let candidate = |(key, held): (&Key, &Held)| Candidate {
            key: key.clone(),
            name: held.name.clone(),
            last_used: None,
        };
        shelf.held.iter().map(candidate).collect()
    }

    pub(super) fn clear(&self) {
        self.lock().held.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        // Nothing in here panics between two changes that belong together.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, Error};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn all_that_wait_get_the_error_and_the_next_tries_again() {
        let (memory, key) = (Memory::new(None), Key::new(Vec::new()));
        let calls = AtomicUsize::new(0);
        let fail = || {
            let call = calls.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(200));
            Err(Error::new(Code::Compile, format!("call {call}")))
        };
        let get = || memory.get_or_init(&key, "wrong", fail).0.unwrap_err().to_string();
        let barrier = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    assert_eq!(get(), "call 0");
                });
            }
        });
        assert_eq!(get(), "call 1");
    }

    /// The next one does what the first did not finish.
    #[test]
    fn a_panic_does_not_block_the_key() {
        let (memory, key) = (Memory::new(None), Key::new(Vec::new()));
        let panics = || memory.get_or_init(&key, "x", || panic!("on purpose"));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
        assert!(caught.is_err());
        let next = || Err(Error::new(Code::Compile, "reached"));
        assert_eq!(memory.get_or_init(&key, "x", next).0.unwrap_err().to_string(), "reached");
    }
}
