//! Sinks: places further down at which a value may be stored once for all of its definitions. At such a place, the
//! definitions have met and code is executed less often.
//!
//! A value that a loop computes and only code after the loop reads is stored after the loop, not in each iteration. A
//! value with several definitions that another loop does not access is stored before that loop. The register keeps the
//! value up to the end of a block, which is called the sink. In the blocks that the sink dominates, the value is in its
//! slot.
//!
//! Invariant: the blocks that a sink strictly dominates do not define the value, and where control flow leaves these
//! blocks, the value is not live. Therefore, a reload in these blocks finds the value that the register held when the
//! sink was last left.

use std::ops::Range;

use super::eligible::Candidate;
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrence, Occurrences};
use crate::function::{Block, Function, Inst};
use crate::index::IndexVec;

/// Most places that are examined for a value.
const MOST_SINKS: usize = 64;

/// Greatest frequency of a store, as a share of the frequency of the stores after the definitions.
const RARER: f64 = 0.999;

/// Returns the blocks in which a value is stored: the sink, or else the blocks of its definitions.
pub(super) fn stored(value: &Candidate, sink: Option<Block>) -> impl Iterator<Item = Block> {
    let definitions = if sink.is_some() { &[][..] } else { &value.definitions[..] };
    sink.into_iter().chain(definitions.iter().map(|definition| definition.block))
}

/// Returns the blocks before loops and the exit blocks of loops, in the order of the dominator tree. Code in these
/// blocks is rarer than in their surroundings.
pub(super) fn sinks(cfg: &Cfg, dominators: &Dominators, loops: &Loops) -> Vec<Block> {
    let headers = cfg
        .rpo()
        .iter()
        .copied()
        .filter(|&block| loops.innermost(block).is_some_and(|innermost| loops.header(innermost) == block));
    let ahead = headers.filter_map(|header| dominators.idom(header));
    let is_left_to = |&block: &Block| {
        let depth = loops.depth(block);
        cfg.preds(block).iter().any(|&pred| loops.depth(pred) > depth)
    };
    let behind = cfg.rpo().iter().copied().filter(is_left_to);
    let mut sinks: Vec<Block> = ahead.chain(behind).collect();
    sinks.sort_unstable_by_key(|&block| dominators.preorder(block));
    sinks.dedup();
    sinks
}

/// A place at which a value may be stored once.
pub(super) struct Sink {
    /// The block at whose end the value is stored.
    pub(super) block: Block,
    /// The reads that the block dominates, in the order of the code.
    pub(super) reads: Vec<Occurrence>,
}

/// Analyses of a function for sinks.
pub(super) struct Sinks<'a> {
    pub(super) function: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) dominators: &'a Dominators,
    pub(super) live: &'a LiveRanges,
    pub(super) occurrences: &'a Occurrences,
    pub(super) frequencies: &'a IndexVec<Block, f64>,
    /// The blocks that may be sinks.
    pub(super) places: &'a [Block],
}

