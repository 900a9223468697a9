//! The kernels of a search, each with what was tried on it.
//!
//! Every kernel has rounds of its own: [`Search::ask`] says what to find out about one of them, and [`Search::tell`]
//! takes what was found. Once a kernel has had its rounds, [`Search::ask_comparison`] names the variant that would win,
//! until a comparison does not refuse it.

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
    /// What it is for.
    pub objective: Objective,
    /// How much it may ask.
    pub run_limits: RunLimits,
    /// What it is about.
    pub kernels: IndexVec<KernelId, Kernel>,
}

impl Search {
    /// What to find out next about a kernel, all of it at once; nothing where its effort is spent, or where answers
    /// come later. Asked again before it is told, it asks the same again.
    pub fn ask(&mut self, kernel: KernelId) -> Vec<Question> {
        let kernel = &mut self.kernels[kernel];
        let runs = kernel.share_of(&self.run_limits);
        kernel.ask(&self.objective, runs)
    }

    /// Takes the answers to what was asked last about a kernel, in the order of the questions.
    pub fn tell(&mut self, kernel: KernelId, answers: Vec<Answer>) {
        self.kernels[kernel].tell(&self.objective, answers);
    }

    /// Whether something that was asked has its answer later.
    pub fn waits(&self) -> bool {
        self.kernels.iter().any(Kernel::waits)
    }

    /// The best of what is no worse than stock; stock where nothing is better.
    pub fn best(&self, kernel: KernelId) -> (Variant, Figures) {
        self.kernels[kernel].best(&self.objective)
    }

    /// The variant of a kernel that wins unless it computes something else than stock; `None` where stock wins, or where a
    /// comparison has found nothing against the winner.
    pub fn ask_comparison(&mut self, kernel: KernelId) -> Option<Variant> {
        self.kernels[kernel].ask_comparison(&self.objective)
    }

    /// Takes what came of the comparison of a variant.
    pub fn tell_comparison(&mut self, kernel: KernelId, variant: Variant, compared: Compared) {
        self.kernels[kernel].tell_comparison(&self.objective, variant, compared);
    }
}
