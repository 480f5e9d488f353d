//! How to run an executable once, and the C form of it.

use std::ffi::CString;

use rectiflow_pjrt_sys as sys;

use crate::api::Padded;
use crate::device::Device;
use crate::value::{NamedValue, Value};

/// How to run an executable once.
#[derive(Debug, Clone, Default)]
pub struct ExecuteOptions {
    pub(crate) launch_id: i32,
    pub(crate) non_donatable: Vec<i64>,
    pub(crate) device: Option<Device>,
    pub(crate) call_location: Option<CString>,
    pub(crate) values: Vec<NamedValue>,
}

impl ExecuteOptions {
    /// The defaults: no launch id, the devices chosen at compile time.
    pub fn new() -> Self {
        Self::default()
    }

    /// A number other than 0 that all processes give to the same launch, so that
    /// the runtime can notice if they launch in different orders.
    pub fn launch_id(mut self, id: i32) -> Self {
        self.launch_id = id;
        self
    }

    /// Arguments that must survive although they are passed by value. Borrowed
    /// arguments always do and need not be listed.
    pub fn non_donatable(mut self, indices: &[i64]) -> Self {
        self.non_donatable = indices.to_vec();
        self
    }

    /// Runs on this device alone; needed for portable executables.
    pub fn device(mut self, device: &Device) -> Self {
        self.device = Some(device.clone());
        self
    }

    /// Where in the caller's source the launch comes from, for messages of the
    /// runtime. Text after a zero byte is dropped.
    pub fn call_location(mut self, location: &str) -> Self {
        let text = location.split('\0').next().unwrap_or_default();
        self.call_location = CString::new(text).ok();
        self
    }

    /// A runtime option by name; plugins older than API 0.115 ignore it.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.values.push((name.into(), value.into()));
        self
    }
}

/// The C structs of one launch.
pub(crate) struct Launch {
    pub(crate) args: Padded<sys::PJRT_LoadedExecutable_Execute_Args>,
    pub(crate) options: Padded<sys::PJRT_ExecuteOptions>,
}

impl Launch {
    /// `non_donatable` must outlive the launch.
    #[inline]
    pub(crate) fn new(n_devices: usize, n_args: usize, non_donatable: &[i64]) -> Self {
        let mut launch = Launch { args: Padded::new(), options: Padded::new() };
        launch.args.num_devices = n_devices;
        launch.args.num_args = n_args;
        if !non_donatable.is_empty() {
            launch.options.non_donatable_input_indices = non_donatable.as_ptr();
            launch.options.num_non_donatable_input_indices = non_donatable.len();
        }
        launch
    }

    /// `options` and `values` must outlive the launch.
    pub(crate) fn fill(&mut self, options: &ExecuteOptions, values: &[sys::PJRT_NamedValue]) {
        self.options.launch_id = options.launch_id;
        if let Some(location) = &options.call_location {
            self.options.call_location = location.as_ptr();
        }
        self.options.custom_options = values.as_ptr();
        self.options.num_custom_options = values.len();
        if let Some(device) = &options.device {
            self.args.execute_device = device.raw.as_ptr();
        }
    }
}
