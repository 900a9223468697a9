//! Facts that hold at the start of each block: the facts that are known on all paths to the block.

use std::collections::BTreeSet;

use super::place_contents::{Fact, PlaceContents, meet};
use super::steps::Steps;
use crate::allocate::problem::read_point;
use crate::analysis::{Cfg, covering};
use crate::function::{Block, Inst};
use crate::index::IndexVec;

/// Computes the facts at the start of each block; `None` for blocks that control flow never reaches.
///
/// `run` updates the facts across an instruction, and may also make decisions. If fewer facts are known on a later
/// visit, `run` must revoke a decision that they no longer support, and must never make that decision again. The last
/// decision then holds. O(steps · facts), a few times in loops.
pub(super) fn available(
    steps: &Steps<'_>,
    mut run: impl FnMut(&mut PlaceContents, Inst),
) -> IndexVec<Block, Option<Vec<Fact>>> {
    let blocks = steps.problem.flow().blocks();
    let mut entries: IndexVec<Block, Option<Vec<Fact>>> = IndexVec::filled(None, blocks.len());
    entries[Block(0)] = Some(at_entry(steps));
    let cfg = Cfg::of_blocks(blocks.len(), |block| &blocks[block].succs);
    let mut waiting: BTreeSet<(Option<u32>, Block)> = BTreeSet::from([(cfg.rpo_number(Block(0)), Block(0))]);
    let mut contents = PlaceContents::new(steps);
    while let Some((_, block)) = waiting.pop_first() {
        let Some(entry) = &entries[block] else { continue };
        contents.load(entry);
        for inst in blocks[block].insts() {
            run(&mut contents, inst);
        }
        let exit = contents.facts();
        for &succ in &blocks[block].succs {
            let met = match &entries[succ] {
                Some(known) => meet(known, &exit),
                None => wanted(steps, succ, &exit),
            };
            if entries[succ].as_ref() != Some(&met) {
                entries[succ] = Some(met);
                waiting.insert((cfg.rpo_number(succ), succ));
            }
        }
    }
    entries
}

/// Keeps the facts of live ranges that are live at the start of a block. Facts of other live ranges are never needed.
fn wanted(steps: &Steps<'_>, block: Block, facts: &[Fact]) -> Vec<Fact> {
    let insts = &steps.problem.flow().blocks()[block].insts;
    if insts.start == insts.end {
        return facts.to_vec();
    }
    let start = read_point(insts.start);
    let is_live = |fact: &&Fact| covering(steps.problem.segments(fact.range), start).is_some();
    facts.iter().filter(is_live).copied().collect()
}

/// Returns the facts at the function's entry. A live range that is live there without a write is at its own place, with
/// an unknown value.
fn at_entry(steps: &Steps<'_>) -> Vec<Fact> {
    let problem = steps.problem;
    let start = read_point(Inst(0));
    let is_live = |segments: &[_]| covering(segments, start).is_some();
    let live = problem.ranges().ids().filter(|&range| is_live(problem.segments(range)));
    let accessed = live.filter(|&range| !problem.accesses(range).is_empty() && !problem.is_written_at(range, start));
    let mut facts: Vec<Fact> = accessed.map(|range| Fact { place: steps.home(range), range, copies: 0 }).collect();
    facts.sort_unstable();
    facts
}
