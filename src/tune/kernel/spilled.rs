//! Values that ptxas spills, found in its machine code, and spilled to shared memory instead.
//!
//! ptxas has found registers for all values that it does not spill. Therefore only the values that it spills are moved
//! to shared memory.

use std::collections::VecDeque;

use super::Kernel;
use crate::config::{NamedRegister, RegisterNames};
use crate::target::machine::SHARED_PER_BLOCK;
use crate::tune::figures::Figures;
use crate::tune::objective::Objective;
use crate::tune::question::Spilled;
use crate::tune::spill_options::SpillOptions;
use crate::tune::variant::{Names, Variant};

/// The number of inspected variants before other neighbours of the best are tried.
const FIRST_INSPECTIONS: usize = 4;

/// The number of variants that are inspected first, at once.
const AT_FIRST: usize = 2;

/// Spills are worth an inspection if all spilled values need at most this multiple of a block's shared memory. The most
/// expensive values get the slots.
const MOST_FOR_ROOM: u64 = 8;

/// A variant is worth an inspection if it has at most this percentage of stock's instructions.
const MOST_HUNDREDTHS: u32 = 102;

/// Code with more instructions is not inspected, because the disassembler's table has hundreds of bytes for each
/// instruction.
const MOST_INSTRUCTIONS: u32 = 100_000;

/// Ways to spill the found values: whether values are stored and reloaded inside loops, and the most bytes of one
/// access. The first way is always tried. The other ways are tried if its result suggests them.
const FIRST_WAY: (&str, u32) = ("on", 4);
/// Wide accesses save instructions, but need adjacent registers.
const WIDE: (&str, u32) = ("on", 16);
/// A value that ptxas spills outside of a loop may be computed, and would then be stored, in every iteration.
const OUTSIDE: (&str, u32) = ("auto", 4);

/// The number of values that are chosen by cost if stock spills nothing and ptxas's own spilled values do not suffice.
/// More values would need registers for their accesses.
const FEW: u32 = 5;
const SLACK_OF_FEW: u32 = 24;

/// Inspected variants, and the variants that follow from them.
#[derive(Default)]
pub(super) struct SpillInspections {
    /// The inspected variants.
    seen: Vec<Variant>,
    /// Variants that are tried before all else.
    pub(super) queue: VecDeque<Variant>,
    /// Variants with wide accesses, to be tried next if the results suggest them.
    wide: VecDeque<Variant>,
    /// Variants that are tried if the results suggest them, once nothing is left to inspect.
    later: VecDeque<Variant>,
}

impl SpillInspections {
    /// Returns the number of inspected variants.
    pub(super) fn count(&self) -> usize {
        self.seen.len()
    }
}

impl Kernel {
    /// Returns the variants to inspect, with LLVM's register names. Inspections are due once all variants for every
    /// kernel are tried, or once half of the runs are spent. Empty if no inspection is due.
    pub(super) fn to_inspect(&self, objective: &Objective, is_half_over: bool) -> Vec<Variant> {
        let most = (FIRST_INSPECTIONS + self.perturbed as usize).saturating_sub(self.inspections.seen.len());
        // While the queue holds choices before LLVM's optimisations, the orders are still to come.
        let has_tried_all = self.queue.is_empty() && !self.has_first_choices;
        let is_due = self.inspections.queue.is_empty() && (has_tried_all || is_half_over);
        if !is_due || !self.can_inspect() {
            return Vec::new();
        }
        let stock = std::iter::once((&Variant::DEFAULT, self.stock));
        let worth: Vec<(&Variant, Figures)> =
            stock.chain(self.judged_once()).filter(|(_, figures)| self.may_pay_to_inspect(figures)).collect();
        let is_new = |variant: &Variant| !self.inspections.seen.contains(variant);
        let with_own_names = |variant: &Variant| variant.with_registers(Names::Llvm, variant.coalesces());
        // The variant whose spilled values saved the most spills is inspected for additional values.
        let kept = worth.iter().filter(|(variant, _)| !variant.named().is_empty() && is_new(variant));
        let least = kept.min_by_key(|(_, figures)| figures.spill_bytes());
        let least = least.filter(|(variant, figures)| figures.spill_bytes() < self.spilled_before(variant));
        if let Some((variant, _)) = least.filter(|_| most > 0) {
            return vec![(*variant).clone()];
        }
        if !self.inspections.seen.is_empty() && self.perturbed == 0 {
            return Vec::new();
        }
        // If all spilled values fit into slots, the variant may spill nothing to local memory afterwards. Then the
        // variant with the fewest instructions is the best.
        let fitting = worth.iter().filter(|(_, figures)| self.slot_bytes(figures) <= u64::from(SHARED_PER_BLOCK));
        let shortest = fitting.min_by_key(|(_, figures)| figures.sass.instructions);
        let shortest = shortest.map(|(variant, _)| (*variant).clone()).into_iter();
        let by_rank = shortest.chain(self.ranked(objective, worth.iter().copied()));
        // Variants with equal spill figures spill the same values.
        let spills = |variant: &Variant| self.figures(variant).map(|figures| spills(&figures));
        let mut found: Vec<Variant> = Vec::new();
        let mut seen: Vec<_> = self.inspections.seen.iter().filter_map(spills).collect();
        for (variant, alike) in by_rank.map(|variant| (with_own_names(&variant), spills(&variant))) {
            if is_new(&variant) && !found.contains(&variant) && !alike.is_some_and(|alike| seen.contains(&alike)) {
                found.push(variant);
                seen.extend(alike);
            }
        }
        found.truncate(AT_FIRST.min(most));
        found
    }