impl Sinks<'_> {
    /// Returns the sinks of a value, in the order of the dominator tree. O(sinks · (occurrences + live-ins)).
    pub(super) fn of(&self, value: &Candidate) -> Vec<Sink> {
        let runs = |definition: &Occurrence| self.frequencies[definition.block];
        let often: f64 = value.definitions.iter().map(runs).sum();
        let is_rarer = |&block: &Block| self.frequencies[block] < RARER * often;
        let places = self.places.iter().copied().filter(is_rarer).take(MOST_SINKS);
        places.filter_map(|block| Some(Sink { block, reads: self.reads_behind(value, block)? })).collect()
    }

    /// Returns the reads of a value that a sink dominates; `None` if the block cannot be a sink of the value.
    fn reads_behind(&self, value: &Candidate, sink: Block) -> Option<Vec<Occurrence>> {
        let is_behind = |block: Block| self.dominators.strictly_dominates(sink, block);
        self.live.live_out_value(self.function, value.reg, sink)?;
        let all = self.occurrences.of(value.reg);
        let is_redefined = value.definitions.iter().any(|definition| is_behind(definition.block));
        if is_redefined {
            return None;
        }
        let leaves = |into: Block| !is_behind(into) && self.cfg.preds(into).iter().any(|&from| is_behind(from));
        if self.live.live_ins(value.reg).iter().any(|live_in| leaves(live_in.block)) {
            return None;
        }
        let reads = all.iter().filter(|access| access.is_use() && is_behind(access.block));
        let reads: Vec<Occurrence> = reads.copied().collect();
        (!reads.is_empty()).then_some(reads)
    }

    /// Returns the parts of `stretches` in the blocks that a sink strictly dominates.
    pub(super) fn behind(&self, sink: Block, stretches: Vec<Range<u32>>) -> Vec<Range<u32>> {
        let mut parts = Vec::new();
        for stretch in stretches {
            let mut start = stretch.start;
            while start < stretch.end {
                let block = self.function.block_of(Inst(start));
                let end = self.function.block_range(block).end.0.min(stretch.end);
                if self.dominators.strictly_dominates(sink, block) {
                    parts.push(start..end);
                }
                start = end;
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::super::SpillGoal;
    use crate::config::SpillTo;
    use crate::function::Edit;
    use crate::spill::tests::{function, spill_as};

    /// Returns the blocks at whose ends `%0` is stored once, each with the number of reloads, if loops must not contain
    /// stores and loads.
    fn sunk(blocks: &str, sinks: bool) -> Vec<(u32, usize)> {
        let kernel = function("kernel maxntid 64\n", "B32 B32 B32 B32 B1", blocks);
        let candidates = Some(kernel.regs().map(|reg| reg.0 == 0).collect());
        let outcome = spill_as(&kernel, &SpillGoal { candidates, sinks, ..SpillGoal::plain(3, SpillTo::SHARED) })
            .expect("a place");
        let stores = outcome.edits.edits().iter().filter_map(|edit| match edit {
            Edit::InsertSpill { at, .. } => Some(at.block.0),
            _ => None,
        });
        stores.zip(outcome.spilled.iter().map(|spilled| spilled.reloads)).collect()
    }

    /// Returns a function with two loops. The first computes `%0`, and the second has four live words. `first` and
    /// `second` are the loops' accesses to `%0`. After both loops, `%0` is read.
    fn two_loops(first: &str, second: &str) -> String {
        let turn = |at: u32| format!("  %4 = SETP_i32rr %1, %1\n  CBranch %4, bb{at} :: terminator\n");
        format!(
            "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  %1 = LD_i32 1 :: read\n\
             bb1: frequency 10.0 depth 1 -> bb1 bb2\n{first}{}\
             bb2: frequency 1.0 depth 0 -> bb3\n  ST_i32 %1, 1 :: write\n\
             bb3: frequency 10.0 depth 1 -> bb3 bb4\n  %2 = LD_i32 2 :: read\n  %3 = LD_i32 3 :: read\n  ST_i32 %2, %3 :: write\n\
             {second}{}\
             bb4: frequency 1.0 depth 0\n  ST_i32 %0, 3 :: write\n  Return :: terminator\n",
            turn(1),
            turn(3)
        )
    }

    /// A value of a loop is stored once, before the next loop, not in each iteration. It is not stored if a later loop
    /// also writes it, or if control flow returns to the first loop with the value in its register.
    #[test]
    fn a_store_sinks_out_of_its_loop() {
        let sum = "  %0 = ADD32ri %0 tied 0, 1\n";
        assert_eq!(sunk(&two_loops(sum, ""), true), [(2, 1)]);
        assert_eq!(sunk(&two_loops(sum, ""), false), []);
        assert_eq!(sunk(&two_loops(sum, sum), true), []);
        let again = two_loops(sum, "").replace(
            "bb4: frequency 1.0 depth 0\n",
            "bb4: frequency 1.0 depth 0 -> bb5 bb1\n\
            %4 = SETP_i32rr %1, %1\n  CBranch %4, bb1 :: terminator\nbb5: frequency 1.0 depth 0\n",
        );
        assert_eq!(sunk(&again, true), []);
    }
}
