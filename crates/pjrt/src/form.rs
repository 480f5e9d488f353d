//! What about an array's memory its shape does not say.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;

use crate::api::function;
use crate::buffer::Buffer;
use crate::client::Client;
use crate::element_type::ElementType;
use crate::error::{Error, ErrorCode, Result};
use crate::layout::layout_of;
use crate::order::MinorToMajor;
use crate::shape::Shape;

/// In what an array differs from the dense one that its shape describes. Found
/// out once per executable, for its outputs; all other arrays are ordinary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether the shape only bounds the array: its real size is in its memory.
    pub(crate) dynamic: bool,
    /// The order of its dimensions, where it is not the client's own.
    pub(crate) order: Option<Arc<MinorToMajor>>,
}

impl Form {
    /// Asks a buffer. What the plugin does not tell is taken to be ordinary.
    ///
    /// # Safety
    /// `raw` must be a live buffer of the plugin with this shape.
    pub(crate) unsafe fn of(
        client: &Client,
        raw: NonNull<sys::PJRT_Buffer>,
        shape: &Shape,
    ) -> Self {
        // A token has no dimensions, and plugins abort when asked about them.
        if shape.element_type() == ElementType::Token {
            return Form::default();
        }
        let function = function!(PJRT_Buffer_DynamicDimensionIndices);
        // SAFETY: as promised by the caller.
        let args = unsafe { client.api().get(function, |a| a.buffer = raw.as_ptr()) };
        let dynamic = args.is_ok_and(|args| args.num_dynamic_dims != 0);
        // SAFETY: as promised by the caller.
        let layout = unsafe { layout_of(client, raw) };
        let order = layout.ok().and_then(|layout| MinorToMajor::of_layout(&layout));
        Form { dynamic, order: order.and_then(|order| client.unusual_order(shape, order)) }
    }
}

/// As in "cannot stand for".
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.order {
            _ if self.dynamic => f.write_str("an array of dynamic size"),
            Some(order) => write!(f, "an array of dimension order {order}"),
            None => f.write_str("an ordinary array"),
        }
    }
}

/// What every execution of a program returns at one position.
pub(crate) struct Output {
    pub(crate) shape: Arc<Shape>,
    pub(crate) form: Form,
}

/// The CPU plugin of API 0.81 copies an array as it lies on the device, whatever
/// order is asked for; that of 0.115 heeds it. In between, older is taken to be
/// like the old one.
const HEEDS_HOST_LAYOUT: i32 = 90;

impl Buffer {
    /// Refuses to read an array whose bytes would not be those of its shape.
    pub(crate) fn check_readable(&self) -> Result<()> {
        let refused = |message| Err(Error::with_code(ErrorCode::Unimplemented, message));
        // A plugin would write less than the bounds, in the real array's order.
        if self.form.dynamic {
            return refused(format!(
                "{} is the bound of an array of dynamic size, which cannot be read: return it \
                 padded to a fixed size, and the size beside it",
                self.shape()
            ));
        }
        let (_, found) = self.client.plugin.api_version();
        match &self.form.order {
            Some(order) if found < HEEDS_HOST_LAYOUT => refused(format!(
                "{} has dimension order {order}, and a plugin of PJRT API 0.{found} would \
                 return its elements in that order: let the program return it in the usual order \
                 (without mhlo.layout_mode), or use a plugin of 0.{HEEDS_HOST_LAYOUT} or newer",
                self.shape()
            )),
            _ => Ok(()),
        }
    }
}
