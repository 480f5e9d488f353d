//! What is refused before an execution reaches the plugin.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, ErrorCode, Result};
use crate::loaded::LoadedExecutable;
use crate::order::MinorToMajor;

impl LoadedExecutable {
    pub(crate) fn check_devices(&self, n_lists: usize, device: Option<&Device>) -> Result<()> {
        if let Some(device) = device
            && !Arc::ptr_eq(&device.client, &self.0.handle.client)
        {
            return Err(Error::invalid("the device belongs to another client"));
        }
        let n = if device.is_some() { 1 } else { self.n_devices() };
        if n == 0 {
            return Err(Error::invalid("a portable executable needs the device to run on"));
        }
        if n != n_lists {
            return Err(Error::invalid(format!(
                "the program runs on {n} devices, found arguments for {n_lists}"
            )));
        }
        Ok(())
    }

    /// Checks the arguments of one device. A plugin may abort the process on a
    /// wrong one, so what can be known is refused here.
    pub(crate) fn check<'b>(
        &self,
        device: usize,
        args: impl ExactSizeIterator<Item = &'b Buffer>,
    ) -> Result<()> {
        let signature = self.signature();
        if let Some(index) = signature.tuple {
            return Err(takes_tuple(index));
        }
        let found = args.len();
        if let Some(n) = signature.n_parameters
            && n != found
        {
            return Err(Error::invalid(format!("the program takes {n} arguments, found {found}")));
        }
        for (i, arg) in args.enumerate() {
            if !Arc::ptr_eq(&arg.client, &self.0.handle.client) {
                return Err(Error::invalid(format!("argument {i} belongs to another client")));
            }
            let expected = signature.parameters.as_ref().and_then(|p| p.get(i)?.as_ref());
            if let Some(expected) = expected
                && *expected != *arg.shape
            {
                return Err(Error::invalid(format!(
                    "argument {i} of device {device}: expected {expected}, found {}",
                    arg.shape()
                )));
            }
            let order = signature.orders.get(i).and_then(Option::as_ref);
            if order != arg.form.order.as_ref() {
                return Err(wrong_order(i, order, arg));
            }
        }
        Ok(())
    }
}

/// A plugin takes each argument for a parameter, and may abort where it is a tuple of them.
#[cold]
fn takes_tuple(index: usize) -> Error {
    Error::with_code(
        ErrorCode::Unimplemented,
        format!(
            "parameter {index} of the program is a tuple, and arguments are arrays: make each \
             member a parameter of its own"
        ),
    )
}

/// The plugin would read the elements in the wrong order.
#[cold]
fn wrong_order(index: usize, expected: Option<&Arc<MinorToMajor>>, found: &Buffer) -> Error {
    let named = |order: Option<&Arc<MinorToMajor>>| match order {
        Some(order) => format!("dimension order {order}"),
        None => "the usual dimension order".to_owned(),
    };
    Error::invalid(format!(
        "argument {index}: expected {}, found {}; read it to the host and send it again, or let \
         both programs use one layout",
        named(expected),
        named(found.form.order.as_ref())
    ))
}
