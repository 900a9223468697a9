//! Work of a pass on a function.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Counts, Frequencies, SpillBytes};

/// Work of a pass on one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionStats {
    /// The function's name.
    pub function: String,
    /// The pass's name.
    pub pass: String,
    /// The target architecture.
    pub target: String,
    /// The work.
    #[serde(flatten)]
    pub work: Work,
}

/// Work of a pass, on one function or on many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Instructions before the pass.
    pub insts: u64,
    /// Copies before the pass, by family.
    pub copies_before: Counts,
    /// Copies after the pass, by family.
    pub copies_after: Counts,
    /// Executed copies before the pass, for one execution of the function, by family.
    pub executed_before: Frequencies,
    /// Executed copies after the pass, for one execution of the function, by family.
    pub executed_after: Frequencies,
    /// Pairs of registers that were merged.
    pub merges: u64,
    /// PHIs before the pass.
    pub phis: u64,
    /// Registers in use before the pass, if the pass renames registers.
    pub registers_before: u64,
    /// Registers in use after the pass, if the pass renames registers.
    pub registers_after: u64,
    /// Instructions whose preceding instruction has changed.
    pub moved: u64,
    /// Copies that stay, by reason.
    pub refusals: Counts,
    /// Rematerialised constants.
    pub constants_rematerialised: u64,
    /// Values that are spilled to shared memory.
    pub values_kept: u64,
    /// Bytes of shared memory for each block that the slots of these values take.
    pub slot_bytes: u64,
    /// Bytes of L1 cache that an SM loses to the slots; the maximum over several functions.
    pub cache_given_up: u64,
    /// Bytes that spills move, and bytes of the function's other accesses to local memory. All 0 if the pass does not
    /// change the function.
    pub spills: SpillBytes,
    /// Edits by kind.
    pub edits: Counts,
    /// Nanoseconds by phase.
    pub time_ns: Counts,
}

impl Work {
    /// Adds the time since `start` to a phase. Returns the present time, at which the next phase starts.
    pub fn lap(&mut self, phase: &'static str, start: Instant) -> Instant {
        let now = Instant::now();
        self.time_ns.add(phase, nanoseconds(now - start));
        now
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.insts = self.insts.saturating_add(other.insts);
        self.merges = self.merges.saturating_add(other.merges);
        self.registers_before = self.registers_before.saturating_add(other.registers_before);
        self.registers_after = self.registers_after.saturating_add(other.registers_after);
        self.phis = self.phis.saturating_add(other.phis);
        self.moved = self.moved.saturating_add(other.moved);
        self.constants_rematerialised = self.constants_rematerialised.saturating_add(other.constants_rematerialised);
        self.values_kept = self.values_kept.saturating_add(other.values_kept);
        self.slot_bytes = self.slot_bytes.saturating_add(other.slot_bytes);
        self.cache_given_up = self.cache_given_up.max(other.cache_given_up);
        self.spills.merge(&other.spills);
        self.copies_before.merge(&other.copies_before);
        self.copies_after.merge(&other.copies_after);
        self.executed_before.merge(&other.executed_before);
        self.executed_after.merge(&other.executed_after);
        self.refusals.merge(&other.refusals);
        self.edits.merge(&other.edits);
        self.time_ns.merge(&other.time_ns);
    }
}

/// Returns the duration in nanoseconds; the largest `u64` for centuries.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
