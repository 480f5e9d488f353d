//! Who takes part in an exchange, and pairs of numbers.

use super::{Attribute, list};

/// Rows of two numbers: low and high padding of each dim, or source and target of each pair.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pairs(pub Vec<(i64, i64)>);

impl<T: Into<Vec<(i64, i64)>>> From<T> for Pairs {
    fn from(pairs: T) -> Pairs {
        Pairs(pairs.into())
    }
}

impl Attribute for Pairs {
    fn mlir(&self) -> Option<String> {
        let rows = list(self.0.iter().map(|(a, b)| format!("[{a}, {b}]")));
        let rows = if rows.is_empty() { rows } else { format!("[{rows}]") };
        Some(format!("dense<{rows}> : tensor<{}x2xi64>", self.0.len()))
    }
}

/// Groups of replica or partition ids that take part in one collective; all of equal length.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ReplicaGroups(pub Vec<Vec<i64>>);

impl ReplicaGroups {
    /// Ids in each group.
    pub fn size(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }
}

impl<T: Into<Vec<Vec<i64>>>> From<T> for ReplicaGroups {
    fn from(groups: T) -> ReplicaGroups {
        ReplicaGroups(groups.into())
    }
}

impl Attribute for ReplicaGroups {
    fn mlir(&self) -> Option<String> {
        let rows = list(self.0.iter().map(|ids| format!("[{}]", list(ids))));
        let rows = if self.size() == 0 { String::new() } else { format!("[{rows}]") };
        Some(format!("dense<{rows}> : tensor<{}x{}xi64>", self.0.len(), self.size()))
    }
}

/// Number of the channel that a collective across partitions uses; unique in a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Channel(pub i64);

impl Attribute for Channel {
    fn mlir(&self) -> Option<String> {
        Some(format!("#stablehlo.channel_handle<handle = {}, type = 0>", self.0))
    }
}
