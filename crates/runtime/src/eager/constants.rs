//! Constants of model code, which eager ops take as arguments.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use rectiflow_hlo::Literal;

use super::queue::Inner;
use super::slot::{Slot, Source};
use crate::element::element_type;
use crate::error::{Error, Result};

/// Those used last, so that a number which stays the same is sent once.
pub(super) struct Constants(Mutex<LruCache<Literal, Arc<Slot>>>);

/// Enough for the numbers of a large model.
const N_KEPT: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
/// A larger constant is a table that model code makes anew; it is sent each time.
const MOST_BYTES: usize = 4096;

impl Constants {
    pub(super) fn new() -> Constants {
        Constants(Mutex::new(LruCache::new(N_KEPT)))
    }

    /// The constant on the queue's device; `None` if its bytes are not known here.
    pub(super) fn get(&self, literal: &Literal, queue: &Inner) -> Result<Option<Arc<Slot>>> {
        if let Some(known) = self.lock().get(literal) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some(bytes) = literal.to_bytes() else { return Ok(None) };
        let (shape, device) = (literal.shape(), &queue.device);
        let dtype = element_type(shape.dtype)?;
        let buffer = queue.client.buffer_from_bytes(&bytes, dtype, &shape.dims, device);
        let buffer = buffer.map_err(|error| Error::upload(shape, error))?;
        let source = Source::Constant(literal.clone());
        let slot = Arc::new(Slot::ready(Arc::new(shape.clone()), source, buffer));
        if bytes.len() <= MOST_BYTES {
            self.lock().put(literal.clone(), Arc::clone(&slot));
        }
        Ok(Some(slot))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LruCache<Literal, Arc<Slot>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Constants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constants").field("len", &self.lock().len()).finish()
    }
}
