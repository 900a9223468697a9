//! What values are chosen for, and by which means.

use crate::config::{KeepInLoops, NamedLoad, Redefined, SpillTo};
use crate::function::VReg;
use crate::index::IndexVec;

/// What values are chosen for.
#[derive(Clone, Debug)]
pub struct Aim {
    /// At most so many words are to be live at each instruction.
    pub words: u32,
    /// At most so many values are chosen.
    pub values: usize,
    /// Whether values may be stored and loaded in loops.
    pub in_loops: KeepInLoops,
    /// Whether values with several definitions may be chosen.
    pub redefined: Redefined,
    /// The values that the price list may choose; `None`: all.
    pub among: Option<IndexVec<VReg, bool>>,
    /// By register, what ptxas pays for its own spills of it. All values that have this are chosen, however few words are live,
    /// unless they would cost much more; and no others are.
    pub paid: Option<IndexVec<VReg, Option<Paid>>>,
    /// Where they may go.
    pub to: SpillTo,
    /// At most so many choices are tried, until one reaches `words`.
    pub trials: u32,
    /// Whether a value may be stored further down than its definitions, where that is rarer.
    pub sinks: bool,
    /// Whether one load may serve what several were chosen for.
    pub hoists: bool,
    /// The most bytes of a thread's slots in local memory.
    pub most_local: u32,
    /// The most bytes of a store or load: 4, or 8 or 16 for several values at once.
    pub access_bytes: u32,
}

/// What ptxas's own spills of a register are.
#[derive(Clone, Debug, PartialEq)]
pub struct Paid {
    /// How many words they move, each as often as it runs.
    pub moves: f64,
    /// The loads, if that is known.
    pub loads: Vec<NamedLoad>,
}

/// What a trial may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Means {
    /// Values with several definitions go.
    pub is_redefined: bool,
    /// Whether values may be stored and loaded in loops.
    pub in_loops: KeepInLoops,
}

impl Aim {
    /// One choice of all values, none with several definitions, and nothing in loops; what a test does not say otherwise.
    #[cfg(test)]
    pub(crate) fn plain(words: u32, to: SpillTo) -> Self {
        Self {
            words,
            values: usize::MAX,
            in_loops: KeepInLoops::Off,
            redefined: Redefined::Off,
            among: None,
            paid: None,
            to,
            trials: 1,
            most_local: u32::MAX,
            sinks: false,
            hoists: false,
            access_bytes: 4,
        }
    }

    /// The means of the trials, each with those of the one before and more.
    pub(super) fn means(&self) -> Vec<Means> {
        let first = Means { is_redefined: self.redefined == Redefined::On, in_loops: self.in_loops };
        let may_be_redefined = self.redefined != Redefined::Off;
        let loops = |wider: KeepInLoops| if self.in_loops == KeepInLoops::Auto { wider } else { self.in_loops };
        let redefined = Means { is_redefined: may_be_redefined, ..first };
        let around = Means { in_loops: loops(KeepInLoops::Around), ..redefined };
        let all = Means { in_loops: loops(KeepInLoops::On), ..around };
        let mut means = vec![first, redefined, around, all];
        means.dedup();
        means
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each trial has more means than the one before, and none does what an option forbids.
    #[test]
    fn means_grow_as_far_as_options_allow() {
        let aim = |in_loops, redefined| Aim { in_loops, redefined, trials: 9, ..Aim::plain(1, SpillTo::SHARED) };
        assert_eq!(aim(KeepInLoops::Auto, Redefined::Auto).means().len(), 4);
        for in_loops in [KeepInLoops::Off, KeepInLoops::Around, KeepInLoops::On] {
            for redefined in [Redefined::Off, Redefined::On] {
                let fixed = aim(in_loops, redefined).means();
                assert_eq!(fixed.len(), 1);
                assert!(fixed.iter().all(|means| means.in_loops == in_loops));
                assert!(fixed.iter().all(|means| means.is_redefined == (redefined == Redefined::On)));
            }
        }
    }
}
