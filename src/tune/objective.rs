//! What a search is for, and how much it may ask.

use super::figures::{Allowance, Preference, preference};
use super::price::{LEAST, Work};
use crate::target::machine::{Architecture, SHARED_COST};

/// What a search is for.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// The processor.
    pub architecture: &'static Architecture,
    /// What variants may be worse in than stock.
    pub allowance: Allowance,
    /// What perturbed orders are drawn by.
    pub seed: u32,
    /// What counts first.
    pub preference: Preference,
    /// What a byte in slots in shared memory costs, where one in local memory costs 1.
    pub shared_cost: f64,
}

impl Objective {
    /// The seed, unless a user says another one.
    pub const SEED: u32 = 1;

    /// What a search is for, unless a user says otherwise.
    pub fn new(architecture: &'static Architecture, allowance: Allowance) -> Self {
        Self { architecture, allowance, seed: Self::SEED, preference: preference(&[]), shared_cost: SHARED_COST }
    }
}

/// What a search may use: so many runs of ptxas for each kernel, and no more than its effort.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Of each kernel, at most, beside stock and the best with turned loops.
    pub runs: usize,
    /// What a search of a file may cost; `None` where runs are counted.
    pub effort: Option<Effort>,
}

impl RunLimits {
    /// The runs, unless a user says otherwise.
    pub const RUNS: u32 = 16;

    /// The most runs of a kernel where a share of ptxas's work bounds the search: what more of them find is little.
    const MOST_RUNS: usize = 32;

    /// So many runs of each kernel.
    pub fn of_runs(runs: usize) -> Self {
        Self { runs, effort: None }
    }

    /// A share of ptxas's work.
    pub fn of_effort(effort: Effort) -> Self {
        Self { runs: Self::MOST_RUNS, effort: Some(effort) }
    }
}

/// What a search of a file may cost beside what ptxas takes for the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// How many times what ptxas takes for the file.
    pub times: f64,
    /// What ptxas takes for the file; `None` for what it takes for the kernels that are searched.
    pub file: Option<Work>,
    /// Whether the file is assembled once more in the end, which is part of the cost.
    pub assembles_again: bool,
}

impl Effort {
    /// How many times, unless a user says otherwise.
    pub const TIMES: f64 = 4.0;

    /// The most that a user may say.
    pub const MOST_TIMES: f64 = 1000.0;

    /// What may be spent on the variants of all kernels, for which ptxas takes so much: in times of what it takes, and in any case.
    pub fn work(&self, kernels: Work) -> [Work; 2] {
        let file = self.file.unwrap_or(kernels);
        let in_times = file.times(self.times);
        [in_times, in_times.max(LEAST)].map(|all| if self.assembles_again { all.less(file) } else { all })
    }
}
