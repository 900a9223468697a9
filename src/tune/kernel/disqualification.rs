//! Variants that cannot win despite their figures, for one of four reasons: the results differ from stock's, there is
//! no evidence that the results are equal, the variant may execute more instructions to save registers, or the variant
//! is predicted to be slower.
//!
//! Comparisons find these variants. A variant without a proof is compared before its neighbours are tried. Otherwise,
//! effort may go to neighbours of a variant that cannot win.

use super::Kernel;
use crate::tune::agreement::Agreement;
use crate::tune::axis::Axis;
use crate::tune::figures::{Allowance, Figures};
use crate::tune::findings::{Compared, ComparedText, DifferingVariant, DisqualifiedVariant};
use crate::tune::objective::Objective;
use crate::tune::predicted::Predicted;
use crate::tune::variant::Variant;

impl Kernel {
    /// Whether a variant's choices exclude it, whatever its figures. Such a variant is not tried.
    pub(super) fn is_hopeless_choice(&self, objective: &Objective, variant: &Variant) -> bool {
        let is_unsafe = self.is_relocatable && !variant.is_safe_when_relocatable();
        let has_no_counts = self.findings.stock_is_uncompared.is_some();
        let is_uncompared = has_no_counts && !objective.allowance.uncompared && !variant.is_proved();
        // Choices that may execute more instructions gain nothing for a kernel at full occupancy whose machine code
        // accesses no local memory.
        let has_all = self.stock.sass.local == 0 && self.stock.warps >= objective.architecture.max_warps;
        is_unsafe || is_uncompared || self.must_pay(variant) && (has_no_counts || has_all)
    }

    /// Whether a variant may execute more than stock, without a benchmark that shows the cost.
    fn must_pay(&self, variant: &Variant) -> bool {
        variant.optimisations().may_run_more() && self.stock.timing.is_none()
    }

    /// Whether the gain of a variant pays for additional instructions. The variant must save a third of the spilled
    /// bytes or of the executed accesses of local memory, with at most 1.1 times stock's executed instructions. Or the
    /// variant must hold more warps, with no more executed instructions.
    fn pays(&self, figures: &Figures, compared: &Compared) -> bool {
        let (spilled, stock) = (u64::from(figures.spill_bytes()), u64::from(self.stock.spill_bytes()));
        let spares_spills = stock > 0 && 3 * spilled <= 2 * stock;
        let holds_more_warps = figures.warps > self.stock.warps;
        compared.executed.is_some_and(|of| {
            of.is_no_slower() && (spares_spills || of.spares_local()) || holds_more_warps && of.is_no_more()
        })
    }

    /// Whether the machine code of a variant executes more than 1.1 times stock's instructions, without more warps and
    /// without saving a third of the spilled bytes or of the accesses of local memory. One PTX instruction may be a
    /// loop in machine code, such as a 64-bit division. Loops that ptxas unrolls execute more instructions at low trip
    /// counts, as in the launches of comparisons. [A prediction](Self::is_vetoed) decides about such loops.
    fn is_slow_for_nothing(&self, objective: &Objective, figures: &Figures, compared: &Compared) -> bool {
        let (spilled, stock) = (u64::from(figures.spill_bytes()), u64::from(self.stock.spill_bytes()));
        let spares_spills = stock > 0 && 3 * spilled <= 2 * stock;
        let is_free =
            self.stock.timing.is_some() || objective.allowance.more_instructions == Allowance::ANY_INSTRUCTIONS;
        let is_slow = compared.executed.is_some_and(|of| of.is_slower_machine_code() && !of.spares_local());
        is_slow && !spares_spills && figures.warps <= self.stock.warps && !is_free
    }

    /// Whether a prediction excludes a variant. If there is a benchmark, it decides instead. The model overestimates
    /// the cost of shared memory on a GPU, and its prediction for turned loops depends on the trip counts of the
    /// launch. In both cases, the difference has to exceed the uncertainty.
    fn is_vetoed(&self, variant: &Variant, predicted: &Predicted) -> bool {
        let is_turned = variant.moves_along(Axis::Loops);
        let is_doubted = is_turned || variant.spills_to_shared();
        self.stock.timing.is_none() && predicted.is_slower(is_turned, is_doubted)
    }

