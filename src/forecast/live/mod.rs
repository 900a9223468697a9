//! How much of what is held is live at once: in the order of the code, and in the orders that ptxas may make of it.
//!
//! The entry is [`Live::compute`]. In the order of its phases:
//! * [`word_ranges`]: where each word is live;
//! * [`pressure`]: how many words are live at each point, in the order of the code;
//! * [`early_loads`]: the same where every load is issued as early as possible;
//! * [`reordering`]: the fewest words that a list scheduler reaches in each region;
//! * [`instruction_counts`]: what is counted of the instructions, and how much is live at rare ones;
//! * [`unrolling`]: what is live in loops that ptxas unrolls;
//! * [`loop_carried`]: what loops carry, a lower bound in every order;
//! * [`in_flight`]: what asynchronous instructions keep up to a wait, another one.
//!
//! Reports ask for more: [`peak`] and [`curve`] say which values are live where, and [`loop_invariants`] what could
//! move in front of loops.

pub(super) mod curve;
mod early_loads;
mod in_flight;
pub(super) mod instruction_counts;
pub(super) mod loop_carried;
mod loop_invariants;
pub(super) mod peak;
pub(super) mod pressure;
pub(super) mod reordering;
mod unrolling;
mod word_ranges;

use super::footprint::RegisterFootprint;
use super::footprint::opcode_facts::Motion;
use crate::analysis::Point;
use crate::function::{Function, Inst, Operand};
use early_loads::EarliestPlaces;
use instruction_counts::Counts;
use loop_carried::LoopCarriedWords;
use loop_invariants::{Invariants, Policy};
use pressure::{DeclaredPressure, WordPressures};
use reordering::{ReorderedPressure, Reordering};
use unrolling::{UnrolledWords, Unrolling};
use word_ranges::WordRanges;

/// What is live at once in one function, without its callees. The memory is used for one function after another.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Registers as PTX declares them.
    pub(super) declared: DeclaredPressure,
    /// Words as the hardware holds them, in the order of the code.
    pub(super) pressures: WordPressures,
    /// Varying words, where every load is issued as early as possible.
    pub(super) with_early_loads: u32,
    /// Words in the better of two orders.
    pub(super) reordered: ReorderedPressure,
    /// What is held in the loops that ptxas unrolls.
    pub(super) unrolled: UnrolledWords,
    /// Words in any order.
    pub(super) carried: LoopCarriedWords,
    /// Words that asynchronous instructions keep up to a wait.
    pub(super) in_flight: u32,
    /// Words that the code loads from places of stack variables that ptxas knows.
    pub(super) array_loads: u32,
    /// What was counted of the instructions.
    pub(super) counts: Counts,
    word_ranges: WordRanges,
    places: EarliestPlaces,
    reordering: Reordering,
    unrolling: Unrolling,
}

/// What only reports show of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportFeatures {
    /// Words that are computed in a loop and could be computed in front of it.
    pub(super) invariant_words: u32,
    /// The same of innermost loops, in front of these alone.
    pub(super) inner_invariant_words: u32,
    /// Words of stack variables that are held in registers.
    pub(super) stack_words: u32,
}

impl Live {
    /// Becomes what is live at once in a function of which is known what the hardware holds. O(n log n) in its operands
    /// and live ranges.
    pub(super) fn compute(&mut self, function: &Function, footprint: &RegisterFootprint) {
        let RegisterFootprint { ranges, words, uniform_registers, promotion, .. } = footprint;
        self.word_ranges.compute(words, ranges);
        let is_uniform = |reg| uniform_registers.has(reg);
        self.pressures.compute((function, words, &self.word_ranges), promotion.words(), is_uniform);
        self.declared.compute(function, ranges);
        self.with_early_loads = self.hoist_loads(function, footprint);
        let Self { word_ranges, pressures, .. } = self;
        self.reordered = self.reordering.reach(&reordering::Input { function, footprint, word_ranges, pressures });
        self.counts = Counts::new(function, footprint, &pressures.varying);
        self.unrolled = self.unrolling.most_words(function, footprint, &pressures.varying);
        self.carried = LoopCarriedWords::most(function, footprint);
        self.in_flight = in_flight::most_words(function, footprint);
        let is_of_array =
            |&inst: &Inst| footprint.behaviours.motion(inst) == Motion::Load && promotion.place(inst).is_some();
        let defined =
            function.insts().filter(is_of_array).flat_map(|inst| function.operands(inst)).filter_map(Operand::def);
        self.array_loads = defined.map(|reg| function.class(reg).words()).sum();
    }

