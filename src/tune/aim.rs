//! What a search is for, and how much it may ask.

use super::figures::{Allowance, Preference, preference};
use crate::target::machine::{Architecture, SHARED_COST};

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

impl Aim {
    /// The seed, unless a user says another one.
    pub const SEED: u32 = 1;

    /// What a search is for, unless a user says otherwise.
    pub fn new(architecture: &'static Architecture, allowance: Allowance) -> Self {
        Self { architecture, allowance, seed: Self::SEED, preference: preference(&[]), shared_cost: SHARED_COST }
    }
}

/// How many variants are judged.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Of each kernel, beside stock and the best with turned loops.
    pub runs: usize,
}

impl Budget {
    /// The runs, unless a user says otherwise.
    pub const RUNS: u32 = 16;
}
