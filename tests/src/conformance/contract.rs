//! TODO of the family.

use crate::Case;

/// The cases.
pub fn cases() -> Vec<Case> {
    Vec::new()
}