    /// What only reports show of the function that was analysed last: what HoistInvariants could move, and what of the
    /// stack is in registers.
    pub(super) fn report_features(&self, function: &Function, footprint: &RegisterFootprint) -> ReportFeatures {
        let invariant_words = |policy| Invariants::new(function, footprint, policy).most_words(function, footprint);
        ReportFeatures {
            invariant_words: invariant_words(Policy::Always),
            inner_invariant_words: invariant_words(Policy::InnerLoops),
            stack_words: self.pressures.stack.most(),
        }
    }

    /// The most varying words live at once where every load is issued as early as possible.
    fn hoist_loads(&mut self, function: &Function, footprint: &RegisterFootprint) -> u32 {
        let Self { places, word_ranges, .. } = self;
        places.compute(function, &footprint.behaviours, &footprint.promotion);
        let is_moved = |inst: Inst| footprint.behaviours.motion(inst) == Motion::Load && places.of(inst) != inst;
        let place = |start: Point| {
            let inst = start.inst();
            if start == Point::late(inst) && is_moved(inst) { Point::late(places.of(inst)) } else { start }
        };
        let loads = function.insts().filter(|&inst| is_moved(inst));
        self.pressures.most_where_moved((function, &footprint.words, word_ranges, &footprint.ranges), loads, place)
    }

    /// What is live at once in a function whose opcodes are known by their names alone.
    #[cfg(test)]
    pub(super) fn by_name(function: &Function) -> Self {
        let mut live = Self::default();
        live.compute(function, &RegisterFootprint::by_name(function));
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::model::features::Features;
    use crate::fuzzing::{Options, lowered_function};
    use crate::index::EntityIndex;

    /// Nothing is left of the function before in the memory for the next.
    #[test]
    fn functions_do_not_see_each_other() {
        arbtest::arbtest(|u| {
            let functions = [0, 1, 2].map(|_| lowered_function(u, &Options::default()));
            let (mut footprint, mut live) = (RegisterFootprint::default(), Live::default());
            for function in functions {
                let function = function?;
                footprint.recompute_by_name(&function);
                live.compute(&function, &footprint);
                assert_eq!(Features::new(&live), Features::new(&Live::by_name(&function)), "{function}");
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
            let footprint = RegisterFootprint::by_name(&function);
            let mut analysed = Live::default();
            analysed.compute(&function, &footprint);
            let mut live = vec![vec![false; footprint.words.len()]; 2 * function.num_insts() + 2];
            for reg in function.regs() {
                for segment in footprint.ranges.segments(reg) {
                    let inst = segment.start.inst();
                    let is_load = footprint.behaviours.motion(inst) == Motion::Load;
                    let moves = is_load && segment.start == Point::late(inst);
                    let start = if moves { Point::late(analysed.places.of(inst)) } else { segment.start };
                    for word in footprint.words.occupied(reg) {
                        if !analysed.pressures.uniform()[word] {
                            (start.0..segment.end.0).for_each(|point| live[point as usize][word.index()] = true);
                        }
                    }
                }
            }
            let most = live.iter().map(|words| words.iter().filter(|&&is_live| is_live).count()).max();
            assert_eq!(analysed.with_early_loads as usize, most.unwrap_or(0), "{function}");
            Ok(())
        })
        .budget_ms(1_000);
    }
}
