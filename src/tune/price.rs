//! The cost of a search's runs, estimated by rule. The rule gives the same cost on each machine, so no result depends
//! on the speed of a machine.
//!
//! The unit is a microsecond of CPU time on the machine on which the rules were fitted (docs/notebook).

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of work, in microseconds of CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work(pub u64);

/// ptxas's start.
const START: Work = Work(13_000);

/// ptxas's time for a machine instruction of a kernel, and its additional time if the kernel spills.
const OF_AN_INSTRUCTION: u64 = 53;
const OF_A_SPILLING_ONE: u64 = 86;

/// The passes' time for a variant, in percent of a ptxas run on its PTX.
const COMPILED_HUNDREDTHS: u64 = 25;

/// The disassembler's time to list the spilled values, in addition to the ptxas run.
const LOOK: Work = Work(500_000);

/// The effort that is always allowed for a file.
pub const LEAST: Work = Work(500_000);

impl Work {
    /// Estimates a ptxas run on a file with these kernels: the machine instructions of each, and whether it has stack
    /// traffic.
    pub fn of_run(kernels: impl IntoIterator<Item = (u32, bool)>) -> Self {
        let of = |(instructions, spills): (u32, bool)| {
            let each = OF_AN_INSTRUCTION + if spills { OF_A_SPILLING_ONE } else { 0 };
            Self(u64::from(instructions) * each)
        };
        START + kernels.into_iter().map(of).sum()
    }

    /// Estimates the passes on a PTX module, from its ptxas run.
    pub fn of_passes(run: Self) -> Self {
        Self(run.0 * COMPILED_HUNDREDTHS / 100)
    }

    /// Estimates a ptxas run and the search for spilled values in its machine code.
    pub fn of_inspection(run: Self) -> Self {
        run + LOOK
    }

    /// Multiplies by `factor`.
    pub fn times(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor) as u64)
    }

    /// Subtracts `other`, down to 0.
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the fraction of `all`.
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

    /// Larger kernels and kernels that spill cost more, and no number overflows.
    #[test]
    fn runs() {
        let of = |instructions, spills| Work::of_run([(instructions, spills)]);
        assert!(of(1000, true) > of(1000, false) && of(1000, false) > of(999, false));
        assert_eq!(Work::of_run([(500, false); 2]), of(1000, false));
        assert_eq!(of(1000, false).times(0.5).share_of(of(1000, false)), 0.5);
        assert_eq!((Work(5).less(Work(9)), Work(u64::MAX) + Work(1)), (Work(0), Work(u64::MAX)));
    }
}
