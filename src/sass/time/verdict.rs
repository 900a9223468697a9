//! Which of two codes of a kernel is faster, and how sure that is.

use super::prediction::{Prediction, Source};

/// What the model says of a second code beside a first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Time of the second over time of the first.
    pub ratio: f64,
    /// By what factor the ratio may be wrong, two times out of three.
    pub uncertainty: f64,
}

/// By what factor a ratio is wrong two times out of three, of codes that ran (docs/time.md has the figures).
const RUN: f64 = 1.11;
/// The same of a walk through the code.
const WALK: f64 = 1.35;

impl Verdict {
    /// Compares two codes, each with the mean of data in L2 and data in DRAM.
    pub fn of(first: &Prediction, second: &Prediction) -> Self {
        let [first_cycles, second_cycles] = [first, second].map(Prediction::cycles_of_block);
        let ratios = [0, 1].map(|data| second_cycles[data] / first_cycles[data].max(1.0));
        let ratio = (ratios[0] * ratios[1]).sqrt();
        let is_run = [first, second].iter().all(|one| one.source == Source::Run);
        // Where L2 and DRAM say unlike things, the launch decides, and the model does not know it.
        let apart = (ratios[0] / ratios[1]).ln().abs().exp().sqrt();
        Self { ratio, uncertainty: if is_run { RUN } else { WALK } * apart }
    }

    /// Whether the second is faster beyond the uncertainty.
    pub fn is_surely_faster(&self) -> bool {
        self.ratio * self.uncertainty < 1.0
    }

    /// Whether the second is slower beyond the uncertainty.
    pub fn is_surely_slower(&self) -> bool {
        self.ratio > self.uncertainty
    }
}
