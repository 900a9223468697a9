//! What a search is for, and how much it may ask.

use super::figures::{Allowance, Figures, Preference};
use crate::target::machine::Architecture;

/// What a search is for.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
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

/// How many variants are judged.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Of each kernel.
    pub runs: usize,
    /// Of a kernel that spills.
    pub runs_for_spills: usize,
}

impl Budget {
    /// Of a kernel whose code costs so much without the passes.
    pub fn of(&self, stock: &Figures) -> usize {
        if stock.spill_bytes() > 0 { self.runs_for_spills } else { self.runs }
    }
}