    /// Returns how many variants may be drawn at once, so that their results are known before the next inspection.
    /// `None` if any number may be drawn.
    pub(super) fn until_next_inspection(&mut self) -> Option<usize> {
        if self.inspections.queue.is_empty() {
            let later = std::mem::take(&mut self.inspections.later);
            self.inspections.queue = self.asked_for(later);
        }
        let will_inspect =
            self.inspections.seen.is_empty() && self.can_inspect() && self.may_pay_to_inspect(&self.stock);
        match self.inspections.queue.len() {
            0 => will_inspect.then_some(self.queue.len()),
            waiting => Some(waiting),
        }
    }

    /// Returns the variant to inspect if its machine code is worth an inspection and was not inspected yet.
    pub(super) fn variant_to_inspect(&self, variant: &Variant, figures: &Figures) -> Option<Variant> {
        let variant = variant.with_registers(Names::Llvm, variant.coalesces());
        let is_worth =
            self.can_inspect() && self.may_pay_to_inspect(figures) && !self.inspections.seen.contains(&variant);
        is_worth.then_some(variant)
    }

    /// Whether spilled values can be found, and slots are possible.
    fn can_inspect(&self) -> bool {
        self.may_be_inspected && self.most_threads().is_some() && self.block.dynamic_shared.is_some()
    }

    /// Whether a good part of the spilled values fits into shared memory, and little else is worse than in stock. No
    /// variant is worth an inspection if stock does not access local memory, because no saved local traffic then pays
    /// for the slots.
    fn may_pay_to_inspect(&self, figures: &Figures) -> bool {
        let most = u64::from(self.stock.sass.instructions) * u64::from(MOST_HUNDREDTHS);
        figures.spill_bytes() > 0
            && self.stock.sass.local > 0
            && figures.sass.instructions <= MOST_INSTRUCTIONS
            && self.slot_bytes(figures) <= MOST_FOR_ROOM * u64::from(SHARED_PER_BLOCK)
            && figures.warps >= self.stock.warps
            && 100 * u64::from(figures.sass.instructions) <= most
    }

    /// Returns the bytes of slots for all spilled values if no two values share a slot.
    fn slot_bytes(&self, figures: &Figures) -> u64 {
        u64::from(figures.ptxas_report.spill_store_bytes) * u64::from(self.most_threads().unwrap_or_default())
    }

