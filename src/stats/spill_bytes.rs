//! Bytes that spills and other accesses to local memory move, by the names of ptxas's statistics.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Bytes that the spills of a thread store and load, and bytes of its other accesses to local memory. Each instruction
/// counts once, whatever its frequency. JSON and [`Display`](fmt::Display) use ptxas's names. [`Display`](fmt::Display)
/// prints the part of ptxas's line that follows the latency estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpillBytes {
    /// Stored to slots in local memory.
    #[serde(rename = "LSpillB")]
    pub local_stored: u64,
    /// Loaded from slots in local memory.
    #[serde(rename = "LRefillB")]
    pub local_loaded: u64,
    /// Stored to slots in shared memory.
    #[serde(rename = "SSpillB")]
    pub shared_stored: u64,
    /// Loaded from slots in shared memory.
    #[serde(rename = "SRefillB")]
    pub shared_loaded: u64,
    /// The fewest bytes of slots in local memory with which code could be generated.
    #[serde(rename = "LowLmemSpillSize")]
    pub least_slots: u64,
    /// Bytes of slots in local memory.
    #[serde(rename = "FrameLmemSpillSize")]
    pub slots: u64,
    /// Stored to variables in local memory.
    #[serde(rename = "LNonSpillB")]
    pub stored: u64,
    /// Loaded from variables in local memory.
    #[serde(rename = "LNonRefillB")]
    pub loaded: u64,
    /// Bytes of variables in local memory.
    #[serde(rename = "NonSpillSize")]
    pub variables: u64,
}

impl SpillBytes {
    /// Adds the bytes of another function.
    pub(super) fn merge(&mut self, other: &Self) {
        let pairs = [
            (&mut self.local_stored, other.local_stored),
            (&mut self.local_loaded, other.local_loaded),
            (&mut self.shared_stored, other.shared_stored),
            (&mut self.shared_loaded, other.shared_loaded),
            (&mut self.least_slots, other.least_slots),
            (&mut self.slots, other.slots),
            (&mut self.stored, other.stored),
            (&mut self.loaded, other.loaded),
            (&mut self.variables, other.variables),
        ];
        pairs.into_iter().for_each(|(sum, bytes)| *sum = sum.saturating_add(bytes));
    }
}

impl fmt::Display for SpillBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "[LSpillB={}] [LRefillB={}], [SSpillB={}], [SRefillB={}], [LowLmemSpillSize={}] [FrameLmemSpillSize={}]",
            self.local_stored, self.local_loaded, self.shared_stored, self.shared_loaded, self.least_slots, self.slots
        )?;
        write!(f, "# [LNonSpillB={}] [LNonRefillB={}], [NonSpillSize={}]", self.stored, self.loaded, self.variables)
    }
}