    /// Returns the leading variant if no proof covers it and it has to be compared before its neighbours are tried.
    pub(super) fn due_comparison(&mut self, objective: &Objective) -> Option<Variant> {
        let is_due = self.queue.is_empty() && self.inspections.queue.is_empty();
        if !is_due {
            return None;
        }
        let leader = self.unsettled(objective, |_| false).filter(|variant| !variant.is_proved());
        let of_ours = |kernel: &mut Self| {
            let own = kernel.unsettled(objective, |variant| variant.compiler() != 0);
            own.filter(|variant| kernel.has_first_choices && !variant.is_proved())
        };
        leader.or_else(|| of_ours(self))
    }

    /// Returns the variant that wins unless its comparison fails. `None` if stock wins, or if the winner has passed its
    /// comparison.
    pub(in super::super) fn ask_comparison(&mut self, objective: &Objective) -> Option<Variant> {
        if self.findings.winner.is_none() {
            let variant = self.unsettled(objective, |_| false);
            if variant.is_some() {
                return variant;
            }
            // The leading variant was compared during the search.
            let (winner, _) = self.best(objective);
            self.known_comparison(&winner).into_iter().for_each(|known| self.findings.note_winner(known));
        }
        self.unsettled_offer(objective)
    }

    /// Returns the variant that would win if fewer warps were allowed. `None` unless only a comparison can show that
    /// this variant terminates, and no comparison has run yet.
    fn unsettled_offer(&self, objective: &Objective) -> Option<Variant> {
        let (_, variant, _) = self.spared_for_warps(objective)?;
        (variant.moves_along(Axis::Blocks) && self.known_comparison(&variant).is_none()).then_some(variant)
    }

    /// Stores the comparison of a variant that [`Self::ask_comparison`] returned.
    pub(in super::super) fn tell_comparison(&mut self, objective: &Objective, variant: Variant, compared: Compared) {
        let is_offer = self.best(objective).0 != variant;
        if !self.note_comparison(objective, variant, compared.clone()) && !is_offer {
            self.findings.note_winner(compared);
        }
    }

    /// Returns the best variant that is not left out, if no comparison of its PTX is known. Leading variants whose PTX
    /// a known comparison excludes are set aside first, because equal PTX computes equal results.
    fn unsettled(&mut self, objective: &Objective, is_left_out: impl Fn(&Variant) -> bool) -> Option<Variant> {
        loop {
            let (variant, _) = self.best_but_for(objective, &is_left_out);
            if variant == Variant::Stock {
                return None;
            }
            let Some(known) = self.known_comparison(&variant) else { return Some(variant) };
            if !self.set_aside(objective, variant, known, true) {
                return None;
            }
        }
    }

    /// Returns the comparison of a variant's PTX, if it applies to the variant. A comparison with a tolerance for
    /// floating-point numbers does not apply to a variant that requires exact results.
    pub(super) fn known_comparison(&self, variant: &Variant) -> Option<Compared> {
        let text = self.text(variant)?;
        let says = |known: &&ComparedText| {
            let is_different = matches!(known.compared.agreement, Agreement::Different(_));
            known.text.as_deref() == Some(text) && (is_different || known.is_exact == variant.is_proved())
        };
        self.findings.known.iter().find(says).map(|known| known.compared.clone())
    }

    /// Stores the comparison of a variant. Returns whether the variant is set aside.
    pub(super) fn note_comparison(&mut self, objective: &Objective, variant: Variant, compared: Compared) -> bool {
        if compared.is_stocks {
            self.findings.stock_is_uncompared.get_or_insert_with(|| compared.agreement.sentence());
        }
        let text = self.text(&variant).map(str::to_owned);
        self.findings.known.push(ComparedText { text, is_exact: variant.is_proved(), compared: compared.clone() });
        self.set_aside(objective, variant, compared, false)
    }

