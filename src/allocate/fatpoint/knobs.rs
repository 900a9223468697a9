//! Knobs of the allocator, under ptxas's names.

use crate::config::Setting;
use crate::config::SettingValue::{Number, Switch};

/// Settings of the allocator. The numbers in parentheses are the knobs of ptxas 13.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// `RegAllocCoalescing` (618): whether the sides of copies are merged.
    pub coalescing: bool,
    /// `RegAllocCoalesceMaxFanout` (531): the most copies that are merged into one live range.
    pub max_fanout: u32,
    /// `RegAllocCoalesceMaxDepth` (529): the most live ranges that become one.
    pub max_depth: u32,
    /// `RegAllocCoalesceMaxWidth` (530): the widest live ranges that are merged, in units.
    pub max_width: u32,
    /// Whether two nodes are merged only if the copy's target weighs at most as much as its source.
    pub merge_by_weight: bool,
    /// The most passes over the copies, at least 1. Another pass follows only if the last pass merged a copy.
    pub merge_rounds: u32,
    /// `RegAllocNumNonSpillTrials` (639): number of trials without spilling, at least 1. By default, also the number of
    /// attempts with spilling.
    pub num_non_spill_trials: u32,
    /// Number of attempts with spilling, at least 1. `None`: the number of trials without spilling.
    pub spill_trials: Option<u32>,
    /// Units by which each attempt with spilling lowers the target. At least 1.
    pub retry_step: u32,
    /// Whether spill guidance first takes candidates from queues, by cost.
    pub guidance_queues: bool,
}

impl Knobs {
    /// The values that could be read from ptxas: the switches, and the step of 1 by which the target falls. The number
    /// of trials and the limits of coalescing could not be read. Their values here are 2 trials (a third trial had no
    /// effect), and no limits.
    pub const PTXAS: Self = Self {
        coalescing: true,
        max_fanout: u32::MAX,
        max_depth: u32::MAX,
        max_width: u32::MAX,
        merge_by_weight: false,
        merge_rounds: 1,
        num_non_spill_trials: 2,
        spill_trials: None,
        retry_step: 1,
        guidance_queues: true,
    };

    /// The values of ptxas, but with guidance that only walks from the fattest point to the next, by cost for the
    /// relief.
    pub const HW: Self = Self { guidance_queues: false, ..Self::PTXAS };

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
            ("spill-trials", &Number(trials)) => self.spill_trials = Some(trials),
            ("retry-step", &Number(units)) => self.retry_step = units,
            ("guidance-queues", &Switch(is_on)) => self.guidance_queues = is_on,
            (name, value) => debug_assert!(false, "{name}={value}: in the table, and set nowhere"),
        }
    }
}
