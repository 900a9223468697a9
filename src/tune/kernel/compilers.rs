//! The variants that are tried if several compilers have code of a kernel: first the unchanged code of each compiler,
//! then mostly variants of the best code.

use std::collections::VecDeque;
use std::iter;

use super::Kernel;
use super::proposals::{first, first_of_text};
use crate::tune::figures::Figures;
use crate::tune::objective::Objective;
use crate::tune::variant::Variant;

/// The number of variants of this build's code that are tried before the compilers are ranked.
const AHEAD_OF_RANKING: usize = 3;

/// The number of variants of the best compiler's code for each variant of another compiler's code.
const OF_THE_BEST: usize = 3;

/// Returns other compilers' unchanged code, then the first variants of the queue.
pub(super) fn as_they_are(compilers: &[u8], queue: VecDeque<Variant>) -> VecDeque<Variant> {
    let theirs = compilers.iter().map(|&compiler| Variant::Linked(compiler));
    theirs.chain(queue.into_iter().take(AHEAD_OF_RANKING)).collect()
}

impl Kernel {
    /// Returns the best unchanged code of other compilers that passes `counts`, if it is better than stock. The user
    /// has this code without a search, so no winner may be worse in any figure. `None` if there is a benchmark, because
    /// the benchmark decides instead.
    pub(super) fn better_compiler(
        &self,
        objective: &Objective,
        counts: impl Fn(&Variant, &Figures) -> bool,
    ) -> Option<(&Variant, Figures)> {
        let as_they_are = self.tried.iter().filter(|tried| matches!(tried.variant, Variant::Linked(_)));
        let judged = as_they_are.filter_map(|tried| Some((&tried.variant, tried.figures?)));
        let better = judged.filter(|(variant, figures)| {
            counts(variant, figures) && figures.compare(&self.stock, &objective.preference).is_lt()
        });
        better
            .filter(|_| self.stock.timing.is_none())
            .min_by(|one, other| one.1.compare(&other.1, &objective.preference))
    }

    /// Returns the variants for all compilers' code. Most of them are variants of the best unchanged code. If a
    /// compiler's unchanged code is worse than stock in some figure, its variants are rarely admissible, so only the
    /// defaults are tried on that code.
    pub(super) fn of_compilers(&self, objective: &Objective) -> VecDeque<Variant> {
        let theirs = self.judged().filter(|(variant, _)| matches!(variant, Variant::Linked(_)));
        let bases = self.ranked(objective, iter::once((&Variant::Stock, self.stock)).chain(theirs));
        let list = |base: &Variant| match base.compiler() {
            0 => first(&self.stock, self.choices),
            compiler => first_of_text().into_iter().map(|variant| variant.on_code_of(compiler)).collect(),
        };
        let counts =
            |base: &Variant| self.figures(base).is_none_or(|figures| self.is_admissible(objective, base, &figures));
        let of_worse =
            bases.iter().filter(|base| !counts(base)).map(|base| Variant::DEFAULT.on_code_of(base.compiler()));
        let mut lists: Vec<VecDeque<Variant>> = bases.iter().filter(|base| counts(base)).map(list).collect();
        let (best, others) = lists.split_at_mut(1);
        let mut all = VecDeque::new();
        let mut turn = 0;
        while !best[0].is_empty() || others.iter().any(|list| !list.is_empty()) {
            all.extend((0..OF_THE_BEST).filter_map(|_| best[0].pop_front()));
            if !others.is_empty() {
                all.extend(others[turn % others.len()].pop_front());
            }
            turn += 1;
        }
        all.extend(of_worse);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kernel, objective};
    use super::*;
    use crate::tune::agreement::Difference;
    use crate::tune::figures::{Block, tests::figures};
    use crate::tune::findings::DifferingVariant;
    use crate::tune::optimisations::{Choices, Optimisations};

    /// Other compilers' unchanged code is tried first. Most of the following variants are of the best unchanged code.
    /// LLVM's optimisations are never chosen for other compilers' code.
    #[test]
    fn other_compilers() {
        for (theirs, best) in [(10, 1), (100, 0)] {
            let mut kernel = kernel();
            kernel.add_compilers(&[1, 2]);
            let mut seen: Vec<Variant> = Vec::new();
            for number in 0..60u32 {
                let variant = kernel.propose(&objective(0));
                assert!(!seen.contains(&variant), "{variant}");
                let spills = match variant.compiler() {
                    1 => theirs,
                    2 => 300,
                    _ => 100,
                };
                let spills = if matches!(variant, Variant::Linked(_)) { spills } else { spills + number };
                let figures = (variant != Variant::Linked(2)).then(|| figures(spills, 32, 500));
                kernel.record(&objective(0), variant.clone(), number.to_string(), figures);
                seen.push(variant);
            }
            assert_eq!(seen[..3], [Variant::Linked(1), Variant::Linked(2), Variant::DEFAULT]);
            let of = |compiler| seen.iter().filter(|variant| variant.compiler() == compiler).count();
            assert!(of(best) > 3 * of(1 - best) && of(1 - best) > 3, "{seen:?}");
            let behind_ranking = &seen[2 + AHEAD_OF_RANKING..][..12];
            assert!(behind_ranking.iter().filter(|variant| variant.compiler() == best).count() >= 6, "{seen:?}");
            // A compiler's code that ptxas refuses is not tried again.
            assert_eq!(of(2), 1);
            let is_odd =
                |variant: &&Variant| variant.compiler() != 0 && variant.optimisations() != Optimisations::STOCK;
            assert_eq!(seen.iter().find(is_odd), None);
        }
        let mut kernel = kernel();
        let expected: Vec<Variant> = (0..30).map(|_| kernel.propose(&objective(0))).collect();
        let mut same = super::super::tests::kernel();
        same.add_compilers(&[]);
        assert_eq!((0..30).map(|_| same.propose(&objective(0))).collect::<Vec<_>>(), expected);
    }