    /// Sets a variant aside if its comparison excludes it, and returns whether it does. `is_known` is whether another
    /// variant with the same PTX was already reported.
    fn set_aside(&mut self, objective: &Objective, variant: Variant, compared: Compared, is_known: bool) -> bool {
        let reason = match &compared.agreement {
            Agreement::Different(difference) => {
                let (difference, folder) = (difference.clone(), compared.folder);
                self.findings.refused.push(DifferingVariant { variant, difference, folder, is_known });
                return true;
            }
            Agreement::NotComparable(_) | Agreement::NotCompared => Some(compared.agreement.sentence()),
            Agreement::Same => None,
        };
        let uncompared = reason.filter(|_| !variant.is_proved());
        let figures = self.figures(&variant).unwrap_or(self.stock);
        let is_costly = self.must_pay(&variant) && !self.pays(&figures, &compared)
            || !variant.moves_along(Axis::Loops) && self.is_slow_for_nothing(objective, &figures, &compared);
        let slower = compared.predicted.filter(|predicted| self.is_vetoed(&variant, predicted));
        let may_win = !is_costly && slower.is_none() && (uncompared.is_none() || objective.allowance.uncompared);
        if !may_win {
            self.findings.disqualified.push(DisqualifiedVariant { variant, uncompared, is_costly, slower });
        }
        !may_win
    }

    /// Returns the best variant's figures, and the better variant that would win if uncompared variants were allowed,
    /// if there is one.
    pub fn with_uncompared(&self, objective: &Objective) -> Option<(Figures, Variant, Figures)> {
        let mut allowing = *objective;
        allowing.allowance.uncompared = true;
        let [(_, best), (variant, figures)] = [self.best(objective), self.best(&allowing)];
        // A proved variant can win without this permission. Another compiler's code is never proved.
        let is_better = !variant.is_proved() && figures.compare(&best, &objective.preference).is_lt();
        is_better.then_some((best, variant, figures))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kernel_with, objective, of_arrays};
    use super::*;
    use crate::config::SkipPasses;
    use crate::fuzzing::{explore, reached};
    use crate::tune::figures::{Block, tests::figures};
    use crate::tune::findings::Executed;
    use crate::tune::optimisations::{Choices, Optimisations};
    use crate::tune::predicted::{Source, tests::predicted};
    use crate::tune::ptxas_output::PtxasReport;

    const ROLLED: Optimisations = Optimisations::without(SkipPasses::LOOP_REDUCE);
    const SUNK: Optimisations = Optimisations::without(SkipPasses::MACHINE_SINK);

    /// Searches a kernel with arrays, with variants in descending order and their verdicts. Returns the winner, and the
    /// variants that were compared.
    fn won(objective: &Objective, variants: &[(Variant, Compared)]) -> (Variant, Vec<Variant>) {
        let mut kernel = kernel_with(of_arrays(400, 100, figures(0, 32, 500)));
        for (number, (variant, _)) in variants.iter().enumerate() {
            let warps = 64 - 8 * number as u32;
            kernel.record(
                objective,
                variant.clone(),
                variant.to_string(),
                Some(of_arrays(400, 100, figures(0, warps, 500))),
            );
        }
        let mut asked = Vec::new();
        while let Some(variant) = kernel.ask_comparison(objective) {
            let compared = variants.iter().find(|(other, _)| *other == variant).expect("it was tried").1.clone();
            kernel.tell_comparison(objective, variant.clone(), compared);
            asked.push(variant);
        }
        (kernel.best(objective).0, asked)
    }

    fn not_comparable(is_stocks: bool) -> Compared {
        Compared { is_stocks, ..Agreement::NotComparable("no".into()).into() }
    }

    /// If the winner could not be compared, the best proved variant wins. If the reason lies in stock, no other variant
    /// is compared.
    #[test]
    fn the_best_proved_variant_wins() {
        let [sunk, other] = [SUNK, Optimisations::HOIST].map(|optimisations| Variant::DEFAULT.optimised(optimisations));
        let late = Variant::ordered("late", 0);
        let mut allowing = objective(0);
        allowing.allowance.uncompared = true;
        for (is_stocks, asked) in [(true, vec![&sunk, &late]), (false, vec![&sunk, &other, &late])] {
            let no = || not_comparable(is_stocks);
            let variants =
                [(sunk.clone(), no()), (other.clone(), no()), (late.clone(), no()), (Variant::DEFAULT, no())];
            let expected = (late.clone(), asked.into_iter().cloned().collect());
            assert_eq!(won(&objective(0), &variants), expected, "{is_stocks}");
            assert_eq!(won(&allowing, &variants), (sunk.clone(), vec![sunk.clone()]), "{is_stocks}");
        }
    }

