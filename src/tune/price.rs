//! What the runs of a search cost, by rule: the same on each machine, so that no result depends on how fast a machine is.
//!
//! The unit is a microsecond of CPU time on the machine on which the rules were fitted (docs/notebook).

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of work, in microseconds of CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work(pub u64);

/// What ptxas takes to start.
const START: Work = Work(13_000);

/// What ptxas takes for a machine instruction of a kernel, and what it takes more if the kernel spills.
const OF_AN_INSTRUCTION: u64 = 53;
const OF_A_SPILLING_ONE: u64 = 86;

/// What the passes take to make the text of a variant, in hundredths of a run of ptxas on it.
const COMPILED_HUNDREDTHS: u64 = 25;

/// What the disassembler takes to say what is spilled, beside the run of ptxas.
const LOOK: Work = Work(500_000);

/// What may be spent on a file in any case.
pub const LEAST: Work = Work(500_000);

impl Work {
    /// A run of ptxas on a file with these kernels: the machine instructions of each, and whether it moves values to and from
    /// the stack.
    pub fn of_run(kernels: impl IntoIterator<Item = (u32, bool)>) -> Self {
        let of = |(instructions, spills): (u32, bool)| {
            let each = OF_AN_INSTRUCTION + if spills { OF_A_SPILLING_ONE } else { 0 };
            Self(u64::from(instructions) * each)
        };
        START + kernels.into_iter().map(of).sum()
    }

    /// The passes on a text that ptxas takes so long for.
    pub fn of_passes(run: Self) -> Self {
        Self(run.0 * COMPILED_HUNDREDTHS / 100)
    }

    /// A run of ptxas and a look for what it spills.
    pub fn of_inspection(run: Self) -> Self {
        run + LOOK
    }

    /// So many times as much.
    pub fn times(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor) as u64)
    }

    /// What is left of it.
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// What it is of another amount.
    pub fn share_of(self, all: Self) -> f64 {
        if all.0 == 0 { 0.0 } else { self.0 as f64 / all.0 as f64 }
    }
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Larger kernels and those that spill cost more, and no number overflows.
    #[test]
    fn runs() {
        let of = |instructions, spills| Work::of_run([(instructions, spills)]);
        assert!(of(1000, true) > of(1000, false) && of(1000, false) > of(999, false));
        assert_eq!(Work::of_run([(500, false); 2]), of(1000, false));
        assert_eq!(of(1000, false).times(0.5).share_of(of(1000, false)), 0.5);
        assert_eq!((Work(5).less(Work(9)), Work(u64::MAX) + Work(1)), (Work(0), Work(u64::MAX)));
    }
}
