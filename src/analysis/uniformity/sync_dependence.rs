//! Sync dependence: the joins of paths that a divergent branch separates.
//!
//! The *region* of a branch is the set of blocks that its successors reach without passing through the branch's
//! immediate post-dominator. Threads that separate at the branch can meet only at joins in the region and at the
//! post-dominator. The immediate dominator of such a join must also dominate the branch: it lies on every path to the
//! join, but disjoint paths from the branch to the join have no block in common. It is therefore the branch's block or
//! comes before the branch. This test takes constant time, whereas Karrenberg and Hack, "Improving Performance of
//! OpenCL on CPUs" (2012), and LLVM's `SyncDependenceAnalysis` follow disjoint paths. The test marks more joins as
//! divergent than they do, and never fewer.
//!
//! If threads leave a loop in different iterations, the loop's header is also such a join. Every value that changes
//! from iteration to iteration therefore depends on a divergent value, inside the loop and after it. Temporal
//! divergence needs no further treatment. The disadvantage: values inside such a loop that LLVM considers uniform, such
//! as its counter, are divergent here.

use crate::analysis::{Cfg, Dominators, PostDominators};
use crate::function::{Block, Function};
use crate::index::{EntityIndex, IndexVec};

/// Walks are abandoned after this many visits for each block of the function. Nested regions make the walks quadratic,
/// for example in a chain of early exits.
const VISITS_PER_BLOCK: usize = 256;

/// Finds the joins of divergent branches.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncDependence {
    is_prepared: bool,
    /// Whether the walks are abandoned. All joins have then been reported.
    has_given_up: bool,
    post_dominators: PostDominators,
    /// The number of the last walk that visited each block; 0 if none did.
    visited: IndexVec<Block, u32>,
    walks: u32,
    visits_left: usize,
    stack: Vec<Block>,
}

impl SyncDependence {
    /// Prepares for another function. The computation is deferred to the first divergent branch.
    pub(super) fn reset(&mut self) {
        self.is_prepared = false;
    }

    /// Appends the joins of a divergent branch to `joins`. Appends all joins of the function if it is irreducible,
    /// because the iterations of a cycle with several entries cannot be told apart. Does the same if the walks exceed
    /// their limit.
    ///
    /// O(blocks and edges of the region); O(256 · (blocks + edges)) for all branches of a function.
    pub(super) fn diverge(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        dominators: &Dominators,
        branch: Block,
        joins: &mut Vec<Block>,
    ) {
        self.prepare(function, cfg, dominators, joins);
        if self.has_given_up {
            return;
        }
        self.walks += 1;
        let ipdom = self.post_dominators.ipdom(branch);
        let mut add = |block: Block| {
            if is_join(cfg, block) && dominators.idom(block).is_none_or(|idom| dominators.dominates(idom, branch)) {
                joins.push(block);
            }
        };
        ipdom.into_iter().for_each(&mut add);
        self.stack.extend(function.succs(branch));
        while let Some(block) = self.stack.pop() {
            if Some(block) == ipdom || std::mem::replace(&mut self.visited[block], self.walks) == self.walks {
                continue;
            }
            add(block);
            self.stack.extend(function.succs(block));
            match self.visits_left.checked_sub(1) {
                Some(left) => self.visits_left = left,
                None => return self.give_up(cfg, joins),
            }
        }
    }

    /// Whether the block lies in the region of a branch for which [`diverge`](Self::diverge) was called. True for every
    /// block if the walks are abandoned.
    pub(super) fn is_in_region(&self, block: Block) -> bool {
        self.is_prepared && (self.has_given_up || self.visited[block] != 0)
    }

    fn prepare(&mut self, function: &Function, cfg: &Cfg, dominators: &Dominators, joins: &mut Vec<Block>) {
        if std::mem::replace(&mut self.is_prepared, true) {
            return;
        }
        self.has_given_up = false;
        self.walks = 0;
        self.visited.clear();
        self.visited.resize(function.num_blocks(), 0);
        self.visits_left = VISITS_PER_BLOCK * function.num_blocks();
        self.stack.clear();
        if is_reducible(cfg, dominators) {
            self.post_dominators.compute(function, cfg);
        } else {
            self.give_up(cfg, joins);
        }
    }

    fn give_up(&mut self, cfg: &Cfg, joins: &mut Vec<Block>) {
        self.has_given_up = true;
        joins.extend((0..cfg.num_blocks()).map(Block::new).filter(|&block| is_join(cfg, block)));
    }
}

/// Whether a block has several incoming edges. The start of the function counts as an edge.
fn is_join(cfg: &Cfg, block: Block) -> bool {
    cfg.preds(block).len() + usize::from(block == Block::new(0)) > 1
}

/// Whether every cycle has one entry, that is, whether the target of every backward edge in reverse postorder dominates
/// its source.
fn is_reducible(cfg: &Cfg, dominators: &Dominators) -> bool {
    cfg.rpo().iter().enumerate().all(|(number, &block)| {
        let is_backwards = |&pred: &Block| cfg.rpo_number(pred).is_some_and(|pred| pred as usize >= number);
        cfg.preds(block).iter().filter(|pred| is_backwards(pred)).all(|&pred| dominators.dominates(block, pred))
    })
}
