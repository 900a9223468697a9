//! Lessons from the searches of other instances of a kernel's template.
//!
//! A variant that helped one instance is tried on the next one right after the defaults. A variant that was tried on
//! several instances and helped none is not tried on the rest. The saved run counts as spent, so that it does not go to
//! a less likely variant.

use super::Kernel;
use crate::tune::axis::Axis;
use crate::tune::objective::Objective;
use crate::tune::variant::Variant;

/// The number of instances that must have tried a variant in vain before the other instances skip it.
pub(in super::super) const TEACHERS: usize = 3;

/// Kernels that learn from each other: instances of one template that have the same deficits. A register limit that
/// gains warps on an instance with 8 warps does not help an instance with 12 (`flash_attn_ext_vec` of ggml).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct TemplateGroup<'a> {
    template: &'a str,
    spills: bool,
    warps: u32,
    is_for_loops_alone: bool,
}

/// Lessons for a kernel from other instances of its template.
#[derive(Debug, Default)]
pub(in super::super) struct Lessons {
    /// Variants that helped other instances and can be tried on this kernel. Variants that helped the most instances
    /// come first.
    ahead: Vec<Variant>,
    /// Variants that were tried on all other instances and helped none.
    unhelpful: Vec<UnhelpfulVariant>,
    /// The fewest runs that one of the other instances has spent on spilled values. `None` if such runs helped an
    /// instance, or if an instance has no such runs.
    unhelpful_inspections: Option<usize>,
}

/// A variant that helped no other instance.
#[derive(Clone, Debug)]
struct UnhelpfulVariant {
    variant: Variant,
    /// Whether the variant cost one of the other instances a ptxas run. Known PTX costs no run.
    costs_run: bool,
}

impl Lessons {
    /// Collects the lessons for a kernel from other instances with completed searches. O(n²) for n tried variants of
    /// the others.
    pub(in super::super) fn of(objective: &Objective, kernel: &Kernel, others: &[&Kernel]) -> Self {
        let helped = |variant: &Variant| others.iter().filter(|other| other.is_helped(objective, variant)).count();
        let mut ahead: Vec<Variant> = Vec::new();
        for other in others {
            let best = other.best(objective).0;
            // A search turns loops only at its end. Therefore, no lesson contains turned loops.
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
        // The defaults are never skipped, because all other variants are compared with them.
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
    /// Returns the template and the deficits. `None` if the kernel is no instance of a template.
    pub(in super::super) fn template_group(&self) -> Option<TemplateGroup<'_>> {
        let template = self.template.as_deref()?;
        let (spills, warps) = (self.stock.spill_bytes() > 0, self.stock.warps);
        Some(TemplateGroup { template, spills, warps, is_for_loops_alone: self.is_for_loops_alone })
    }

    /// Applies the lessons from other instances, before the first round.
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

    /// Whether skipping a variant saves a run. `None` if the variant is not skipped, because no lesson speaks against
    /// it.
    pub(super) fn is_left_out(&self, variant: &Variant) -> Option<bool> {
        let unhelpful = self.lessons.unhelpful.iter().find(|unhelpful| unhelpful.variant == *variant);
        unhelpful.map(|unhelpful| unhelpful.costs_run)
    }

    /// Whether a variant was tried and may win.
    fn is_helped(&self, objective: &Objective, variant: &Variant) -> bool {
        let figures = self.figures(variant);
        figures.is_some_and(|figures| self.may_win(objective, |_| false)(variant, &figures))
    }

    /// Whether ptxas judged PTX for this variant, and not for an earlier one.
    fn is_judged_for(&self, variant: &Variant) -> bool {
        let Some(text) = self.text(variant).filter(|text| *text != self.stock_text) else { return false };
        let first = self.tried.iter().find(|tried| tried.text.as_deref() == Some(text));
        first.is_some_and(|first| first.variant == *variant)
    }

    /// Returns the runs that were spent on values that ptxas spills. `None` if nothing was inspected, or if the runs
    /// helped.
    fn unhelpful_inspections(&self, objective: &Objective) -> Option<usize> {
        let named = || self.tried.iter().map(|tried| &tried.variant).filter(|variant| !variant.named().is_empty());
        let has_inspected = self.inspections.count() > 0 && !named().any(|variant| self.is_helped(objective, variant));
        has_inspected.then(|| self.inspections.count() + named().filter(|variant| self.is_judged_for(variant)).count())
    }

    /// Whether a variant of another kernel can be tried on this kernel with the same meaning.
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

    /// Whether the numbers in a variant's options suit this kernel as they suit `other`. Limits of registers and shared
    /// memory suit only kernels with the same registers, shared memory and block. A variant without numbers suits every
    /// kernel.
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

    /// Creates a kernel on which variants were tried, each with its own PTX. `None` stands for a refusal by ptxas.
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

    /// Runs a search with `figures` for each variant, each with its own PTX. Returns all questions.
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

    /// Variants that helped others come right after the defaults. The order is by the number of helped instances,
    /// whatever the order of the instances.
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

    /// Variants that name registers are not copied. Variants with numbers are not copied between kernels with different
    /// registers. Variants that the kernel cannot have are not copied either. Turned loops are not copied, because
    /// every search turns loops at its end.
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

    /// A variant that was tried on three instances and helped none is skipped on the next instance, and its run is not
    /// spent on another variant. Nothing is skipped after two instances, or if the variant helped one of three. The
    /// defaults are always tried.
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

    /// A limit that helped no instance with a certain number of registers may help an instance with more. Kernels with
    /// other deficits learn nothing.
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

    /// Skipping a variant that changes no PTX saves no run.
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

    /// If inspections have helped none of three instances, spilled values are not inspected, and the runs are saved.
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
