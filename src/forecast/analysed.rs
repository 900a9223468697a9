//! The analyses of one function, in their order.

use super::behaviour::{Behaviours, Motion};
use super::carried::{self, Carried};
use super::counts::Counts;
use super::features::{Features, Live};
use super::hoisting::EarliestPlaces;
use super::invariants::{Invariants, Policy};
use super::pressure::{Declared, WordPressures};
use super::promotion::Promotion;
use super::reordering::{Input, Reordering};
use super::stretches::Stretches;
use super::uniform_registers::UniformRegisters;
use super::unrolling::{self, Unrolling};
use super::words::Words;
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrences, Point, UniformityInfo};
use crate::function::{Function, Inst, RegClass, VReg};
use crate::target::Classification;

/// What is known of a function, before its callees are. It is memory for one function after another: those of a module
/// are many and small.
#[derive(Debug, Default)]
pub(super) struct Analysed {
    /// What is live where, as the hardware holds it.
    pub(super) pressures: WordPressures,
    /// The words of its registers.
    pub(super) words: Words,
    /// Where they are live.
    pub(super) ranges: LiveRanges,
    /// Where its registers are read and written.
    pub(super) occurrences: Occurrences,
    /// Which of them ptxas keeps in uniform registers.
    pub(super) uniform_registers: UniformRegisters,
    /// Its stack variables, as far as ptxas keeps them in registers.
    pub(super) promotion: Promotion,
    /// What was counted of its instructions.
    pub(super) counts: Counts,
    registers: Vec<VReg>,
    cfg: Cfg,
    dominators: Dominators,
    loops: Loops,
    uniformity: UniformityInfo,
    behaviours: Behaviours,
    stretches: Stretches,
    places: EarliestPlaces,
    declared: Declared,
    reordering: Reordering,
    unrolling: Unrolling,
}

impl Analysed {
    /// Analyses a function that has left SSA form and is coalesced, and says what its features are, without calls.
    /// O(n log n) in its operands and live ranges.
    pub(super) fn compute(&mut self, function: &Function, classification: &Classification) -> Features {
        self.find_lives(function, classification);
        let Self { behaviours, words, ranges, stretches, pressures, uniform_registers, promotion, .. } = self;
        behaviours.compute(function, classification);
        words.compute(function, behaviours, (&self.occurrences, ranges));
        uniform_registers.compute(function, (behaviours, words), &self.occurrences, &self.uniformity);
        promotion.compute(function, (&self.cfg, &self.loops), (&self.occurrences, ranges));
        promotion.addresses().for_each(|reg| words.drop_all(reg));
        stretches.compute(words, ranges);
        let is_uniform = |reg| uniform_registers.has(reg);
        pressures.compute((function, words, stretches), promotion.words(), is_uniform);
        self.declared.compute(function, ranges);
        let hoisted = self.hoist(function);
        let Self { behaviours, words, stretches, pressures, loops, .. } = self;
        let input = Input { function, behaviours, words, stretches, pressures };
        let reached = self.reordering.reach(&input, loops);
        self.counts = Counts::new(function, behaviours, words, &pressures.varying);
        let occurrences = &self.occurrences;
        let input = unrolling::Input { function, behaviours, words, varying: &pressures.varying, occurrences, loops };
        let unrolled = self.unrolling.most_words(&input);
        let Self { ranges, uniformity, .. } = self;
        let input = carried::Input { function, behaviours, words, loops, occurrences, ranges, uniformity };
        let carried = Carried::most(&input);
        let live = Live { declared: &self.declared, pressures, hoisted, reached, unrolled, carried };
        Features::new(function.num_blocks(), &self.counts, &live)
    }

    /// Adds what only reports show of the function that was analysed last: what HoistInvariants could move, and what of
    /// the stack is in registers.
    pub(super) fn add_for_reports(&self, function: &Function, features: &mut Features) {
        let Self { behaviours, words, occurrences, cfg, loops, pressures, .. } = self;
        features.set("stack_words", f64::from(pressures.stack.most()));
        for (name, policy) in [("invariant_words", Policy::Always), ("inner_invariant_words", Policy::InnerLoops)] {
            let invariants = Invariants::new(function, (cfg, loops), behaviours, occurrences, policy);
            features.set(name, f64::from(invariants.most_words(function, (occurrences, loops), words)));
        }
    }