    /// Stores the result of an inspection, and proposes ways to spill the values to shared memory that ptxas spills in
    /// the variant.
    pub(super) fn note_spilled(&mut self, objective: &Objective, variant: Variant, spilled: Option<Spilled>) {
        self.inspections.seen.push(variant.clone());
        let Some(Spilled { registers: spilled, text, figures }) = spilled else { return };
        if figures.is_some() && self.known(&text).is_none() {
            self.proposed.push(variant.clone());
            self.record(objective, variant.clone(), text, figures);
        }
        let before = variant.named();
        let is_new = |found: &&NamedRegister| !before.iter().any(|known| known.name == found.name);
        let new: Vec<_> = spilled.iter().filter(is_new).collect();
        let Some(kept) = self.kept(objective).filter(|_| !new.is_empty()) else { return };
        let named: RegisterNames = before.iter().chain(new).cloned().collect();
        let way = |(in_loops, access_bytes)| {
            variant.with_kept_values(SpillOptions { named: named.clone(), in_loops, access_bytes, ..kept.clone() })
        };
        self.inspections.queue.push_back(way(FIRST_WAY));
        self.inspections.wide.push_back(way(WIDE));
        self.inspections.later.push_front(way(OUTSIDE));
        if self.stock.spill_bytes() == 0 {
            let (in_loops, values) = ("on", Some(FEW));
            let few = SpillOptions { slack: SLACK_OF_FEW, in_loops, values, ..kept };
            self.inspections.later.push_back(variant.with_kept_values(few));
        }
    }

    /// Proposes wide accesses if the results of the last spilled values suggest them.
    pub(super) fn propose_wide(&mut self) {
        if self.inspections.queue.is_empty() {
            let wide = std::mem::take(&mut self.inspections.wide);
            self.inspections.queue = self.asked_for(wide);
        }
    }

    fn asked_for(&self, variants: VecDeque<Variant>) -> VecDeque<Variant> {
        variants.into_iter().filter(|variant| self.is_asked_for(variant)).collect()
    }

    /// Whether the result of the first way to spill the same values suggests another way.
    fn is_asked_for(&self, variant: &Variant) -> bool {
        let Some(kept) = variant.kept() else { return false };
        if kept.named.is_empty() {
            let is_same = |other: &Variant| other.optimisations() == variant.optimisations();
            return !self.judged().any(|(other, figures)| is_same(other) && figures.spill_bytes() == 0);
        }
        let (in_loops, access_bytes) = FIRST_WAY;
        let first = variant.with_kept_values(SpillOptions { in_loops, access_bytes, ..kept.clone() });
        let limited = self.limit_of_kept.map(|limit| first.with_limit(limit));
        let figures = limited.and_then(|limited| self.figures(&limited)).or_else(|| self.figures(&first));
        let Some(figures) = figures else { return false };
        let spares = figures.spill_bytes() < self.spilled_before(variant);
        match (kept.in_loops, kept.access_bytes) {
            WIDE => spares,
            _ => spares && figures.spill_cost() > self.stock.spill_cost(),
        }
    }

    /// Returns the bytes that stock spills. If stock spills nothing, returns the bytes that the variant spills without
    /// its slots in shared memory.
    fn spilled_before(&self, variant: &Variant) -> u32 {
        if self.stock.spill_bytes() > 0 {
            return self.stock.spill_bytes();
        }
        self.figures(&variant.without_kept_values()).map_or(0, |figures| figures.spill_bytes())
    }
}

