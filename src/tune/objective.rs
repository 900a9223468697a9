//! The goal of a search, and its limits.

use super::figures::{Allowance, Preference, preference};
use super::price::{LEAST, Work};
use crate::target::machine::{Architecture, SHARED_COST};

/// The goal of a search.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// The processor.
    pub architecture: &'static Architecture,
    /// Figures in which variants may be worse than stock.
    pub allowance: Allowance,
    /// The seed of perturbed orders.
    pub seed: u32,
    /// The order in which figures count.
    pub preference: Preference,
    /// The cost of a byte in shared slots, as a multiple of a byte in local memory.
    pub shared_cost: f64,
}

impl Objective {
    /// The default seed.
    pub const SEED: u32 = 1;

    /// Returns the default goal.
    pub fn new(architecture: &'static Architecture, allowance: Allowance) -> Self {
        Self { architecture, allowance, seed: Self::SEED, preference: preference(&[]), shared_cost: SHARED_COST }
    }
}

/// The limits of a search: a number of ptxas runs for each kernel, and its effort.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// The most runs for each kernel, besides stock and the best variant with turned loops.
    pub runs: usize,
    /// The effort for a file. `None` if only runs are counted.
    pub effort: Option<Effort>,
}

impl RunLimits {
    /// The default number of runs.
    pub const RUNS: u32 = 16;

    /// The most runs for a kernel if effort limits the search. Additional runs find little.
    const MOST_RUNS: usize = 32;

    /// Limits the runs for each kernel.
    pub fn of_runs(runs: usize) -> Self {
        Self { runs, effort: None }
    }

    /// Limits the effort.
    pub fn of_effort(effort: Effort) -> Self {
        Self { runs: Self::MOST_RUNS, effort: Some(effort) }
    }
}

/// The CPU time that the search of a file may use, relative to ptxas's time for the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// The effort as a multiple of ptxas's time for the file.
    pub times: f64,
    /// ptxas's time for the file. If `None`, ptxas's time for the searched kernels counts.
    pub file: Option<Work>,
    /// Whether the file is assembled once more at the end, which is part of the cost.
    pub assembles_again: bool,
}

impl Effort {
    /// The default multiple.
    pub const TIMES: f64 = 4.0;

    /// The largest multiple that a user may set.
    pub const MOST_TIMES: f64 = 1000.0;

    /// Returns what the variants of all kernels may cost: first by the multiple alone, then at least the minimum that
    /// is always allowed. `kernels` is ptxas's time for all kernels.
    pub fn work(&self, kernels: Work) -> [Work; 2] {
        let file = self.file.unwrap_or(kernels);
        let in_times = file.times(self.times);
        [in_times, in_times.max(LEAST)].map(|all| if self.assembles_again { all.less(file) } else { all })
    }
}
