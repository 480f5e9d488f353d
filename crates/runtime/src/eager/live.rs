//! Values that somebody holds, for who waits until all are computed.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::slot::Slot;

/// The results of a queue's ops that are still held.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    slots: Vec<Weak<Slot>>,
    /// Length at which the dead are dropped: twice what was alive then, so that it costs each op
    /// little.
    sweep_at: usize,
}

const SMALLEST_SWEEP: usize = 256;

impl Live {
    pub(super) fn extend(&self, slots: &[Arc<Slot>]) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.slots.extend(slots.iter().map(Arc::downgrade));
        if list.slots.len() >= list.sweep_at.max(SMALLEST_SWEEP) {
            list.slots.retain(|slot| slot.strong_count() > 0);
            list.sweep_at = 2 * list.slots.len();
        }
    }

    /// Those alive now.
    pub(super) fn all(&self) -> Vec<Arc<Slot>> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.slots.iter().filter_map(Weak::upgrade).collect()
    }
}