    /// If a compiler's unchanged code is worse than stock, only the defaults are tried on it.
    #[test]
    fn worse_code_is_tried_once() {
        for (instructions, is_worse) in [(501, true), (500, false)] {
            let mut kernel = kernel();
            kernel.add_compilers(&[1]);
            for number in 0..60u32 {
                let variant = kernel.propose(&objective(0));
                let of = if variant.compiler() == 1 { instructions } else { 500 };
                kernel.record(&objective(0), variant, number.to_string(), Some(figures(100, 32, of)));
            }
            let tried = kernel.tried.iter().map(|tried| &tried.variant);
            let theirs: Vec<&Variant> = tried.filter(|variant| variant.compiler() == 1).collect();
            assert_eq!(theirs[0], &Variant::Linked(1));
            assert_eq!(theirs[1], &Variant::DEFAULT.on_code_of(1));
            assert_eq!(theirs.len() == 2, is_worse, "{theirs:?}");
        }
    }

    /// Among equally good codes, this build's own code wins, whichever code was tried first.
    #[test]
    fn own_code_wins_of_equals() {
        let mut kernel = kernel();
        kernel.add_compilers(&[1]);
        for number in 0..2 {
            let variant = kernel.propose(&objective(0));
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(figures(80, 32, 480)));
        }
        assert_eq!(kernel.tried[0].variant, Variant::Linked(1));
        assert_eq!(kernel.best(&objective(0)).0, Variant::DEFAULT);
    }

    /// A variant that is better than the other compiler's code in one figure and worse in another does not win. The
    /// other compiler's unchanged code needs a smaller gain than other variants to win, unless a comparison refuses it.
    #[test]
    fn no_worse_than_either_compiler() {
        let (theirs, own) = (figures(32, 32, 495), figures(0, 32, 499));
        let judged = |theirs: Figures| {
            let mut kernel = kernel();
            kernel.add_compilers(&[1]);
            for (number, figures) in [theirs, own].into_iter().enumerate() {
                let variant = kernel.propose(&objective(0));
                kernel.record(&objective(0), variant, number.to_string(), Some(figures));
            }
            kernel
        };
        let mut kernel = judged(theirs);
        assert_eq!(kernel.best(&objective(0)), (Variant::Linked(1), theirs));
        let difference = Difference { place: "word 0".into(), command: String::new() };
        let refused = DifferingVariant { variant: Variant::Linked(1), difference, folder: None, is_known: false };
        kernel.findings.refused.push(refused);
        assert_eq!(kernel.best(&objective(0)), (Variant::DEFAULT, own));
        // Code that is itself worse than stock sets no bound.
        assert_eq!(judged(figures(32, 32, 501)).best(&objective(0)).0, Variant::DEFAULT);
        let same_bytes = judged(figures(100, 32, 499));
        assert_eq!(same_bytes.best(&objective(0)).0, Variant::DEFAULT);
        let mut alone = super::super::tests::kernel();
        alone.add_compilers(&[1]);
        let variant = alone.propose(&objective(0));
        alone.record(&objective(0), variant, "theirs".into(), Some(figures(100, 32, 499)));
        assert_eq!(alone.best(&objective(0)).0, Variant::Linked(1));
        assert_eq!(alone.best_but_for(&objective(0), |variant| variant.compiler() != 0).0, Variant::Stock);
        // This build's own code wins if it is as good or better, because its profile needs no other file.
        for instructions in [499, 492] {
            let mut alone = judged(figures(100, 32, 499));
            alone.tried[1].figures = Some(figures(100, 32, instructions));
            assert_eq!(alone.best(&objective(0)).0, Variant::DEFAULT);
        }
    }

    /// If only the launch decides the added shared memory, another compiler's code may have no more shared memory than
    /// stock.
    #[test]
    fn room_for_the_launch() {
        for (dynamic_shared, shared_bytes, is_taken) in
            [(None, 64, false), (None, 0, true), (Some(0), 64, true), (Some(32), 64, true)]
        {
            let block = Block { threads: Some(128), says_threads: true, dynamic_shared };
            let mut kernel =
                Kernel::new("k", "0", block, figures(100, 32, 500), "stock".into(), Choices::CodeGeneration);
            kernel.add_compilers(&[1]);
            let mut theirs = figures(0, 32, 400);
            theirs.ptxas_report.shared_bytes = shared_bytes;
            let variant = kernel.propose(&objective(0));
            kernel.record(&objective(0), variant, "theirs".into(), Some(theirs));
            let expected = if is_taken { Variant::Linked(1) } else { Variant::Stock };
            assert_eq!(kernel.best(&objective(0)).0, expected, "{dynamic_shared:?} {shared_bytes}");
        }
    }
}
