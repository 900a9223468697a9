//! Variants that would save spills or accesses of local memory, or hold more warps, at a cost that the search does not
//! accept.

use std::cmp::Reverse;

use super::Kernel;
use crate::tune::axis::Axis;
use crate::tune::figures::{Allowance, Figures};
use crate::tune::objective::Objective;
use crate::tune::variant::Variant;

impl Kernel {
    /// Returns the variant that spills least, if it spills less than `best` and is excluded only by its warps.
    pub(super) fn least_spills_for_warps(&self, best: &Figures) -> Option<(&Variant, Figures)> {
        let spills_less = self.judged().filter(|(_, figures)| figures.weighted_spills() < best.weighted_spills());
        let least = spills_less.min_by_key(|(_, figures)| figures.weighted_spills());
        least.filter(|(variant, figures)| figures.warps < self.stock.warps || variant.moves_along(Axis::Blocks))
    }

    /// Returns the best figures, and the variant that spills at most half as much and would be admissible if fewer
    /// warps were allowed. `None` if fewer warps are allowed. If only a comparison can show that the variant
    /// terminates, the comparison must have run.
    pub fn half_the_spills_for_warps(&self, objective: &Objective) -> Option<(Figures, Variant, Figures)> {
        let is_settled =
            |variant: &Variant| !variant.moves_along(Axis::Blocks) || self.known_comparison(variant).is_some();
        self.spared_for_warps(objective).filter(|(_, variant, _)| is_settled(variant))
    }

    /// Returns the result of [`half_the_spills_for_warps`](Self::half_the_spills_for_warps), whether a comparison has
    /// run or not.
    pub(super) fn spared_for_warps(&self, objective: &Objective) -> Option<(Figures, Variant, Figures)> {
        let (_, best) = self.best(objective);
        let (variant, least) = self.least_spills_for_warps(&best).filter(|_| !objective.allowance.fewer_warps)?;
        let allowing = Objective { allowance: Allowance { fewer_warps: true, ..objective.allowance }, ..*objective };
        let would_count = self.is_admissible(&allowing, variant, &least);
        let is_half = best.spill_bytes() > 0 && 2 * least.spill_bytes() <= best.spill_bytes();
        (would_count && is_half).then(|| (best, variant.clone(), least))
    }

    /// Returns the best figures, and the figures of a variant that accesses local memory at most a quarter as often,
    /// spills more, and would win if spills for arrays were allowed. `None` if they are allowed.
    pub fn quarter_of_the_accesses_for_spills(&self, objective: &Objective) -> Option<(Figures, Figures)> {
        let (_, best) = self.best(objective);
        let spilling =
            self.least_accesses_for_spills(objective, &best).filter(|(_, least)| is_paid_in_spills(&best, least));
        spilling.map(|(_, least)| (best, least))
    }

    /// Returns the best figures, and the figures of a variant with more warps that would win without the best variant.
    /// It has to save at least nine tenths of the spill cost that the best variant saves.
    pub fn more_warps_for_few_spills(&self, objective: &Objective) -> Option<(Figures, Figures)> {
        let (_, best) = self.best(objective);
        let spared = self.stock.spill_cost().saturating_sub(best.spill_cost());
        let most = best.spill_cost() + spared / 10;
        let may_win = self.may_win(objective, |_| false);
        let does = |(variant, figures): &(&Variant, Figures)| {
            let is_paid = is_paid_in_spills(&best, figures) && figures.spill_cost() <= most;
            figures.warps > best.warps && is_paid && may_win(variant, figures)
        };
        let holding_more = self.judged().filter(does).map(|(_, figures)| figures);
        holding_more.min_by_key(|figures| (Reverse(figures.warps), figures.spill_cost())).map(|figures| (best, figures))
    }

