//! Lazy reloads: as late and as rarely as can be.
//!
//! NVIDIA's compiler is read to do so in four phases. The values without registers and the reads of each are known (phases 1 and
//! 2), and each group of reads has its load directly ahead. Then loads move to where code runs more rarely, if one serves
//! several (phase 3), and those go whose value is in a register on all paths (phase 4). The document joins the paths by union;
//! a value that is there on one path only is not there.
//!
//! Invariant: the slot has the value at each load, and where a register is live in addition there is room for it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::PressureLimit;
use super::draft::Draft;
use crate::function::Block;
use crate::spill::insertion_point::InsertionPoint;
use crate::spill::spiller::Facts;

/// The most loads of a value whose places are compared with each other.
const MOST_RELOADS: usize = 64;

/// The most steps up the dominator tree.
const MOST_STEPS: usize = 256;

/// A load must run at least this much more rarely than those that it replaces, as a share.
const RARER: f64 = 0.999;

/// Moves and takes away loads of a value. Returns how many loads there are less. O(loads · (accesses + blocks) · log).
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
    /// Loads elsewhere, if that is right and there is room for it.
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

    /// Phase 4: takes away the loads whose value a register has on all paths, the most frequent first.
    fn eliminate(&mut self) {
        let mut order = self.draft.reloads.clone();
        let runs = |at: &InsertionPoint| self.facts.frequencies[at.block];
        order.sort_by(|one, other| runs(other).total_cmp(&runs(one)).then(one.cmp(other)));
        for at in order {
            let others = self.draft.reloads.iter().copied().filter(|&other| other != at).collect();
            self.load_at(others);
        }
    }

    /// Phase 3: one load at the end of a block in place of those that it dominates, if it is rarer than they are together. Whether
    /// there is one.
    fn hoist(&mut self) -> bool {
        let mut has_hoisted = false;
        for block in self.places() {
            let Facts { function, frequencies, dominators, .. } = self.facts;
            let (below, mut others): (Vec<InsertionPoint>, Vec<InsertionPoint>) =
                self.draft.reloads.iter().partition(|at| dominators.strictly_dominates(block, at.block));
            let runs = |at: &InsertionPoint| frequencies[at.block];
            let often = below.iter().map(runs).fold(1.0, f64::max);
            let together: f64 = below.iter().map(runs).sum();
            // One load for several is less code, too, where it runs as often as they do.
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

    /// The blocks at whose ends one load may serve several: the nearest that dominate two that follow each other in the tree, and
    /// those ahead of loops. The deepest first.
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

    /// The nearest block that dominates both; none where it is far.
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
