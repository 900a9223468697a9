//! The knobs of the allocator, by the names that ptxas has for them.

use crate::allocate::setting::Setting;
use crate::error::Error;

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

    /// The names that [`Self::set`] knows.
    pub const NAMES: [&'static str; 11] = [
        "RegAllocCoalescing",
        "RegAllocCoalesceMaxFanout",
        "RegAllocCoalesceMaxDepth",
        "RegAllocCoalesceMaxWidth",
        "merge-by-weight",
        "merge-rounds",
        "RegAllocMacForce",
        "RegAllocPrefMacOperands",
        "RegAllocNoRetargetPrefs",
        "RegAllocNumNonSpillTrials",
        "RegAllocThresholdForDiscardConflicts",
    ];

    /// Changes a knob. An error says what it may be, or, for a name that is none, `Ok(false)`.
    pub(in crate::allocate) fn set(&mut self, given: Setting<'_>) -> Result<bool, Error> {
        let limit = || given.number(1..=u32::MAX, "a whole number from 1");
        match given.name {
            "RegAllocCoalescing" => self.coalescing = given.switch()?,
            "RegAllocCoalesceMaxFanout" => self.max_fanout = limit()?,
            "RegAllocCoalesceMaxDepth" => self.max_depth = limit()?,
            "RegAllocCoalesceMaxWidth" => self.max_width = limit()?,
            "merge-by-weight" => self.merge_by_weight = given.switch()?,
            "merge-rounds" => self.merge_rounds = limit()?,
            "RegAllocMacForce" => self.mac_force = given.switch()?,
            "RegAllocPrefMacOperands" => self.pref_mac_operands = given.number(0..=3, "0, 1, 2 or 3")?,
            "RegAllocNoRetargetPrefs" => self.no_retarget_prefs = given.switch()?,
            "RegAllocNumNonSpillTrials" => {
                self.num_non_spill_trials = given.number(1..=100, "a number from 1 to 100")?;
            }
            "RegAllocThresholdForDiscardConflicts" => {
                self.discard_threshold = given.number(0..=1 << 20, "a number from 0 to 1048576")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
