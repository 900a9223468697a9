//! Values that ptxas spills, kept in shared memory instead: which these are, its machine code tells.
//!
//! ptxas finds registers for all but the values that it spills. Those values, and no others, are moved then; what is left to
//! ptxas is what it has found room for already.

use std::collections::VecDeque;

use super::Kernel;
use crate::config::{NamedRegister, RegisterNames};
use crate::target::machine::SHARED_PER_BLOCK;
use crate::tune::figures::Figures;
use crate::tune::objective::Objective;
use crate::tune::question::Spilled;
use crate::tune::spill_options::SpillOptions;
use crate::tune::variant::{Names, Variant};

/// How many variants' machine code is looked at ahead of all else that is near the best.
const FIRST_INSPECTIONS: usize = 4;

/// How many are looked at at first, at once.
const AT_FIRST: usize = 2;

/// Spills are worth a look that need so many times the room for slots, at most: what costs most gets the room.
const MOST_FOR_ROOM: u64 = 8;

/// A variant whose values are worth keeping has at most so many hundredths more instructions than stock.
const MOST_HUNDREDTHS: u32 = 102;

/// Longer code is not looked at: the disassembler's table of it has hundreds of bytes for each instruction.
const MOST_INSTRUCTIONS: u32 = 100_000;

/// Whether values move in loops, and the most bytes of a store or load: how they are kept first, and then if that asks for it.
const FIRST_WAY: (&str, u32) = ("on", 4);
/// Wide accesses spare instructions, and need registers beside each other.
const WIDE: (&str, u32) = ("on", 16);
/// What ptxas spills outside of a loop may be computed in it, and move in every turn.
const OUTSIDE: (&str, u32) = ("auto", 4);

/// Where stock spills nothing, so few values are kept by what they cost if those that ptxas spills do not do: more of them take
/// registers for the accesses.
const FEW: u32 = 5;
const SLACK_OF_FEW: u32 = 24;

/// What was looked at, and what came of it.
#[derive(Default)]
pub(super) struct SpillInspections {
    /// The variants whose machine code was looked at.
    seen: Vec<Variant>,
    /// What is tried ahead of all else.
    pub(super) queue: VecDeque<Variant>,
    /// Wide accesses of what was kept, to be tried next if they are asked for.
    wide: VecDeque<Variant>,
    /// What is tried if it is asked for when there is nothing more to look at.
    later: VecDeque<Variant>,
}

impl SpillInspections {
    /// How many variants were looked at.
    pub(super) fn count(&self) -> usize {
        self.seen.len()
    }
}

