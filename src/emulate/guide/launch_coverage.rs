//! Coverage of launches: executed instructions, outcomes of predicates, and relations between the sides of comparisons.

use crate::emulate::machine::Outcome;

/// Executed instructions and outcomes of predicates in all launches so far.
#[derive(Clone, Debug, Default)]
pub(in crate::emulate) struct LaunchCoverage {
    pub(super) covered: Vec<Vec<bool>>,
    pub(super) ways: Vec<Vec<u8>>,
}

impl LaunchCoverage {
    /// Adds a launch.
    pub(in crate::emulate) fn add(&mut self, outcome: &Outcome) {
        if self.covered.is_empty() {
            self.covered.clone_from(&outcome.covered);
            self.ways.clone_from(&outcome.ways);
        }
        for (all, one) in self.covered.iter_mut().zip(&outcome.covered) {
            all.iter_mut().zip(one).for_each(|(all, &one)| *all |= one);
        }
        for (all, one) in self.ways.iter_mut().zip(&outcome.ways) {
            all.iter_mut().zip(one).for_each(|(all, &one)| *all |= one);
        }
    }

    /// Whether a launch covers something new.
    pub(in crate::emulate) fn lacks(&self, outcome: &Outcome) -> bool {
        let more =
            self.ways.iter().zip(&outcome.ways).any(|(all, one)| all.iter().zip(one).any(|(all, one)| one & !all != 0));
        let covers = |(all, one): (&Vec<bool>, &Vec<bool>)| all.iter().zip(one).any(|(&all, &one)| one && !all);
        self.covered.is_empty() || more || self.covered.iter().zip(&outcome.covered).any(covers)
    }
}