    /// Returns the best variant that accesses local memory at most a quarter as often as `best` and would win if spills
    /// for arrays were allowed. `None` if they are allowed.
    pub(super) fn least_accesses_for_spills(
        &self,
        objective: &Objective,
        best: &Figures,
    ) -> Option<(&Variant, Figures)> {
        if objective.allowance.spills_for_arrays || best.sass.local == 0 {
            return None;
        }
        let allowance = Allowance { spills_for_arrays: true, ..objective.allowance };
        let would_win = |(variant, figures): &(&Variant, Figures)| {
            let [figures, stock] = [*figures, self.stock].map(|figures| figures.with_arrays(allowance));
            let would_count =
                figures.is_no_worse(&stock, allowance) && figures.is_better(&stock, &objective.preference);
            would_count && !self.is_hopeless_choice(objective, variant) && figures.counts()[0] <= best.sass.local / 4
        };
        self.judged().filter(would_win).min_by(|one, other| one.1.compare(&other.1, &objective.preference))
    }
}

/// Whether a variant spills more than the best, and no benchmark decides.
fn is_paid_in_spills(best: &Figures, other: &Figures) -> bool {
    best.timing.is_none() && other.spill_bytes() > best.spill_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kernel, kernel_with, objective, of_arrays};
    use super::*;
    use crate::tune::agreement::Agreement;
    use crate::tune::figures::tests::figures;
    use crate::tune::figures::{Measure, preference};
    use crate::tune::ptxas_output::Sass;

    /// The spills that fewer warps would save are reported if they are at least half of all spills, if no other figure
    /// gets worse, and if fewer warps are not allowed.
    #[test]
    fn spills_for_warps() {
        let saved = |outcome: Figures, fewer_warps| {
            let mut kernel = kernel();
            let objective = Objective { allowance: Allowance { fewer_warps, ..Allowance::default() }, ..objective(0) };
            for (number, outcome) in [figures(80, 32, 500), outcome].into_iter().enumerate() {
                let variant = kernel.propose(&objective);
                kernel.record(&objective, variant, number.to_string(), Some(outcome));
            }
            kernel.half_the_spills_for_warps(&objective).map(|(best, _, least)| (best, least))
        };
        assert_eq!(saved(figures(40, 16, 500), false), Some((figures(80, 32, 500), figures(40, 16, 500))));
        let arrays = Allowance { spills_for_arrays: true, ..Allowance::default() };
        let mut kernel =
            kernel_with(Figures { sass: Sass { stack_traffic: 400, ..Sass::default() }, ..figures(0, 32, 500) });
        kernel.stock.counts_arrays = true;
        let (objective, variant) = (Objective { allowance: arrays, ..objective(0) }, kernel.propose(&objective(0)));
        kernel.record(&objective, variant, "without".into(), Some(figures(0, 16, 500)));
        assert_eq!(kernel.half_the_spills_for_warps(&objective), None, "arrays are no spills");
        for (outcome, fewer_warps) in [
            (figures(41, 16, 500), false),
            (figures(40, 16, 501), false),
            (figures(40, 32, 500), false),
            (figures(40, 16, 500), true),
        ] {
            assert_eq!(saved(outcome, fewer_warps), None, "{outcome:?}");
        }
    }

    /// `.minnctapersm 1` never wins without permission, however many warps it holds. It is reported once a comparison
    /// has shown that it terminates.
    #[test]
    fn blocks_are_told() {
        for (warps, agreement, expected) in [
            (16, Agreement::Same, true),
            (32, Agreement::Same, true),
            (32, Agreement::NotComparable("no".into()), false),
        ] {
            let mut kernel = kernel();
            kernel.wants_blocks = true;
            kernel.add_rare_choices();
            let variants = [kernel.propose(&objective(0)), kernel.propose(&objective(0))];
            let blocks = Variant::DEFAULT.with_blocks_said();
            assert_eq!(variants, [Variant::DEFAULT, blocks.clone()]);
            let outcomes = [figures(80, 32, 500), figures(0, warps, 500)];
            for (variant, outcome) in variants.into_iter().zip(outcomes) {
                kernel.record(&objective(0), variant.clone(), variant.to_string(), Some(outcome));
            }
            let mut asked = Vec::new();
            while let Some(variant) = kernel.ask_comparison(&objective(0)) {
                assert_eq!(kernel.half_the_spills_for_warps(&objective(0)), None, "it is not compared");
                let of = if variant == blocks { agreement.clone() } else { Agreement::Same };
                kernel.tell_comparison(&objective(0), variant.clone(), of.into());
                asked.push(variant);
            }
            assert_eq!(asked, [Variant::DEFAULT, blocks.clone()]);
            assert_eq!(kernel.best(&objective(0)), (Variant::DEFAULT, figures(80, 32, 500)));
            assert_eq!(kernel.findings.winner, Some(Agreement::Same), "what is said of the winner stays");
            let told = kernel.half_the_spills_for_warps(&objective(0)).map(|(_, variant, _)| variant);
            assert_eq!(told, expected.then_some(blocks.clone()));
            let asking =
                Objective { allowance: Allowance { fewer_warps: true, ..Allowance::default() }, ..objective(0) };
            assert_eq!(kernel.best(&asking).0 == blocks, expected, "{agreement:?}");
        }
    }

    /// More warps are reported if nine tenths of the spills still disappear and no figure is worse than stock's, but
    /// not if the user ranks warps first.
    #[test]
    fn warps_for_spills() {
        let told = |outcome: Figures, first: &[Measure]| {
            let (objective, mut kernel) = (Objective { preference: preference(first), ..objective(0) }, kernel());
            for (number, outcome) in [figures(10, 32, 400), outcome].into_iter().enumerate() {
                let variant = kernel.propose(&objective);
                kernel.record(&objective, variant, number.to_string(), Some(outcome));
            }
            kernel.more_warps_for_few_spills(&objective)
        };
        assert_eq!(told(figures(19, 40, 500), &[]), Some((figures(10, 32, 400), figures(19, 40, 500))));
        assert_eq!(told(figures(19, 40, 500), &[Measure::Warps]), None);
        assert_eq!(told(figures(10, 40, 500), &[Measure::Instructions]), None, "it spills no more");
        for outcome in [figures(20, 40, 500), figures(19, 32, 500), figures(19, 40, 501)] {
            assert_eq!(told(outcome, &[]), None, "{outcome:?}");
        }
    }

    /// The accesses of local memory that spills would save are reported if they are at least three of four accesses, if
    /// no other figure gets worse, and if spills for arrays are not allowed.
    #[test]
    fn accesses_for_spills() {
        let stock = of_arrays(4000, 1000, figures(0, 32, 500));
        let saved = |outcome: Figures, spills_for_arrays| {
            let allowance = Allowance { spills_for_arrays, ..Allowance::default() };
            let (objective, mut kernel) =
                (Objective { allowance, ..objective(0) }, kernel_with(stock.with_arrays(allowance)));
            let variant = kernel.propose(&objective);
            kernel.record(&objective, variant, "spills".into(), Some(outcome));
            let won = kernel.best(&objective).1.sass == outcome.sass;
            assert_eq!(won, spills_for_arrays, "{outcome:?}");
            kernel.quarter_of_the_accesses_for_spills(&objective).map(|(_, least)| least.sass.local)
        };
        assert_eq!(saved(of_arrays(64, 250, figures(64, 32, 500)), false), Some(250));
        assert_eq!(saved(of_arrays(64, 250, figures(64, 32, 500)), true), None);
        let mut without = kernel_with(figures(0, 32, 500));
        let variant = without.propose(&objective(0));
        without.record(&objective(0), variant, "shorter".into(), Some(figures(0, 32, 400)));
        assert_eq!(without.quarter_of_the_accesses_for_spills(&objective(0)), None, "there are no arrays");
        for outcome in [
            of_arrays(64, 251, figures(64, 32, 500)),
            of_arrays(64, 250, figures(64, 16, 500)),
            of_arrays(64, 250, figures(64, 32, 501)),
            of_arrays(4001, 250, figures(64, 32, 500)),
        ] {
            assert_eq!(saved(outcome, false), None, "{outcome:?}");
        }
    }
}
