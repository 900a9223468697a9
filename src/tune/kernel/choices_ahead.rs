//! Choices before LLVM's optimisations in a search: inlining and unrolling. All other choices are tried in combination
//! with the best of these choices.

use std::collections::VecDeque;

use super::Kernel;
use super::proposals::{behind_choices_ahead, in_turn};
use crate::tune::figures::Figures;
use crate::tune::objective::Objective;
use crate::tune::optimisations::{Ahead, Choices};
use crate::tune::variant::Variant;

/// Replaces the choices before LLVM's optimisations in all variants.
fn with_ahead(variants: VecDeque<Variant>, ahead: Ahead) -> VecDeque<Variant> {
    variants.into_iter().map(|variant| variant.optimised(variant.optimisations().with_ahead(ahead))).collect()
}

impl Kernel {
    /// Fills the queue with the variants for every kernel, combined with the best choice before LLVM's optimisations.
    pub(super) fn continue_with_best_choice(&mut self, objective: &Objective) {
        let ahead = self.best_but_for(objective, |variant| variant.compiler() != 0).0.optimisations().ahead();
        let rest = with_ahead(behind_choices_ahead(&self.stock), ahead);
        if let Some((promising, figures)) = self.promising_choice_ahead(objective) {
            let others = with_ahead(behind_choices_ahead(&figures), promising);
            self.queue.extend(in_turn(others, rest));
        } else {
            self.queue.extend(rest);
        }
    }

    /// Returns the choice that removes at least half of the accesses of local memory but is not admissible, with its
    /// figures. Another order may compensate for its other costs.
    fn promising_choice_ahead(&self, objective: &Objective) -> Option<(Ahead, Figures)> {
        let is_promising = |(variant, figures): &(&Variant, Figures)| {
            variant.compiler() == 0
                && 2 * figures.sass.local <= self.stock.sass.local
                && self.stock.sass.local > 0
                && !self.is_hopeless_choice(objective, variant)
                && !self.is_admissible(objective, variant, figures)
        };
        let promising = self.judged().filter(is_promising);
        let least = promising.min_by_key(|(_, figures)| (figures.spill_cost(), figures.sass.local));
        least.map(|(variant, figures)| (variant.optimisations().ahead(), figures))
    }

    /// Returns the first wanted neighbour of the best variant that differs in the choices before LLVM's optimisations:
    /// one more choice, or LLVM's own choices.
    pub(super) fn with_choice_ahead(&self, best: &Variant, is_wanted: impl Fn(&Variant) -> bool) -> Option<Variant> {
        let of_best = best.optimisations();
        let others = Ahead::CHOICES.iter().map(|&ahead| of_best.ahead().with(ahead)).chain([Ahead::STOCK]);
        let mut others = others.map(|ahead| best.optimised(of_best.with_ahead(ahead)));
        others.find(|variant| self.choices == Choices::All && is_wanted(variant))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kernel, objective, of_arrays};
    use super::*;
    use crate::tune::figures::tests::figures;
    use crate::tune::optimisations::Optimisations;
    use crate::tune::ptxas_output::Sass;

    /// For code that is not optimised yet, inlining and unrolling are tried first. Everything else is tried with the
    /// best of these choices. Another compiler's code does not affect the choice, because the choice does not change
    /// that code.
    #[test]
    fn choices_ahead_first() {
        let worse = Figures { sass: Sass { local: 0, ..kernel().stock.sass }, ..figures(0, 32, 600) };
        for theirs in [None, Some(figures(0, 32, 400)), Some(worse)] {
            check_choices_ahead_first(theirs);
        }
    }

    fn check_choices_ahead_first(theirs: Option<Figures>) {
        let mut kernel = kernel();
        kernel = Kernel::new("k", "0", kernel.block, kernel.stock, "stock".into(), Choices::All);
        kernel.add_compilers(if theirs.is_some() { &[1] } else { &[] });
        let good = Ahead::CHOICES[3];
        let mut variants: Vec<Variant> = Vec::new();
        for number in 0..60u32 {
            let variant = kernel.propose(&objective(0));
            assert!(!variants.contains(&variant), "{variant}");
            let spills = if variant.optimisations().ahead() == good { 10 } else { 100 };
            let outcome = theirs.filter(|_| variant.compiler() != 0).unwrap_or(figures(spills, 32, 500));
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(outcome));
            variants.push(variant);
        }
        variants.retain(|variant| variant.compiler() == 0);
        let of_choice = |variant: &Variant| variant.optimisations().ahead();
        assert_eq!(variants[0], Variant::DEFAULT);
        assert!(variants[1..8].iter().map(of_choice).eq(Ahead::CHOICES));
        assert!(variants[8..16].iter().all(|variant| of_choice(variant) == good));
        // The following variants are neighbours of the best, which may be the other compiler's code.
        let is_near = variants[16..].iter().any(|variant| of_choice(variant) == good.with(Ahead::STACK));
        assert!(is_near || theirs.is_some(), "{variants:?}");
    }

    /// A choice that removes arrays from local memory but spills is tried with other orders. The best admissible choice
    /// is also tried with other orders.
    #[test]
    fn promising_choices_ahead() {
        let mut stock = figures(0, 32, 500);
        stock.sass.local = 80;
        let mut kernel = Kernel::new("k", "0", kernel().block, stock, "stock".into(), Choices::All);
        let of_choice = |variant: &Variant| variant.optimisations().ahead();
        let mut ahead = Vec::new();
        for number in 0..24u32 {
            let variant = kernel.propose(&objective(0));
            let is_promising = of_choice(&variant) == Ahead::STACK;
            let outcome = if is_promising { figures(40, 32, 300) } else { stock };
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(outcome));
            ahead.push(of_choice(&variant));
        }
        for choice in [Ahead::STACK, Ahead::STOCK] {
            assert_eq!(ahead[8..16].iter().filter(|&&other| other == choice).count(), 4, "{ahead:?}");
        }
    }

    /// If a choice that removes arrays from local memory still spills, half of the later variants are its neighbours.
    /// If it may win without changes, all later variants are neighbours of the best.
    #[test]
    fn near_what_takes_arrays_away() {
        for (spills, expected) in [(40, true), (0, false)] {
            let stock = of_arrays(4000, 1000, figures(0, 32, 500));
            let mut kernel = Kernel::new("k", "0", kernel().block, stock, "stock".into(), Choices::All);
            kernel.queue.clear();
            kernel.has_first_choices = false;
            let inlined = Variant::DEFAULT.optimised(Optimisations::ahead_of(Ahead::STACK));
            kernel.record(
                &objective(0),
                Variant::DEFAULT,
                "default".into(),
                Some(of_arrays(4000, 1000, figures(0, 32, 490))),
            );
            kernel.record(&objective(0), inlined, "inlined".into(), Some(of_arrays(40, 10, figures(spills, 32, 300))));
            kernel.fill_queue(&objective(0));
            let is_near = |variant: &&Variant| variant.optimisations().ahead() == Ahead::STACK;
            let near = kernel.queue.iter().filter(is_near).count();
            let is_half = near >= 3 && 2 * near <= kernel.queue.len() + 2;
            assert_eq!(is_half, expected, "{spills} bytes: {near} of {:?}", kernel.queue);
            assert!(is_half || near + 2 >= kernel.queue.len(), "{spills} bytes: {near} of {:?}", kernel.queue);
        }
    }
}
