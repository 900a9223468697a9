//! Goals and limits of one spilling attempt.

use crate::config::{KeepInLoops, NamedLoad, Redefined, SpillTo};
use crate::function::VReg;
use crate::index::IndexVec;

/// Goals and limits of one spilling attempt.
#[derive(Clone, Debug)]
pub struct SpillGoal {
    /// Most words that should be live at each instruction.
    pub max_live_words: u32,
    /// Most values that are chosen.
    pub max_values: usize,
    /// Whether values may be stored and loaded in loops.
    pub in_loops: KeepInLoops,
    /// Whether values with several definitions may be chosen.
    pub redefined: Redefined,
    /// The values that the cost model may choose; `None` for all.
    pub candidates: Option<IndexVec<VReg, bool>>,
    /// ptxas's own spills by register. All of these values are chosen, however few words are live, unless spilling them
    /// would cost much more than ptxas's spills. No other values are chosen.
    pub ptxas_spills: Option<IndexVec<VReg, Option<PtxasSpill>>>,
    /// The memories that slots may lie in, and whether values may be rematerialised.
    pub spill_to: SpillTo,
    /// Most trials, if none of them reaches `max_live_words`.
    pub max_trials: u32,
    /// Whether a value may be stored further down than its definitions, if the code there is executed less often.
    pub sinks: bool,
    /// Whether one load may replace several.
    pub hoists: bool,
    /// Most bytes of a thread's slots in local memory.
    pub max_local_bytes: u32,
    /// Most bytes of a store or load: 4 for one value, or 8 or 16 for several values at once.
    pub max_access_bytes: u32,
}

/// ptxas's own spills of a register.
#[derive(Clone, Debug, PartialEq)]
pub struct PtxasSpill {
    /// Number of words that they move, weighted by frequency.
    pub moved_words: f64,
    /// The loads, if known.
    pub loads: Vec<NamedLoad>,
}

/// Means that a trial may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// Whether values with several definitions may be spilled.
    pub is_redefined: bool,
    /// Whether values may be stored and loaded in loops.
    pub in_loops: KeepInLoops,
}

impl SpillGoal {
    /// A single trial that spills no values with several definitions, and places no stores or loads in loops: the
    /// default of tests.
    #[cfg(test)]
    pub(crate) fn plain(words: u32, to: SpillTo) -> Self {
        Self {
            max_live_words: words,
            max_values: usize::MAX,
            in_loops: KeepInLoops::Off,
            redefined: Redefined::Off,
            candidates: None,
            ptxas_spills: None,
            spill_to: to,
            max_trials: 1,
            max_local_bytes: u32::MAX,
            sinks: false,
            hoists: false,
            max_access_bytes: 4,
        }
    }

    /// Returns the means of the trials. Each trial has all means of the previous trial, and more.
    pub(super) fn permissions(&self) -> Vec<Permissions> {
        let first = Permissions { is_redefined: self.redefined == Redefined::On, in_loops: self.in_loops };
        let may_be_redefined = self.redefined != Redefined::Off;
        let loops = |wider: KeepInLoops| if self.in_loops == KeepInLoops::Auto { wider } else { self.in_loops };
        let redefined = Permissions { is_redefined: may_be_redefined, ..first };
        let around = Permissions { in_loops: loops(KeepInLoops::Around), ..redefined };
        let all = Permissions { in_loops: loops(KeepInLoops::On), ..around };
        let mut permissions = vec![first, redefined, around, all];
        permissions.dedup();
        permissions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each trial has more means than the previous trial, and no trial has means that an option forbids.
    #[test]
    fn means_grow_as_far_as_options_allow() {
        let goal = |in_loops, redefined| SpillGoal {
            in_loops,
            redefined,
            max_trials: 9,
            ..SpillGoal::plain(1, SpillTo::SHARED)
        };
        assert_eq!(goal(KeepInLoops::Auto, Redefined::Auto).permissions().len(), 4);
        for in_loops in [KeepInLoops::Off, KeepInLoops::Around, KeepInLoops::On] {
            for redefined in [Redefined::Off, Redefined::On] {
                let fixed = goal(in_loops, redefined).permissions();
                assert_eq!(fixed.len(), 1);
                assert!(fixed.iter().all(|permissions| permissions.in_loops == in_loops));
                assert!(fixed.iter().all(|permissions| permissions.is_redefined == (redefined == Redefined::On)));
            }
        }
    }
}
