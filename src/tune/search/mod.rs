//! The kernels of a search, each with its tried variants.
//!
//! Every kernel has its own rounds. [`Search::ask`] returns the next questions about a kernel, and [`Search::tell`]
//! takes the answers. After the rounds of a kernel, [`Search::ask_comparison`] returns the variant that would win,
//! until the winner passes its comparison.

mod instances;
#[cfg(test)]
mod tests;

use super::figures::Figures;
use super::findings::Compared;
use super::kernel::Kernel;
use super::objective::{Objective, RunLimits};
use super::question::{Answer, Question};
use super::variant::Variant;
use crate::define_index;
use crate::index::IndexVec;

define_index! {
    /// A kernel of a search.
    KernelId, "kernel"
}

/// A search of several kernels.
pub struct Search {
    /// The goal.
    pub objective: Objective,
    /// The limits.
    pub run_limits: RunLimits,
    /// The kernels.
    pub kernels: IndexVec<KernelId, Kernel>,
}

impl Search {
    /// Returns the next questions about a kernel, all at once. No questions if its effort is spent or answers are
    /// pending. Without answers in between, the next call returns the same questions.
    pub fn ask(&mut self, kernel: KernelId) -> Vec<Question> {
        let kernel = &mut self.kernels[kernel];
        let runs = kernel.share_of(&self.run_limits);
        kernel.ask(&self.objective, runs)
    }

    /// Takes the answers to the last questions about a kernel, in the order of the questions.
    pub fn tell(&mut self, kernel: KernelId, answers: Vec<Answer>) {
        self.kernels[kernel].tell(&self.objective, answers);
    }

    /// Whether an answer is pending.
    pub fn waits(&self) -> bool {
        self.kernels.iter().any(Kernel::waits)
    }

    /// Returns the best variant that is no worse than stock. Stock if no variant is better.
    pub fn best(&self, kernel: KernelId) -> (Variant, Figures) {
        self.kernels[kernel].best(&self.objective)
    }

    /// Returns the variant of a kernel that wins unless its results differ from stock's. `None` if stock wins, or if
    /// the winner has passed its comparison.
    pub fn ask_comparison(&mut self, kernel: KernelId) -> Option<Variant> {
        self.kernels[kernel].ask_comparison(&self.objective)
    }

    /// Takes the result of the comparison of a variant.
    pub fn tell_comparison(&mut self, kernel: KernelId, variant: Variant, compared: Compared) {
        self.kernels[kernel].tell_comparison(&self.objective, variant, compared);
    }
}