    /// A variant that may execute more wins if it saves a third of the executed accesses of local memory with at most
    /// 1.1 times the instructions, or if it holds more warps with no more instructions. Otherwise the next best variant
    /// wins.
    #[test]
    fn more_instructions_are_paid_for() {
        let (rolled, sunk) = (Variant::DEFAULT.optimised(ROLLED), Variant::DEFAULT.optimised(SUNK));
        let of = |instructions, local| {
            let executed = Executed { instructions: [100, instructions], local: [30, local], machine: None };
            Compared { executed: Some(executed), ..Agreement::Same.into() }
        };
        for (compared, expected) in [
            (of(110, 20), &rolled),
            (of(111, 20), &sunk),
            (of(110, 21), &sunk),
            (of(100, 30), &rolled),
            (of(101, 30), &sunk),
            (Agreement::Same.into(), &sunk),
        ] {
            let variants = [(rolled.clone(), compared), (sunk.clone(), of(500, 30))];
            assert_eq!(&won(&objective(0), &variants).0, expected);
        }
    }

    /// A variant that executes more than 1.1 times stock's machine instructions without a gain does not win, however
    /// few PTX instructions it has, unless the user allows any number.
    #[test]
    fn more_machine_instructions_are_paid_for() {
        let sunk = Variant::DEFAULT.optimised(SUNK);
        let wins = |machine, local, warps, objective: Objective| {
            let mut kernel = kernel_with(of_arrays(400, 100, figures(0, 32, 500)));
            kernel.record(&objective, sunk.clone(), "sunk".into(), Some(of_arrays(400, 90, figures(0, warps, 400))));
            while let Some(variant) = kernel.ask_comparison(&objective) {
                let executed = Executed { instructions: [100, 60], local: [30, local], machine: Some([1000, machine]) };
                let compared = Compared { executed: Some(executed), ..Agreement::Same.into() };
                kernel.tell_comparison(&objective, variant, compared);
            }
            kernel.best(&objective).0 == sunk
        };
        let any = Allowance { more_instructions: Allowance::ANY_INSTRUCTIONS, ..Allowance::default() };
        let free = Objective { allowance: any, ..objective(0) };
        assert!(wins(1100, 30, 32, objective(0)));
        assert!(!wins(1101, 30, 32, objective(0)));
        assert!(wins(1101, 20, 32, objective(0)));
        assert!(wins(1101, 30, 40, objective(0)));
        assert!(wins(3200, 30, 32, free));
    }

    /// If a variant is predicted to be slower, the next best wins, or stock if there is no other. A benchmark overrides
    /// the prediction. A prediction from a walk never excludes turned loops.
    #[test]
    fn what_is_predicted_to_be_slower() {
        let (sunk, late) = (Variant::DEFAULT.optimised(SUNK), Variant::ordered("late", 0));
        let of = |ratio, source| Compared { predicted: Some(predicted(ratio, 1.1, source)), ..Agreement::Same.into() };
        let slower = [(sunk.clone(), of(1.04, Source::Run)), (late.clone(), of(1.0, Source::Run))];
        assert_eq!(won(&objective(0), &slower), (late.clone(), vec![sunk.clone(), late.clone()]));
        let all = slower.map(|(variant, _)| (variant, of(1.04, Source::Run)));
        assert_eq!(won(&objective(0), &all).0, Variant::Stock);
        let walked = [(sunk.clone(), of(1.04, Source::Walk))];
        assert_eq!(won(&objective(0), &walked).0, sunk);
        let turned = sunk.with_turned_loops();
        assert_eq!(won(&objective(0), &[(turned.clone(), of(1.3, Source::Walk))]).0, turned);
        assert_eq!(won(&objective(0), &[(turned, of(1.3, Source::Run))]).0, Variant::Stock);

        let mut kernel = kernel_with(of_arrays(400, 100, figures(0, 32, 500)));
        kernel.record(&objective(0), sunk.clone(), "sunk".into(), Some(of_arrays(400, 90, figures(0, 32, 400))));
        kernel.tell_comparison(&objective(0), sunk.clone(), of(1.04, Source::Run));
        let (variant, predicted) = kernel.findings.first_slower().expect("it is slower");
        assert_eq!((variant, predicted.words().as_str()), (&sunk, "4 % slower"));
        assert_eq!(
            kernel.findings.disqualification_of(&sunk).map(DisqualifiedVariant::words).as_deref(),
            Some("predicted 4 % slower")
        );
        let kept = Variant::DEFAULT.with_smem_spilling();
        assert!(!kernel.is_vetoed(&kept, &predicted) && kernel.is_vetoed(&sunk, &predicted));
        assert!(kernel.is_vetoed(&kept, &of(1.2, Source::Run).predicted.expect("a prediction")));
        kernel.stock.timing = Some(crate::tune::timing::Timing { median: 1.0, spread: 0.0 });
        assert!(!kernel.is_vetoed(&sunk, &predicted));
    }