    /// Where registers live, and which are the same in all threads of a warp.
    fn find_lives(&mut self, function: &Function, classification: &Classification) {
        let Self { cfg, dominators, occurrences, ranges, registers, .. } = self;
        cfg.compute(function);
        dominators.compute(function, cfg);
        self.loops.compute(cfg, dominators);
        occurrences
            .compute(function, &|_, operand| operand.reg().filter(|&reg| function.class(reg) != RegClass::Other));
        registers.clear();
        registers.extend(function.regs().filter(|&reg| !occurrences.of(reg).is_empty()));
        ranges.compute(function, cfg, dominators, occurrences, registers);
        let in_kernel = function.kernel().is_some();
        self.uniformity.compute((function, classification), cfg, dominators, occurrences, ranges, in_kernel);
    }

    /// The most varying words live at once where every load is issued as early as it can be.
    fn hoist(&mut self, function: &Function) -> u32 {
        let Self { behaviours, places, words, stretches, ranges, .. } = self;
        places.compute(function, behaviours);
        let is_moved = |inst: Inst| behaviours.motion(inst) == Motion::Load && places.of(inst) != inst;
        let place = |start: Point| {
            let inst = start.inst();
            if start == Point::late(inst) && is_moved(inst) { Point::late(places.of(inst)) } else { start }
        };
        let loads = function.insts().filter(|&inst| is_moved(inst));
        self.pressures.most_where_moved((function, words, stretches, ranges), loads, place)
    }
}

#[cfg(test)]
impl Analysed {
    /// The same of a function whose opcodes are known by their names alone.
    pub(super) fn compute_by_name(&mut self, function: &Function) -> Features {
        self.compute(function, &Classification::by_name(function.opcodes()))
    }

    /// What the scheduler read of the function that was analysed last.
    pub(super) fn scheduled<'a>(&'a self, function: &'a Function) -> (Input<'a>, &'a Loops) {
        let Self { behaviours, words, stretches, pressures, loops, .. } = self;
        (Input { function, behaviours, words, stretches, pressures }, loops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::{Options, lowered_function};
    use crate::index::EntityIndex;

    /// Nothing is left of the function before in the memory for the next.
    #[test]
    fn functions_do_not_see_each_other() {
        arbtest::arbtest(|u| {
            let functions = [0, 1, 2].map(|_| lowered_function(u, &Options::default()));
            let mut memory = Analysed::default();
            for function in functions {
                let function = function?;
                assert_eq!(
                    memory.compute_by_name(&function),
                    Analysed::default().compute_by_name(&function),
                    "{function}"
                );
            }
            Ok(())
        })
        .budget_ms(1_000);
    }

    /// What loads write, counted anew alone, is what counting all words anew gives: each live where one of the registers
    /// that hold it is, from the earliest place of the load that writes it.
    #[test]
    fn hoisted_words_are_counted_right() {
        arbtest::arbtest(|u| {
            let function = lowered_function(u, &Options::default())?;
            let mut analysed = Analysed::default();
            let hoisted = analysed.compute_by_name(&function).get("hoisted_words");
            let mut live = vec![vec![false; analysed.words.len()]; 2 * function.num_insts() + 2];
            for reg in function.regs() {
                for segment in analysed.ranges.segments(reg) {
                    let inst = segment.start.inst();
                    let is_load = analysed.behaviours.motion(inst) == Motion::Load;
                    let moves = is_load && segment.start == Point::late(inst);
                    let start = if moves { Point::late(analysed.places.of(inst)) } else { segment.start };
                    for word in analysed.words.held(reg) {
                        if !analysed.pressures.uniform()[word] {
                            (start.0..segment.end.0).for_each(|point| live[point as usize][word.index()] = true);
                        }
                    }
                }
            }
            let most = live.iter().map(|words| words.iter().filter(|&&is_live| is_live).count()).max();
            assert_eq!(hoisted, most.unwrap_or(0) as f64, "{function}");
            Ok(())
        })
        .budget_ms(1_000);
    }
}
