//! Lazy reloads: loads as late and as rare as possible.
//!
//! NVIDIA's compiler is understood to place loads in four phases. The first two phases find the values without
//! registers and the reads of each value; a load directly precedes each group of reads. Phase 3 moves loads to rarer
//! code if one load serves several groups. Phase 4 removes the loads whose value is in a register on all paths. The
//! description of phase 4 joins the paths by union. Here, a value that is present on only one path does not count as
//! present.
//!
//! Invariant: the slot has the value at each load. At each additional instruction at which a register becomes live, the
//! register limit holds.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::PressureLimit;
use super::draft::Draft;
use crate::function::Block;
use crate::spill::insertion_point::InsertionPoint;
use crate::spill::spiller::Facts;

/// Most loads of a value whose places are changed. A value with more loads stays as it is.
const MOST_RELOADS: usize = 64;

/// Most steps up the dominator tree.
const MOST_STEPS: usize = 256;

/// Greatest frequency of a load, as a share of the frequency of the loads that it replaces.
const RARER: f64 = 0.999;

/// Moves and removes loads of a value. Returns by how many their number decreases. O(loads · (accesses + blocks) ·
/// log).
pub(in crate::spill) fn place_lazily(
    facts: &Facts<'_>,
    draft: &mut Draft<'_>,
    pressure_limit: &mut PressureLimit<'_>,
) -> usize {
    let before = draft.reloads.len();
    if before > MOST_RELOADS {
        return 0;
    }
    let words = facts.function.class(draft.value.reg).words();
    let mut lazy = Lazy { facts, residence: draft.residence(facts), draft, pressure_limit, words };
    lazy.eliminate();
    if lazy.hoist() {
        lazy.eliminate();
    }
    before.saturating_sub(draft.reloads.len())
}

struct Lazy<'l, 'f, 'p> {
    facts: &'l Facts<'l>,
    draft: &'l mut Draft<'f>,
    residence: Vec<Range<u32>>,
    pressure_limit: &'l mut PressureLimit<'p>,
    words: u32,
}

impl Lazy<'_, '_, '_> {
    /// Changes the places of the loads if the result is correct and keeps the register limit. Returns whether the
    /// places changed.
    fn load_at(&mut self, reloads: Vec<InsertionPoint>) -> bool {
        let before = std::mem::replace(&mut self.draft.reloads, reloads);
        let is_possible = self.draft.is_right(self.facts) && self.draft.serves_reads(self.facts) && {
            let after = self.draft.residence(self.facts);
            let has_room = self.pressure_limit.exchange(&self.residence, &after, self.words);
            if has_room {
                self.residence = after;
            }
            has_room
        };
        if !is_possible {
            self.draft.reloads = before;
        }
        is_possible
    }

    /// Phase 4: removes the loads whose value is in a register on all paths, the most frequent first.
    fn eliminate(&mut self) {
        let mut order = self.draft.reloads.clone();
        let runs = |at: &InsertionPoint| self.facts.frequencies[at.block];
        order.sort_by(|one, other| runs(other).total_cmp(&runs(one)).then(one.cmp(other)));
        for at in order {
            let others = self.draft.reloads.iter().copied().filter(|&other| other != at).collect();
            self.load_at(others);
        }
    }

    /// Phase 3: places one load at the end of a block instead of all loads that the block dominates, if the new load is
    /// rarer than these loads together. Returns whether a load was placed.
    fn hoist(&mut self) -> bool {
        let mut has_hoisted = false;
        for block in self.places() {
            let Facts { function, frequencies, dominators, .. } = self.facts;
            let (below, mut others): (Vec<InsertionPoint>, Vec<InsertionPoint>) =
                self.draft.reloads.iter().partition(|at| dominators.strictly_dominates(block, at.block));
            let runs = |at: &InsertionPoint| frequencies[at.block];
            let often = below.iter().map(runs).fold(1.0, f64::max);
            let together: f64 = below.iter().map(runs).sum();
            // If one load replaces several, it may be as frequent as they are together, because the code gets shorter.
            let most = if below.len() > 1 { together / RARER } else { RARER * together };
            if frequencies[block] >= most || frequencies[block] > often {
                continue;
            }
            others.push(InsertionPoint::end(function, block));
            others.sort_unstable();
            others.dedup();
            has_hoisted |= self.load_at(others);
        }
        has_hoisted
    }

    /// Returns the blocks at whose ends one load may replace several: the nearest common dominators of loads that are
    /// successive in the dominator tree, and the blocks before loops. The deepest blocks come first.
    fn places(&self) -> Vec<Block> {
        let Facts { dominators, loops, .. } = self.facts;
        let mut blocks: Vec<Block> = self.draft.reloads.iter().map(|at| at.block).collect();
        blocks.sort_unstable_by_key(|&block| dominators.preorder(block));
        let mut places: BTreeSet<Block> = blocks.windows(2).filter_map(|pair| self.common(pair[0], pair[1])).collect();
        for &block in &blocks {
            let around = std::iter::successors(loops.innermost(block), |&inner| loops.parent(inner));
            places.extend(around.filter_map(|of| dominators.idom(loops.header(of))));
        }
        let mut places: Vec<Block> = places.into_iter().collect();
        places.sort_unstable_by_key(|&block| Reverse(dominators.preorder(block)));
        places
    }

    /// Returns the nearest block that dominates both blocks; `None` if it is too many steps away.
    fn common(&self, mut one: Block, other: Block) -> Option<Block> {
        for _ in 0..MOST_STEPS {
            if self.facts.dominators.dominates(one, other) {
                return Some(one);
            }
            one = self.facts.dominators.idom(one)?;
        }
        None
    }
}
