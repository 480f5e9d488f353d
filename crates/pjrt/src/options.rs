//! Options of a client.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::key_value::KeyValueStore;
use crate::value::{NamedValue, Value};

/// How to create a [`Client`](crate::Client).
///
/// Typed options cover what the common plugins read; [`ClientOptions::option`]
/// passes any other. A plugin refuses or ignores options it does not know.
#[derive(Clone, Default)]
pub struct ClientOptions {
    pub(crate) values: Vec<NamedValue>,
    pub(crate) store: Option<Arc<dyn KeyValueStore>>,
}

impl ClientOptions {
    /// The plugin's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of devices a CPU plugin simulates, at most 4096.
    pub fn cpu_device_count(self, n: i64) -> Self {
        self.option("cpu_device_count", n)
    }

    /// Index of this process among [`ClientOptions::num_nodes`].
    pub fn node_id(self, id: i64) -> Self {
        self.option("node_id", id)
    }

    /// Number of processes that form one job; needs a
    /// [`ClientOptions::key_value_store`] when above 1.
    pub fn num_nodes(self, n: i64) -> Self {
        self.option("num_nodes", n)
    }

    /// Local ids of the devices a GPU plugin may use.
    pub fn visible_devices(self, ids: Vec<i64>) -> Self {
        self.option("visible_devices", ids)
    }

    /// Share of device memory a GPU plugin reserves, from 0 to 1.
    pub fn memory_fraction(self, fraction: f32) -> Self {
        self.option("memory_fraction", fraction)
    }

    /// Whether a GPU plugin reserves its memory at once.
    pub fn preallocate(self, preallocate: bool) -> Self {
        self.option("preallocate", preallocate)
    }

    /// Any option by name. A later value replaces an earlier one.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        self.values.retain(|(existing, _)| *existing != name);
        self.values.push((name, value.into()));
        self
    }

    /// Refuses what plugins do not check: a count that their allocations cannot
    /// hold ends the process.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in &self.values {
            let &Value::Int(n) = value else { continue };
            let (least, most) = match name.as_str() {
                "cpu_device_count" => (0, 4096),
                "num_nodes" => (1, i64::from(i32::MAX)),
                "node_id" => (0, i64::from(i32::MAX)),
                _ => continue,
            };
            if !(least..=most).contains(&n) {
                return Err(Error::invalid(format!(
                    "option {name} is between {least} and {most}, found {n}"
                )));
            }
        }
        Ok(())
    }

    /// Where the processes of one job find each other.
    pub fn key_value_store(mut self, store: Arc<dyn KeyValueStore>) -> Self {
        self.store = Some(store);
        self
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("values", &self.values)
            .field("has_store", &self.store.is_some())
            .finish()
    }
}
