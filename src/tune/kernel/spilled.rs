//! Values that ptxas spills, kept in shared memory instead: which these are, its machine code tells.
//!
//! ptxas finds registers for all but the values that it spills. Those values, and no others, are moved then; what is left to
//! ptxas is what it has found room for already.

use super::Kernel;
use crate::config::RegisterNames;
use crate::target::machine::SHARED_PER_BLOCK;
use crate::tune::aim::Aim;
use crate::tune::figures::Figures;
use crate::tune::question::Spilled;
use crate::tune::variant::{Kept, Names, Variant};

/// How many variants' machine code is looked at ahead of all else that is near the best.
const FIRST_LOOKS: usize = 3;

/// How many are looked at at once.
const AT_ONCE: usize = 2;

/// A variant whose values are worth keeping has at most so many hundredths more instructions than stock.
const MOST_HUNDREDTHS: u32 = 102;

/// Whether values move in loops, and the most bytes of a store or load, in the order of the trials. What ptxas spills outside
/// of a loop may be computed in it. Wide accesses spare instructions, and need registers beside each other.
const WAYS: [(&str, u32); 4] = [("on", 4), ("on", 16), ("off", 4), ("off", 16)];

impl Kernel {
    /// The variants whose spilled values are to be looked for: none where that is not due. They have the names of the code.
    /// It is due where nothing else is left to try, and once half of the runs are over.
    pub(super) fn to_look_at(&self, aim: &Aim, has_begun: bool) -> Vec<Variant> {
        let most_looks = FIRST_LOOKS + self.perturbed as usize;
        let is_due = self.queue.is_empty() || (has_begun && self.looks.is_empty());
        if !is_due || self.looks.len() >= most_looks || !self.may_look() {
            return Vec::new();
        }
        let stock = std::iter::once((&Variant::DEFAULT, self.stock));
        let worth = stock.chain(self.judged()).filter(|(_, figures)| self.is_worth_a_look(figures));
        let worth: Vec<(&Variant, Figures)> = worth.collect();
        // What spills no more than fits may spill nothing then, and the fewest instructions count.
        let fitting = worth.iter().filter(|(_, figures)| self.slot_bytes(figures) <= u64::from(SHARED_PER_BLOCK));
        let shortest = fitting.min_by_key(|(_, figures)| figures.sass.instructions);
        let ranked = shortest.map(|(variant, _)| (*variant).clone()).into_iter();
        let ranked = ranked.chain(self.ranked(aim, worth.iter().copied()));
        let with_own_names = ranked.map(|variant| variant.with_registers(Names::Llvm, variant.coalesces()));
        let mut found: Vec<Variant> = Vec::new();
        for variant in with_own_names {
            if !found.contains(&variant) && !self.looks.contains(&variant) {
                found.push(variant);
            }
        }
        found.truncate(AT_ONCE.min(most_looks - self.looks.len()));
        found
    }

    /// Whether variants will be looked at before there is anything else to try.
    pub(super) fn will_look(&self) -> bool {
        self.looks.len() < FIRST_LOOKS && self.may_look() && self.is_worth_a_look(&self.stock)
    }

    /// Whether slots are possible.
    fn may_look(&self) -> bool {
        self.block.threads.is_some() && self.block.dynamic_shared.is_some()
    }

    /// Whether a good part of what is spilled finds room in shared memory, and little else is worse than in stock.
    fn is_worth_a_look(&self, figures: &Figures) -> bool {
        let most = u64::from(self.stock.sass.instructions) * u64::from(MOST_HUNDREDTHS);
        figures.spill_bytes() > 0
            && self.slot_bytes(figures) <= 2 * u64::from(SHARED_PER_BLOCK)
            && figures.warps >= self.stock.warps
            && 100 * u64::from(figures.sass.instructions) <= most
    }

    /// Bytes of slots for all that is spilled, if no two values share one.
    fn slot_bytes(&self, figures: &Figures) -> u64 {
        u64::from(figures.real.spill_store_bytes) * u64::from(self.block.threads.unwrap_or_default())
    }

    /// Notes what a look at a variant found, and says in which ways the values may be kept that ptxas spills in it.
    pub(super) fn note_spilled(&mut self, aim: &Aim, variant: Variant, spilled: Option<Spilled>) -> Vec<Variant> {
        self.looks.push(variant.clone());
        let Some(Spilled { registers: spilled, text, figures }) = spilled else { return Vec::new() };
        if figures.is_some() && self.known(&text).is_none() {
            self.proposed.push(variant.clone());
            self.record(aim, variant.clone(), text, figures);
        }
        let before = variant.named();
        let new: Vec<&str> = spilled.iter().filter(|name| !before.iter().any(|known| known == *name)).collect();
        let (Some(threads), Some(dynamic_shared)) = (self.block.threads, self.block.dynamic_shared) else {
            return Vec::new();
        };
        if new.is_empty() {
            return Vec::new();
        }
        let named: RegisterNames = before.iter().chain(new).collect();
        let kept = |(in_loops, access_bytes)| Kept {
            registers: aim.architecture.registers_for_blocks(threads, 1).unwrap_or_default(),
            slack: 0,
            named: named.clone(),
            in_loops,
            hoists: false,
            access_bytes,
            values: None,
            limit: None,
            threads: (!self.block.says_threads).then_some(threads),
            dynamic_shared,
        };
        WAYS.map(|way| variant.with_kept_values(kept(way))).into()
    }

