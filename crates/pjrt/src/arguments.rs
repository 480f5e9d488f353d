//! Arguments of an execution: lent or given away.

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::signature::Signature;

/// One argument: lent (`(&buffer).into()`) or donated (`buffer.into()`).
///
/// A program compiled with parameter aliasing writes its output into the memory
/// of a donated argument. Because donating moves the buffer, no one can read it
/// afterwards; a lent one is never overwritten.
#[derive(Debug)]
pub enum Argument<'b> {
    /// Survives the execution unchanged.
    Borrowed(&'b Buffer),
    /// Consumed by the execution.
    Donated(Buffer),
}

impl<'b> From<&'b Buffer> for Argument<'b> {
    fn from(buffer: &'b Buffer) -> Self {
        Argument::Borrowed(buffer)
    }
}

impl From<Buffer> for Argument<'_> {
    fn from(buffer: Buffer) -> Self {
        Argument::Donated(buffer)
    }
}

impl Argument<'_> {
    pub(crate) fn buffer(&self) -> &Buffer {
        match self {
            Argument::Borrowed(buffer) => buffer,
            Argument::Donated(buffer) => buffer,
        }
    }

    fn is_borrowed(&self) -> bool {
        matches!(self, Argument::Borrowed(_))
    }
}

/// The indices the plugin must not take over: those the program would, among
/// the borrowed ones, and those the caller lists.
pub(crate) fn borrowed_indices(
    lists: &[Vec<Argument<'_>>],
    signature: &Signature,
    listed: &[i64],
) -> Result<Vec<i64>> {
    let Some(first) = lists.first() else { return Ok(Vec::new()) };
    let n_args = first.len();
    if let Some(uneven) = lists.iter().find(|list| list.len() != n_args) {
        let found = uneven.len();
        return Err(Error::invalid(format!(
            "all devices take the same number of arguments, found {n_args} and {found}"
        )));
    }
    if let Some(outside) = listed.iter().find(|i| !(0..n_args as i64).contains(i)) {
        return Err(Error::invalid(format!(
            "non-donatable index {outside} is outside the {n_args} arguments"
        )));
    }
    let mut kept = Vec::new();
    for i in 0..n_args {
        let n_borrowed = lists.iter().filter(|list| list[i].is_borrowed()).count();
        if n_borrowed != 0 && n_borrowed != lists.len() {
            return Err(Error::invalid(format!(
                "argument {i} is donated on some devices and lent on others"
            )));
        }
        let index = i as i64;
        let may_be_taken = !signature.donations_known || signature.donated.contains(&index);
        if may_be_taken && (n_borrowed != 0 || listed.contains(&index)) {
            kept.push(index);
        }
    }
    Ok(kept)
}
