//! Sync dependence: where paths meet that a divergent branch separates.
//!
//! The *region* of a branch is what its successors lead to without passing through the branch's immediate
//! post-dominator. Threads that part at the branch can meet at joins in the region or at the post-dominator, and only
//! at those whose immediate dominator dominates the branch: it lies on every way to the join, so that it can lie on
//! disjoint ways from the branch only where it is the branch, or before it. This is a test of one look each where
//! Karrenberg and Hack, "Improving Performance of OpenCL on CPUs" (2012), and LLVM's `SyncDependenceAnalysis` follow
//! disjoint paths; it calls more joins divergent than they do, and none fewer.
//!
//! The header of a loop that threads leave at different turns is such a join too. So every value that changes from
//! turn to turn depends on a divergent one, inside the loop and behind it, and nothing more is to be said of temporal
//! divergence. The price: what LLVM calls uniform inside such a loop, its counter for instance, is divergent here.

use crate::analysis::{Cfg, Dominators, PostDominators};
use crate::function::{Block, Function};
use crate::index::{EntityIndex, IndexVec};

/// After so many visits for each block of the function, walks are given up: nested regions make them quadratic, as in a
/// chain of early exits.
const VISITS_PER_BLOCK: usize = 256;

/// Finds the joins of divergent branches.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncDependence {
    is_prepared: bool,
    /// All joins have been found: there is nothing left to find.
    has_given_up: bool,
    post_dominators: PostDominators,
    /// By the number of the walk that came here last.
    visited: IndexVec<Block, u32>,
    walks: u32,
    visits_left: usize,
    stack: Vec<Block>,
}

impl SyncDependence {
    /// Forgets what function it was for. What a function without divergent branches does not need is not computed yet.
    pub(super) fn reset(&mut self) {
        self.is_prepared = false;
    }

    /// Appends to `joins` the joins of a divergent branch, or all of the function where it is irreducible: which turn
    /// of a cycle with several entries a thread is in, nothing says. So also where the walks have become too long.
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

    /// Whether a block lies in the region of a branch that was [diverged](Self::diverge) from. Every block does where
    /// regions were given up.
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

/// Whether a block is entered in several ways, the start of the function being one.
fn is_join(cfg: &Cfg, block: Block) -> bool {
    cfg.preds(block).len() + usize::from(block == Block::new(0)) > 1
}

/// Whether every cycle has one entry: an edge backwards in reverse postorder leads to a block that dominates where it
/// starts.
fn is_reducible(cfg: &Cfg, dominators: &Dominators) -> bool {
    cfg.rpo().iter().enumerate().all(|(number, &block)| {
        let is_backwards = |&pred: &Block| cfg.rpo_number(pred).is_some_and(|pred| pred as usize >= number);
        cfg.preds(block).iter().filter(|pred| is_backwards(pred)).all(|&pred| dominators.dominates(block, pred))
    })
}