    /// Proposes ways of keeping the values of several variants ahead of all else: the first way of each, then the next ways.
    pub(super) fn propose_kept(&mut self, kept: Vec<Vec<Variant>>) {
        let by_way = |way: usize| kept.iter().filter_map(move |of_variant| of_variant.get(way).cloned());
        let rest = std::mem::take(&mut self.queue);
        self.queue.extend((0..WAYS.len()).flat_map(by_way));
        self.queue.extend(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::aim;
    use super::*;
    use crate::tune::figures::{Block, tests::figures};
    use crate::tune::optimisations::Choices;
    use crate::tune::question::{Answer, Question};

    const BLOCK: Block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };

    /// What is asked of a kernel of PTX in a search of so many runs: the variants that were looked at, and those judged. Each
    /// order spills less than the one before and takes an instruction more, and `spilled` is found at every look.
    fn searched(block: Block, stock: Figures, choices: Choices, spilled: &[&str], runs: usize) -> [Vec<Variant>; 2] {
        let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), choices);
        let [mut looked_at, mut judged]: [Vec<Variant>; 2] = Default::default();
        loop {
            let questions = kernel.ask(&aim(0), runs);
            if questions.is_empty() {
                return [looked_at, judged];
            }
            let answer = |question: Question| match question {
                Question::Text(variant) => Answer::Text(Ok(variant.to_string())),
                Question::Figures(variant) => {
                    judged.push(variant);
                    let number = judged.len() as u32;
                    Answer::Figures(Ok(figures(stock.spill_bytes() - number, 32, stock.sass.instructions - 9 + number)))
                }
                Question::Spilled(variant) => {
                    let text = variant.to_string();
                    looked_at.push(variant);
                    Answer::Spilled(Ok(Spilled { registers: spilled.iter().copied().collect(), text, figures: None }))
                }
            };
            let answers = questions.into_iter().map(answer).collect();
            kernel.tell(&aim(0), answers);
        }
    }

    /// Once the first orders are judged, the variant with the fewest instructions and the one that spills least are looked at,
    /// and the values that they spill are kept, all of them.
    #[test]
    fn spilled_values_are_kept() {
        let [looked_at, judged] = searched(BLOCK, figures(100, 32, 500), Choices::Nothing, &["%r7", "%rd2"], 16);
        let own_names = |number: usize| judged[number].with_registers(Names::Llvm, true);
        assert_eq!(looked_at[..2], [own_names(0), own_names(7)]);
        let kept: Vec<&Variant> = judged.iter().filter(|variant| !variant.named().is_empty()).collect();
        assert!(kept.len() >= 4, "{kept:?}");
        assert!(kept.iter().all(|variant| variant.named().to_string() == "%r7+%rd2"), "{kept:?}");
        assert!(kept[..4].iter().all(|variant| judged[8..12].contains(variant)));
        assert_eq!(looked_at.len() + judged.len(), 16, "a look is a run");
    }

    /// LLVM IR has more to try first than half of the runs, and is looked at then all the same.
    #[test]
    fn looks_begin_with_the_second_half() {
        for choices in [Choices::CodeGeneration, Choices::All] {
            let [looked_at, judged] = searched(BLOCK, figures(100, 32, 500), choices, &["%r7"], 16);
            assert_eq!(looked_at.len(), 2, "{choices:?}");
            assert!(judged[..8].iter().all(|variant| variant.named().is_empty()));
            assert!(judged[8..12].iter().all(|variant| variant.named().to_string() == "%r7"), "{judged:?}");
        }
    }

    /// Nothing is looked at where no slots are possible, or where next to nothing of what is spilled has room; and what is found to spill nothing leads to nothing.
    #[test]
    fn looks_that_would_be_in_vain() {
        let spilling = figures(100, 32, 500);
        let nothing = |block, stock, choices| searched(block, stock, choices, &["%r1"], 24)[0].is_empty();
        assert!(!nothing(BLOCK, spilling, Choices::Nothing));
        assert!(nothing(Block { threads: None, ..BLOCK }, spilling, Choices::Nothing));
        assert!(nothing(Block { dynamic_shared: None, ..BLOCK }, spilling, Choices::Nothing));
        assert!(nothing(BLOCK, figures(90_000, 32, 500), Choices::Nothing));
        let [looked_at, judged] = searched(BLOCK, spilling, Choices::Nothing, &[], 24);
        assert!(!looked_at.is_empty() && judged.iter().all(|variant| variant.named().is_empty()));
    }
}