    /// If stock accesses no local memory and has full occupancy, variants that may execute more are not tried, except
    /// with a benchmark.
    #[test]
    fn hopeless_choices() {
        let rolled = Variant::DEFAULT.optimised(ROLLED);
        let is_tried = |stock: Figures| {
            let mut kernel = kernel_with(stock);
            (0..40).any(|number| {
                let variant = kernel.propose(&objective(0));
                kernel.record(&objective(0), variant.clone(), number.to_string(), Some(stock));
                variant == rolled
            })
        };
        let timing = Some(crate::tune::timing::Timing { median: 1.0, spread: 0.0 });
        assert!(!is_tried(figures(0, 64, 500)) && is_tried(figures(0, 32, 500)));
        assert!(is_tried(of_arrays(4, 1, figures(0, 64, 500))) && is_tried(Figures { timing, ..figures(0, 64, 500) }));
    }

    /// Turned loops are compared with the same variant without turned loops. If ptxas refuses that variant, the
    /// unchanged code of its compiler takes its place. If that code is unknown, too, stock takes its place.
    #[test]
    fn what_turned_loops_are_held_against() {
        let [stock, theirs, mine] = [500, 400, 300].map(|instructions| figures(100, 32, instructions));
        let as_it_comes = Variant::DEFAULT.on_code_of(2);
        let of = |known: &[(Variant, Option<Figures>)]| {
            let mut kernel = kernel_with(stock);
            for (number, (variant, figures)) in known.iter().enumerate() {
                kernel.record(&objective(0), variant.clone(), number.to_string(), *figures);
            }
            kernel.as_it_comes(&as_it_comes.with_turned_loops()).map(|figures| figures.sass.instructions)
        };
        let linked = (Variant::Linked(2), Some(theirs));
        assert_eq!(of(&[linked.clone(), (as_it_comes.clone(), Some(mine))]), Some(300));
        assert_eq!(of(&[linked, (as_it_comes.clone(), None)]), Some(400));
        assert_eq!(of(&[(as_it_comes.clone(), None)]), Some(500));
        assert_eq!(kernel_with(stock).as_it_comes(&as_it_comes), None);
    }

    /// For code that is linked later, no variant may change what other files see, whatever its figures. If only
    /// instructions count, the winner has fewer of them, and no other figure is worse.
    #[test]
    fn what_is_linked_later() {
        let check = |u: &mut arbitrary::Unstructured<'_>| {
            let mut draw = || {
                let drawn =
                    figures(u.int_in_range(0..=2000)?, u.int_in_range(1..=8u32)? * 8, u.int_in_range(100..=999)?);
                let ptxas_report = PtxasReport { registers: u.int_in_range(16..=255)?, ..drawn.ptxas_report };
                arbitrary::Result::Ok(Figures { ptxas_report, ..drawn })
            };
            let (stock, drawn) = (draw()?, (0..40).map(|_| draw()).collect::<arbitrary::Result<Vec<_>>>()?);
            let alone = u.arbitrary()?;
            let stock = stock.with_instructions_alone(alone);
            let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
            let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::Nothing);
            kernel.is_relocatable = true;
            for (number, figures) in drawn.into_iter().enumerate() {
                let variant = kernel.propose(&objective(0));
                assert!(variant.is_safe_when_relocatable(), "{variant}");
                kernel.record(&objective(0), variant, number.to_string(), Some(figures));
            }
            let (variant, best) = kernel.best(&objective(0));
            if alone && variant != Variant::Stock {
                assert!(100 * best.sass.instructions <= 98 * stock.sass.instructions, "{best:?} {stock:?}");
                assert!(best.spill_bytes() <= stock.spill_bytes() && best.warps >= stock.warps, "{best:?} {stock:?}");
                reached("wins by instructions", true);
            }
            Ok(())
        };
        explore(check, 1_000, &[("wins by instructions", 0)]);
    }
}
