//! The knobs of the allocator, by the names that ptxas has for them.

use crate::config::Setting;
use crate::config::SettingValue::{Number, Switch};

/// What can be set. Numbers of knobs are those of ptxas 13.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// `RegAllocCoalescing` (618): the sides of copies are merged.
    pub coalescing: bool,
    /// `RegAllocCoalesceMaxFanout` (531): the most copies that are merged into one live range.
    pub max_fanout: u32,
    /// `RegAllocCoalesceMaxDepth` (529): the most live ranges that become one.
    pub max_depth: u32,
    /// `RegAllocCoalesceMaxWidth` (530): the widest that are merged, in units.
    pub max_width: u32,
    /// Two nodes are merged only where what the copy writes weighs no more than what it reads.
    pub merge_by_weight: bool,
    /// Times that the copies are gone through, as long as one is merged. At least 1.
    pub merge_rounds: u32,
    /// `RegAllocMacForce` (628): candidates for pre-allocation get their places before all others, not only a wish.
    pub mac_force: bool,
    /// `RegAllocPrefMacOperands` (646): which side of a copy of something fixed is a candidate. 0: none; 1: what the
    /// copy reads; 2: what it writes; 3: both.
    pub pref_mac_operands: u32,
    /// `RegAllocNoRetargetPrefs` (638): what has a place is not moved to another one to make room.
    pub no_retarget_prefs: bool,
    /// `RegAllocNumNonSpillTrials` (639): trials without spilling, and then as many with it. At least 1.
    pub num_non_spill_trials: u32,
    /// `RegAllocThresholdForDiscardConflicts` (684): a place whose primary cost is above it is not taken.
    pub discard_threshold: u32,
}

impl Knobs {
    /// Read from ptxas where a value is known: the threshold of 50, and what is a switch. The number of trials and the
    /// limits of coalescing have defaults that nobody has read: 2 trials (a third brought nothing), and no limits.
    pub const PTXAS: Self = Self {
        coalescing: true,
        max_fanout: u32::MAX,
        max_depth: u32::MAX,
        max_width: u32::MAX,
        merge_by_weight: false,
        merge_rounds: 1,
        mac_force: false,
        pref_mac_operands: 3,
        no_retarget_prefs: false,
        num_non_spill_trials: 2,
        discard_threshold: 50,
    };

    /// Changes a knob.
    pub(in crate::allocate) fn set(&mut self, setting: &Setting) {
        match (setting.name, &setting.value) {
            ("RegAllocCoalescing", &Switch(is_on)) => self.coalescing = is_on,
            ("RegAllocCoalesceMaxFanout", &Number(most)) => self.max_fanout = most,
            ("RegAllocCoalesceMaxDepth", &Number(most)) => self.max_depth = most,
            ("RegAllocCoalesceMaxWidth", &Number(most)) => self.max_width = most,
            ("merge-by-weight", &Switch(is_on)) => self.merge_by_weight = is_on,
            ("merge-rounds", &Number(rounds)) => self.merge_rounds = rounds,
            ("RegAllocNumNonSpillTrials", &Number(trials)) => self.num_non_spill_trials = trials,
            ("RegAllocThresholdForDiscardConflicts", &Number(threshold)) => self.discard_threshold = threshold,
            (name, value) => debug_assert!(false, "{name}={value}: in the table, and set nowhere"),
        }
    }
}
