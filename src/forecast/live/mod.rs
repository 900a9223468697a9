//! Live words: in the order of the code, and in the orders that ptxas may choose.
//!
//! The entry is [`Live::compute`]. In the order of its phases:
//! * [`word_ranges`]: where each word is live;
//! * [`pressure`]: the words that are live at each point, in the order of the code;
//! * [`early_loads`]: the pressure if every load is issued as early as possible;
//! * [`reordering`]: the fewest words that a list scheduler reaches in each region;
//! * [`instruction_counts`]: counts of instructions, and the pressure at rare instructions;
//! * [`unrolling`]: the pressure in loops that ptxas unrolls;
//! * [`loop_carried`]: words that loops carry, a lower bound in every order;
//! * [`in_flight`]: words that asynchronous instructions keep up to a wait, another lower bound.
//!
//! Reports use more: [`peak`] and [`curve`] show which values are live where, and [`loop_invariants`] shows which
//! values could move before loops.

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

/// Live words of one function, without its callees. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Registers as PTX declares them.
    pub(super) declared: DeclaredPressure,
    /// Words in hardware registers, in the order of the code.
    pub(super) pressures: WordPressures,
    /// Varying words, if every load is issued as early as possible.
    pub(super) with_early_loads: u32,
    /// Words in the better of two orders.
    pub(super) reordered: ReorderedPressure,
    /// Words in the loops that ptxas unrolls.
    pub(super) unrolled: UnrolledWords,
    /// Words that are live in any order of the code.
    pub(super) carried: LoopCarriedWords,
    /// Words that asynchronous instructions keep up to a wait.
    pub(super) in_flight: u32,
    /// Words that the code loads from stack variables at places that ptxas knows.
    pub(super) array_loads: u32,
    /// Counts of instructions.
    pub(super) counts: Counts,
    word_ranges: WordRanges,
    places: EarliestPlaces,
    reordering: Reordering,
    unrolling: Unrolling,
}

/// Features that only reports show.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportFeatures {
    /// Words that are computed in a loop and could be computed before it.
    pub(super) invariant_words: u32,
    /// Words that are computed in an innermost loop and could be computed before this loop.
    pub(super) inner_invariant_words: u32,
    /// Words of stack variables in registers.
    pub(super) stack_words: u32,
}

impl Live {
    /// Computes the live words of a function with a known footprint. O(n log n) in its operands and live ranges.
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

    /// Returns the features that only reports show, for the function that was analysed last: words that HoistInvariants
    /// could move, and stack words in registers.
    pub(super) fn report_features(&self, function: &Function, footprint: &RegisterFootprint) -> ReportFeatures {
        let invariant_words = |policy| Invariants::new(function, footprint, policy).most_words(function, footprint);
        ReportFeatures {
            invariant_words: invariant_words(Policy::Always),
            inner_invariant_words: invariant_words(Policy::InnerLoops),
            stack_words: self.pressures.stack.most(),
        }
    }

    /// Returns the most varying words live at once if every load is issued as early as possible.
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

    /// Computes the live words of a function whose opcodes are known only by name.
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

    /// The reused memory contains nothing of the previous function.
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

    /// Recomputing only the results of loads gives the same as recomputing all words: each word is live while one of
    /// its registers is, from the earliest place of the load that writes it.
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
