//! What the search of a kernel learns from those of other instances of its template.
//!
//! What helped one instance is tried on the next as soon as the defaults are. What was tried on several and helped none is not
//! tried on the rest, and counts as a run that is spent: it is not to be replaced by what is less likely to help.

use super::Kernel;
use crate::tune::axis::Axis;
use crate::tune::objective::Objective;
use crate::tune::variant::Variant;

/// How many instances of a template are to have tried something in vain, so that the others do not try it.
pub(in super::super) const TEACHERS: usize = 3;

/// The kernels that learn from each other: instances of one template that lack the same. A limit on registers that wins warps on an
/// instance with 8 of them helps none with 12 (`flash_attn_ext_vec` of ggml).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct TemplateGroup<'a> {
    template: &'a str,
    spills: bool,
    warps: u32,
    is_for_loops_alone: bool,
}

/// What a kernel learns from other instances of its template.
#[derive(Debug, Default)]
pub(in super::super) struct Lessons {
    /// What helped others and may be made of the kernel, too, that first which helped most of them.
    ahead: Vec<Variant>,
    /// What was tried on all of the others, and helped none.
    unhelpful: Vec<UnhelpfulVariant>,
    /// Runs that each of the others has spent on the values that ptxas spills in it, if they helped none.
    unhelpful_inspections: Option<usize>,
}

/// A variant that helped no other instance.
#[derive(Clone, Debug)]
struct UnhelpfulVariant {
    variant: Variant,
    /// Whether ptxas judged it for one of them: text that is known costs nothing.
    costs_run: bool,
}

impl Lessons {
    /// What a kernel learns from others, whose searches are over. O(what they have tried, squared).
    pub(in super::super) fn of(objective: &Objective, kernel: &Kernel, others: &[&Kernel]) -> Self {
        let helped = |variant: &Variant| others.iter().filter(|other| other.is_helped(objective, variant)).count();
        let mut ahead: Vec<Variant> = Vec::new();
        for other in others {
            let best = other.best(objective).0;
            // Its loops are turned at the end, as those of all winners are.
            let best = best.with_loops_as_they_come().unwrap_or(best);
            if kernel.may_copy(&best, other) && !ahead.contains(&best) {
                ahead.push(best);
            }
        }
        ahead.sort_by_key(|variant| std::cmp::Reverse(helped(variant)));
        let Some((first, rest)) = others.split_first().filter(|_| others.len() >= TEACHERS) else {
            return Self { ahead, ..Self::default() };
        };
        let everywhere = first.tried.iter().map(|tried| &tried.variant);
        let everywhere = everywhere.filter(|variant| rest.iter().all(|other| other.tried(variant).is_some()));
        // The defaults are what all else is measured by.
        let may_differ = |variant: &Variant| others.iter().any(|other| !kernel.may_take_numbers_of(variant, other));
        let unhelpful = everywhere.filter(|variant| **variant != Variant::DEFAULT && helped(variant) == 0);
        let unhelpful = unhelpful.filter(|variant| !may_differ(variant));
        let costs_run = |variant: &Variant| others.iter().any(|other| other.is_judged_for(variant));
        let unhelpful =
            unhelpful.map(|variant| UnhelpfulVariant { variant: variant.clone(), costs_run: costs_run(variant) });
        let inspections: Option<Vec<usize>> =
            others.iter().map(|other| other.unhelpful_inspections(objective)).collect();
        let unhelpful_inspections = inspections.and_then(|inspections| inspections.into_iter().min());
        Self { ahead, unhelpful: unhelpful.collect(), unhelpful_inspections }
    }
}

