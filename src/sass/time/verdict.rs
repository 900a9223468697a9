//! A comparison of two versions of a kernel, with its uncertainty.

use super::prediction::{Prediction, Source};

/// The predicted time of a second version relative to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The time of the second over the time of the first.
    pub ratio: f64,
    /// The factor by which the ratio may be wrong in two cases out of three.
    pub uncertainty: f64,
}

/// The uncertainty if both launches ran to their end (docs/time.md has the figures).
const RUN: f64 = 1.11;
/// The uncertainty of a walk through the code.
const WALK: f64 = 1.35;

impl Verdict {
    /// Compares two versions by the geometric mean of the ratios with data in L2 and in DRAM.
    pub fn of(first: &Prediction, second: &Prediction) -> Self {
        let [first_cycles, second_cycles] = [first, second].map(Prediction::cycles_of_block);
        let ratios = [0, 1].map(|data| second_cycles[data] / first_cycles[data].max(1.0));
        let ratio = (ratios[0] * ratios[1]).sqrt();
        let is_run = [first, second].iter().all(|one| one.source == Source::Run);
        // If the ratios for L2 and DRAM differ, the answer depends on the launch, which the model does not know.
        let apart = (ratios[0] / ratios[1]).ln().abs().exp().sqrt();
        Self { ratio, uncertainty: if is_run { RUN } else { WALK } * apart }
    }

    /// Whether the second version is faster beyond the uncertainty.
    pub fn is_surely_faster(&self) -> bool {
        self.ratio * self.uncertainty < 1.0
    }

    /// Whether the second version is slower beyond the uncertainty.
    pub fn is_surely_slower(&self) -> bool {
        self.ratio > self.uncertainty
    }
}