impl Kernel {
    /// The variants whose spilled values are to be looked for: none where that is not due. They have the names of the code.
    /// It is due where nothing is left of what is tried on every kernel, and once half of the runs are over.
    pub(super) fn to_inspect(&self, objective: &Objective, is_half_over: bool) -> Vec<Variant> {
        let most = (FIRST_INSPECTIONS + self.perturbed as usize).saturating_sub(self.inspections.seen.len());
        // Behind the choices ahead of LLVM's optimisations, the orders are to come.
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
        // What was kept is worth more of it where it spared most.
        let kept = worth.iter().filter(|(variant, _)| !variant.named().is_empty() && is_new(variant));
        let least = kept.min_by_key(|(_, figures)| figures.spill_bytes());
        let least = least.filter(|(variant, figures)| figures.spill_bytes() < self.spilled_before(variant));
        if let Some((variant, _)) = least.filter(|_| most > 0) {
            return vec![(*variant).clone()];
        }
        if !self.inspections.seen.is_empty() && self.perturbed == 0 {
            return Vec::new();
        }
        // What spills no more than fits may spill nothing then, and the fewest instructions count.
        let fitting = worth.iter().filter(|(_, figures)| self.slot_bytes(figures) <= u64::from(SHARED_PER_BLOCK));
        let shortest = fitting.min_by_key(|(_, figures)| figures.sass.instructions);
        let shortest = shortest.map(|(variant, _)| (*variant).clone()).into_iter();
        let by_rank = shortest.chain(self.ranked(objective, worth.iter().copied()));
        // What spills alike spills the same values.
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

    /// How many variants are to be drawn at once, so that what is found of them tells what to look at next.
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

    /// A variant whose machine code is worth a look by itself, and was not looked at.
    pub(super) fn variant_to_inspect(&self, variant: &Variant, figures: &Figures) -> Option<Variant> {
        let variant = variant.with_registers(Names::Llvm, variant.coalesces());
        let is_worth =
            self.can_inspect() && self.may_pay_to_inspect(figures) && !self.inspections.seen.contains(&variant);
        is_worth.then_some(variant)
    }

    /// Whether somebody can tell what is spilled, and slots are possible.
    fn can_inspect(&self) -> bool {
        self.may_be_inspected && self.most_threads().is_some() && self.block.dynamic_shared.is_some()
    }

    /// Whether a good part of what is spilled finds room in shared memory, and little else is worse than in stock. Where stock has
    /// nothing in local memory, slots cost more than that.
    fn may_pay_to_inspect(&self, figures: &Figures) -> bool {
        let most = u64::from(self.stock.sass.instructions) * u64::from(MOST_HUNDREDTHS);
        figures.spill_bytes() > 0
            && self.stock.sass.local > 0
            && figures.sass.instructions <= MOST_INSTRUCTIONS
            && self.slot_bytes(figures) <= MOST_FOR_ROOM * u64::from(SHARED_PER_BLOCK)
            && figures.warps >= self.stock.warps
            && 100 * u64::from(figures.sass.instructions) <= most
    }

    /// Bytes of slots for all that is spilled, if no two values share one.
    fn slot_bytes(&self, figures: &Figures) -> u64 {
        u64::from(figures.ptxas_report.spill_store_bytes) * u64::from(self.most_threads().unwrap_or_default())
    }

    /// Notes what a look at a variant found, and proposes ways of keeping the values that ptxas spills in it.
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

    /// Proposes wide accesses, if the last values that were kept ask for them.
    pub(super) fn propose_wide(&mut self) {
        if self.inspections.queue.is_empty() {
            let wide = std::mem::take(&mut self.inspections.wide);
            self.inspections.queue = self.asked_for(wide);
        }
    }

    fn asked_for(&self, variants: VecDeque<Variant>) -> VecDeque<Variant> {
        variants.into_iter().filter(|variant| self.is_asked_for(variant)).collect()
    }

    /// Whether what came of the first way of keeping the same values asks for another one.
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

    /// The bytes that stock spills; where it spills nothing, those of the variant without the values that it keeps.
    fn spilled_before(&self, variant: &Variant) -> u32 {
        if self.stock.spill_bytes() > 0 {
            return self.stock.spill_bytes();
        }
        self.figures(&variant.without_kept_values()).map_or(0, |figures| figures.spill_bytes())
    }
}

/// What is equal where ptxas spills the same values, nearly always.
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

    /// What is asked of a kernel of PTX in a search of so many runs: the variants that were looked at, and those judged. Each
    /// order spills less than the one before and takes an instruction more, and `spilled` is found at every look.
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

    /// Once the first orders are judged, the variant with the fewest instructions and the one that spills least are looked at,
    /// and the values that they spill are kept.
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

    /// Wide accesses are tried where the same values spare spills, and values that stay outside of loops where they move more
    /// than ptxas moves.
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

    /// Where stock spills nothing, the values that a variant keeps are to spare what it spills without them. If the values that ptxas
    /// spills do not spare all, a few others are kept.
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

    /// Variants with the same PTX are looked at once, and so are those that spill alike.
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

    /// LLVM IR has more to try first than half of the runs, and is looked at then all the same.
    #[test]
    fn looks_begin_with_the_second_half() {
        for choices in [Choices::CodeGeneration, Choices::All] {
            let [inspected, judged] = searched(BLOCK, figures(100, 32, 500), choices, &["%r7"], 16);
            let has_names = |variant: &&Variant| !variant.named().is_empty();
            assert!(inspected.len() >= 2 && !inspected[..2].iter().any(|variant| has_names(&variant)), "{choices:?}");
            // What was kept and still spills is looked at next.
            assert!(inspected[2..].iter().all(|variant| has_names(&variant)), "{inspected:?}");
            assert!(!judged[..8].iter().any(|variant| has_names(&variant)));
            assert!(judged[8..10].iter().all(|variant| has_names(&variant)), "{judged:?}");
        }
    }

    /// Where choices ahead of LLVM's optimisations change nothing, they cost no runs, and the orders come ahead of all looks.
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

    /// Nothing is looked at where no slots are possible, or where next to nothing of what is spilled has room; and what is
    /// found to spill nothing leads to nothing.
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