impl Kernel {
    /// What it lacks, if it is an instance of a template.
    pub(in super::super) fn template_group(&self) -> Option<TemplateGroup<'_>> {
        let template = self.template.as_deref()?;
        let (spills, warps) = (self.stock.spill_bytes() > 0, self.stock.warps);
        Some(TemplateGroup { template, spills, warps, is_for_loops_alone: self.is_for_loops_alone })
    }

    /// Takes what other instances have taught, ahead of the first round.
    pub(in super::super) fn learn(&mut self, lessons: Lessons) {
        let at = self.queue.iter().position(|variant| *variant == Variant::DEFAULT);
        let at = at.map_or(self.queue.len(), |at| at + 1);
        for variant in lessons.ahead.iter().rev() {
            self.queue.insert(at, variant.clone());
        }
        if let Some(runs) = lessons.unhelpful_inspections {
            self.may_be_inspected = false;
            self.rounds.spare(runs);
        }
        self.lessons = lessons;
    }

    /// Whether a variant is not tried, because it helped no other instance; and whether a run is spared by that.
    pub(super) fn is_left_out(&self, variant: &Variant) -> Option<bool> {
        let unhelpful = self.lessons.unhelpful.iter().find(|unhelpful| unhelpful.variant == *variant);
        unhelpful.map(|unhelpful| unhelpful.costs_run)
    }

    /// Whether a variant was tried and may win.
    fn is_helped(&self, objective: &Objective, variant: &Variant) -> bool {
        let figures = self.figures(variant);
        figures.is_some_and(|figures| self.may_win(objective, |_| false)(variant, &figures))
    }

    /// Whether ptxas judged a text for this variant, and not for an earlier one.
    fn is_judged_for(&self, variant: &Variant) -> bool {
        let Some(text) = self.text(variant).filter(|text| *text != self.stock_text) else { return false };
        let first = self.tried.iter().find(|tried| tried.text.as_deref() == Some(text));
        first.is_some_and(|first| first.variant == *variant)
    }

    /// The runs that were spent on the values that ptxas spills in it; `None` where nobody has looked, or where they helped.
    fn unhelpful_inspections(&self, objective: &Objective) -> Option<usize> {
        let named = || self.tried.iter().map(|tried| &tried.variant).filter(|variant| !variant.named().is_empty());
        let has_inspected = self.inspections.count() > 0 && !named().any(|variant| self.is_helped(objective, variant));
        has_inspected.then(|| self.inspections.count() + named().filter(|variant| self.is_judged_for(variant)).count())
    }

    /// Whether a variant of another kernel says of this one what it said of that.
    fn may_copy(&self, variant: &Variant, other: &Self) -> bool {
        let is_new = *variant != Variant::Stock && *variant != Variant::DEFAULT;
        let is_own = variant.compiler() == 0 && variant.named().is_empty();
        let has = |axis, is_possible: bool| is_possible || !variant.moves_along(axis);
        is_new
            && is_own
            && self.may_take_numbers_of(variant, other)
            && has(Axis::SmemSpilling, self.may_spill_to_shared)
            && has(Axis::Blocks, self.wants_blocks)
            && has(Axis::KernelName, self.may_have_other_name)
            && (!self.is_relocatable || variant.is_safe_when_relocatable())
            && self.choices == other.choices
    }

    /// Whether the numbers of a variant, where it has some, say of this kernel what they say of another: registers and shared memory
    /// that are good for one are so for another with the same of both.
    fn may_take_numbers_of(&self, variant: &Variant, other: &Self) -> bool {
        let of =
            |kernel: &Self| (kernel.stock.ptxas_report.registers, kernel.stock.ptxas_report.shared_bytes, kernel.block);
        let has_numbers = variant.limits_registers() || variant.kept().is_some();
        !has_numbers || of(self) == of(other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::proposals::first_of_text;
    use super::super::tests::{answered, kernel, kernel_with, objective};
    use super::*;
    use crate::config::RegisterNames;
    use crate::tune::figures::{Figures, tests::figures};
    use crate::tune::optimisations::Choices;
    use crate::tune::ptxas_output::PtxasReport;
    use crate::tune::question::{Answer, NoAnswer, Question};
    use crate::tune::spill_options::SpillOptions;

    const LATE: fn() -> Variant = || Variant::ordered("late", 0);

    /// A kernel on which variants were tried, each with a text of its own; `None` is what ptxas refuses.
    fn tried(variants: &[(Variant, Option<Figures>)]) -> Kernel {
        let mut kernel = kernel();
        for (number, (variant, figures)) in variants.iter().enumerate() {
            kernel.record(&objective(0), variant.clone(), number.to_string(), *figures);
        }
        kernel
    }

    fn taught(mut kernel: Kernel, others: &[&Kernel]) -> Kernel {
        let lessons = Lessons::of(&objective(0), &kernel, others);
        kernel.learn(lessons);
        kernel
    }

    /// Searches with `figures` for each variant that has a text of its own. All that was asked for.
    fn searched(kernel: &mut Kernel, runs: usize, figures: impl Fn(&Variant) -> Figures) -> Vec<Variant> {
        let mut all = Vec::new();
        answered(kernel, runs, |question| match question {
            Question::Text(variant) => {
                all.push(variant.clone());
                Answer::Text(Ok(variant.to_string()))
            }
            Question::Figures(variant) => Answer::Figures(Ok(figures(&variant))),
            Question::Spilled(_) => Answer::Spilled(Err(NoAnswer::Refused("no".into()))),
            Question::Compared(_) => Answer::Compared(None),
        });
        all
    }

    /// What helped comes right behind the defaults: first what helped most instances, whatever the order of these.
    #[test]
    fn what_helped_comes_first() {
        let bits = Variant::DEFAULT.with_bits("on");
        let one = tried(&[(bits.clone(), Some(figures(10, 32, 500)))]);
        let other = tried(&[(bits.clone(), Some(figures(60, 32, 500))), (LATE(), Some(figures(20, 32, 500)))]);
        for others in [[&one, &other], [&other, &one]] {
            let mut kernel = taught(kernel(), &others);
            let first: Vec<Variant> = (0..3).map(|_| kernel.propose(&objective(0))).collect();
            assert_eq!(first, [Variant::DEFAULT, bits.clone(), LATE()]);
        }
    }

    /// Nothing is copied that names registers, nor numbers where registers differ, nor what the kernel cannot have. Loops are
    /// turned at the end.
    #[test]
    fn what_may_be_copied() {
        let ahead = |kernel: Kernel, best: Variant| {
            let other = tried(&[(best, Some(figures(10, 32, 500)))]);
            Lessons::of(&objective(0), &kernel, &[&other]).ahead
        };
        let fewer = || {
            let stock = figures(100, 32, 500);
            kernel_with(Figures {
                ptxas_report: PtxasReport { registers: stock.ptxas_report.registers - 8, ..stock.ptxas_report },
                ..stock
            })
        };
        let kept = |named: &[&str]| {
            let named: RegisterNames = named.iter().copied().collect();
            LATE().with_kept_values(SpillOptions { named, ..SpillOptions::for_registers(64, 0) })
        };
        assert_eq!(ahead(kernel(), LATE().with_limit(40)), [LATE().with_limit(40)]);
        assert_eq!(ahead(fewer(), LATE().with_limit(40)), []);
        assert_eq!(ahead(fewer(), LATE()), [LATE()]);
        assert_eq!(ahead(kernel(), kept(&[])), [kept(&[])]);
        assert_eq!(ahead(fewer(), kept(&[])), []);
        assert_eq!(ahead(kernel(), kept(&["%r1"])), []);
        assert_eq!(ahead(kernel(), LATE().with_smem_spilling()), []);
        let to_shared = Kernel { may_spill_to_shared: true, ..kernel() };
        assert_eq!(ahead(to_shared, LATE().with_smem_spilling()), [LATE().with_smem_spilling()]);
        assert_eq!(ahead(kernel(), LATE().with_turned_loops()), [LATE()]);
        let linked_later = Kernel { is_relocatable: true, ..kernel() };
        assert_eq!(ahead(linked_later, LATE().with_limit(40)), []);
    }

    /// What was tried on three instances and helped none is not tried on the next, and its runs are not spent on something else;
    /// two instances, or three of which one was helped, leave nothing out. The defaults are always tried.
    #[test]
    fn in_vain_on_three() {
        let unhelpful = |_: &Variant| figures(100, 32, 500);
        let search = |mut kernel: Kernel| {
            let asked = searched(&mut kernel, 8, unhelpful);
            (kernel, asked)
        };
        let text = || Kernel { choices: Choices::Nothing, queue: first_of_text(), ..kernel() };
        let [one, two, three] = [(); 3].map(|()| search(text()).0);
        let (alone, all) = search(text());
        assert_eq!(alone.runs(), 8 + 1, "with turned loops at the end: {all:?}");
        assert_eq!(search(taught(text(), &[&one, &two])).1, all);
        assert_eq!(search(taught(text(), &[&one, &two, &three])).1, [Variant::DEFAULT]);
        let mut helped = text();
        searched(&mut helped, 8, |variant| if *variant == LATE() { figures(10, 32, 500) } else { unhelpful(variant) });
        let (last, asked) = search(taught(text(), &[&one, &helped, &three]));
        assert_eq!(asked[..2], [Variant::DEFAULT, LATE()]);
        assert!(asked.len() < 8 && last.is_over(8) && last.runs() < 8, "{asked:?}");
    }

    /// A limit that helped none with so many registers may help one with more. Kernels that lack something else learn nothing at all.
    #[test]
    fn numbers_in_vain() {
        let limited = || tried(&[(LATE().with_limit(40), Some(figures(100, 32, 501)))]);
        let [one, two, three] = [(); 3].map(|()| limited());
        let others = [&one, &two, &three];
        let stock = figures(100, 32, 500);
        let more = kernel_with(Figures {
            ptxas_report: PtxasReport { registers: stock.ptxas_report.registers + 8, ..stock.ptxas_report },
            ..stock
        });
        assert_eq!(taught(kernel(), &others).is_left_out(&LATE().with_limit(40)), Some(true));
        assert_eq!(taught(more, &others).is_left_out(&LATE().with_limit(40)), None);
        let instance = |stock| Kernel { template: Some("t".into()), ..kernel_with(stock) };
        let kinds =
            [figures(100, 32, 500), figures(60, 32, 70), figures(0, 32, 500), figures(100, 24, 500)].map(instance);
        let is_same = |other: &Kernel| other.template_group() == kinds[0].template_group();
        assert_eq!([1, 2, 3].map(|at: usize| is_same(&kinds[at])), [true, false, false]);
        assert_eq!(kernel().template_group(), None);
    }

    /// What has changed no text spares no run where it is left out.
    #[test]
    fn what_costs_nothing_spares_nothing() {
        for (text, expected) in [("stock", Some(false)), ("late", Some(true))] {
            let [one, two, three] = [(); 3].map(|()| {
                let mut kernel = kernel();
                kernel.record(&objective(0), LATE(), text.into(), Some(kernel.stock));
                kernel
            });
            assert_eq!(taught(kernel(), &[&one, &two, &three]).is_left_out(&LATE()), expected, "{text}");
        }
    }

    /// Nobody looks for what ptxas spills where that has helped none of three, and the runs are spared.
    #[test]
    fn unhelpful_inspections() {
        let looked = |better: bool| {
            let mut kernel = tried(&[(Variant::DEFAULT, Some(figures(100, 32, 500)))]);
            kernel.note_spilled(&objective(0), Variant::DEFAULT, None);
            let named = SpillOptions { named: ["%r1"].into_iter().collect(), ..SpillOptions::for_registers(64, 0) };
            let figures = figures(if better { 10 } else { 100 }, 32, 500);
            kernel.record(&objective(0), Variant::DEFAULT.with_kept_values(named), "kept".into(), Some(figures));
            kernel
        };
        let ([one, two, three], helped) = ([(); 3].map(|()| looked(false)), looked(true));
        let last = taught(kernel(), &[&one, &two, &three]);
        assert!(!last.may_be_inspected);
        assert!(taught(kernel(), &[&one, &helped, &three]).may_be_inspected);
        assert!(taught(kernel(), &[&one, &two]).may_be_inspected);
        assert!(last.is_over(1) || last.runs() == 0);
    }
}