/// Returns the figures that are nearly always equal if ptxas spills the same values.
fn spills(figures: &Figures) -> (u32, u32, u64, u32) {
    (
        figures.ptxas_report.spill_store_bytes,
        figures.ptxas_report.spill_load_bytes,
        figures.weighted_spills(),
        figures.sass.local,
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{answered, objective};
    use super::*;
    use crate::tune::agreement::Agreement;
    use crate::tune::figures::{Block, tests::figures};
    use crate::tune::optimisations::{Ahead, Choices, Optimisations};
    use crate::tune::ptxas_output::Sass;
    use crate::tune::question::{Answer, Question};

    const BLOCK: Block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };

    /// Searches a kernel of PTX with this number of runs, and returns the inspected and the judged variants. Each order
    /// spills less than the one before and takes one instruction more. Every inspection finds `spilled`.
    fn searched(block: Block, stock: Figures, choices: Choices, spilled: &[&str], runs: usize) -> [Vec<Variant>; 2] {
        let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), choices);
        if choices == Choices::Nothing {
            kernel = kernel.without_recipes();
        }
        let [mut inspected, mut judged]: [Vec<Variant>; 2] = Default::default();
        let answer = |question: Question| match question {
            Question::Text(variant) => Answer::Text(Ok(variant.to_string())),
            Question::Figures(variant) => {
                judged.push(variant);
                let number = judged.len() as u32;
                Answer::Figures(Ok(figures(stock.spill_bytes() - number, 32, stock.sass.instructions - 9 + number)))
            }
            Question::Spilled(variant) => {
                let text = variant.to_string();
                inspected.push(variant);
                Answer::Spilled(Ok(Spilled { registers: spilled.iter().copied().collect(), text, figures: None }))
            }
            Question::Compared(_) => Answer::Compared(Some(Agreement::Same.into())),
        };
        answered(&mut kernel, runs, answer);
        [inspected, judged]
    }

    /// After the first orders, the variant with the fewest instructions and the one with the fewest spills are
    /// inspected, and their spilled values are moved to shared memory.
    #[test]
    fn spilled_values_are_kept() {
        let [inspected, judged] = searched(BLOCK, figures(100, 32, 500), Choices::Nothing, &["%r7", "%rd2"], 16);
        let own_names = |number: usize| judged[number].with_registers(Names::Llvm, true);
        assert_eq!(inspected[..2], [own_names(0), own_names(7)]);
        let kept: Vec<&Variant> = judged.iter().filter(|variant| !variant.named().is_empty()).collect();
        assert!(kept.len() >= 2 && kept[..2] == [&judged[8], &judged[9]], "{kept:?}");
        assert!(kept.iter().all(|variant| variant.named().to_string() == "%r7+%rd2"), "{kept:?}");
        assert_eq!(inspected.len() + judged.len(), 17, "a look is a run, and the last one has turned loops");
    }

    /// Wide accesses are tried if the same values save spills. Values outside of loops are tried if the values in
    /// shared memory move more bytes than ptxas moves.
    #[test]
    fn other_ways_are_asked_for() {
        for (spills, traffic, expected) in [(100, 0, vec![]), (20, 0, vec![WIDE]), (20, 9000, vec![WIDE, OUTSIDE])] {
            let mut kernel = Kernel::new("k", "0", BLOCK, figures(100, 32, 500), "stock".into(), Choices::Nothing);
            kernel.queue.clear();
            let [variant] = &kernel.to_inspect(&objective(0), false)[..] else { panic!("there is stock alone") };
            let found = Spilled { registers: ["%r1"].into_iter().collect(), text: "text".into(), figures: None };
            kernel.note_spilled(&objective(0), variant.clone(), Some(found));
            let first = kernel.propose(&objective(0));
            let mut outcome = figures(spills, 32, 500);
            outcome.sass.shared_traffic = traffic;
            kernel.record(&objective(0), first, "first".into(), Some(outcome));
            kernel.propose_wide();
            let mut asked: Vec<Variant> = kernel.inspections.queue.drain(..).collect();
            kernel.until_next_inspection();
            asked.extend(kernel.inspections.queue.drain(..));
            let ways = asked.iter().filter_map(Variant::kept).map(|kept| (kept.in_loops, kept.access_bytes));
            assert_eq!(ways.collect::<Vec<_>>(), expected, "{spills} bytes");
        }
    }

    /// If stock spills nothing, a variant with slots is compared with the same variant without slots. If ptxas still
    /// spills with slots for its own spilled values, a few other values are tried.
    #[test]
    fn of_variants_that_alone_spill() {
        let without = figures(0, 32, 500);
        let stock = Figures { sass: Sass { local: 100, ..without.sass }, ..without };
        for (left, is_inspected, keeps_few) in [(0, false, false), (8, true, true), (56, false, true)] {
            let mut kernel = Kernel::new("k", "0", BLOCK, stock, "stock".into(), Choices::All);
            kernel.queue.clear();
            kernel.has_first_choices = false;
            let inlined = Variant::DEFAULT.optimised(Optimisations::ahead_of(Ahead::CHOICES[0]));
            let spilling = Some(figures(56, 32, 250));
            kernel.record(&objective(0), inlined, "inlined".into(), spilling);
            let [variant] = &kernel.to_inspect(&objective(0), false)[..] else { panic!("there is one that spills") };
            let found = Spilled { registers: ["%r1"].into_iter().collect(), text: "own".into(), figures: spilling };
            kernel.note_spilled(&objective(0), variant.clone(), Some(found));
            let kept = kernel.propose(&objective(0));
            kernel.record(&objective(0), kept.clone(), "kept".into(), Some(figures(left, 32, 250)));
            assert_eq!(kernel.to_inspect(&objective(0), false).contains(&kept), is_inspected, "{left} bytes");
            kernel.until_next_inspection();
            let few = kernel.inspections.queue.iter().filter_map(Variant::kept).filter(|kept| kept.values == Some(FEW));
            assert_eq!(few.count(), usize::from(keeps_few), "{left} bytes");
            kernel.inspections.queue.clear();
            kernel.stock = without;
            assert_eq!(kernel.to_inspect(&objective(0), false), [], "no array pays for slots");
        }
    }

    /// Variants with the same PTX are inspected once, and so are variants with equal spill figures.
    #[test]
    fn what_spills_alike_is_looked_at_once() {
        let inlined = Variant::DEFAULT.optimised(Optimisations::ahead_of(Ahead::CHOICES[0]));
        for (text, spills, expected) in [("default", 80, 1), ("inlined", 80, 2), ("inlined", 90, 1)] {
            let mut kernel = Kernel::new("k", "0", BLOCK, figures(100, 32, 500), "stock".into(), Choices::All);
            kernel.queue.clear();
            kernel.has_first_choices = false;
            kernel.record(&objective(0), Variant::DEFAULT, "default".into(), Some(figures(90, 32, 490)));
            kernel.record(&objective(0), inlined.clone(), text.into(), Some(figures(spills, 32, 480)));
            assert_eq!(kernel.to_inspect(&objective(0), false).len(), expected, "{text}, {spills} bytes");
        }
    }

    /// LLVM IR has more first variants than half of the runs, and inspections still take place.
    #[test]
    fn looks_begin_with_the_second_half() {
        for choices in [Choices::CodeGeneration, Choices::All] {
            let [inspected, judged] = searched(BLOCK, figures(100, 32, 500), choices, &["%r7"], 16);
            let has_names = |variant: &&Variant| !variant.named().is_empty();
            assert!(inspected.len() >= 2 && !inspected[..2].iter().any(|variant| has_names(&variant)), "{choices:?}");
            // A variant with slots that still spills is inspected next.
            assert!(inspected[2..].iter().all(|variant| has_names(&variant)), "{inspected:?}");
            assert!(!judged[..8].iter().any(|variant| has_names(&variant)));
            assert!(judged[8..10].iter().all(|variant| has_names(&variant)), "{judged:?}");
        }
    }

    /// If choices before LLVM's optimisations change nothing, they cost no runs, and the orders come before all
    /// inspections.
    #[test]
    fn orders_come_ahead_of_looks() {
        let mut kernel = Kernel::new("k", "0", BLOCK, figures(100, 32, 500), "stock".into(), Choices::All);
        for _ in 0..=Ahead::CHOICES.len() {
            assert_eq!(kernel.to_inspect(&objective(0), false), []);
            let variant = kernel.propose(&objective(0));
            kernel.record(&objective(0), variant, "default".into(), Some(figures(90, 32, 490)));
        }
        assert_eq!(kernel.to_inspect(&objective(0), false), []);
        assert_eq!(kernel.to_inspect(&objective(0), true).len(), 1);
        assert_eq!(kernel.propose(&objective(0)), Variant::DEFAULT.optimised(Optimisations::TOLD));
        while !kernel.queue.is_empty() {
            kernel.propose(&objective(0));
        }
        assert_eq!(kernel.to_inspect(&objective(0), false).len(), 1);
    }

    /// Nothing is inspected if slots are not possible, or if almost none of the spilled values fit. An inspection that
    /// finds no spills leads to no variant.
    #[test]
    fn looks_that_would_be_in_vain() {
        let spilling = figures(100, 32, 500);
        let nothing = |block, stock, choices| searched(block, stock, choices, &["%r1"], 24)[0].is_empty();
        assert!(!nothing(BLOCK, spilling, Choices::Nothing));
        assert!(nothing(Block { threads: None, ..BLOCK }, spilling, Choices::Nothing));
        assert!(nothing(Block { dynamic_shared: None, ..BLOCK }, spilling, Choices::Nothing));
        assert!(nothing(BLOCK, figures(90_000, 32, 500), Choices::Nothing));
        assert!(nothing(BLOCK, figures(100, 32, MOST_INSTRUCTIONS + 100), Choices::Nothing));
        let [inspected, judged] = searched(BLOCK, spilling, Choices::Nothing, &[], 24);
        assert!(!inspected.is_empty() && judged.iter().all(|variant| variant.named().is_empty()));
    }
}
