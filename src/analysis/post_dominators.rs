//! The post-dominator tree: the dominator tree of the reverse graph. The entry of the reverse graph is one common exit
//! after all exits.

use super::{Cfg, Dominators};
use crate::function::{Block, Function};
use crate::index::EntityIndex;

/// The post-dominator tree of the blocks from which the end of the function is reachable.
#[derive(Clone, Debug, Default)]
pub struct PostDominators {
    /// Blocks without successors.
    exits: Vec<Block>,
    reversed: Cfg,
    tree: Dominators,
}

impl PostDominators {
    /// Returns the post-dominator tree of `function`. O(edges · log blocks), and linear in practice.
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        let mut post_dominators = Self::default();
        post_dominators.compute(function, cfg);
        post_dominators
    }

    /// Computes the post-dominator tree of `function` with the graph `cfg`.
    pub fn compute(&mut self, function: &Function, cfg: &Cfg) {
        self.exits.clear();
        self.exits.extend(function.blocks().filter(|&block| function.succs(block).is_empty()));
        self.reversed.compute_reversed(function, cfg, &self.exits);
        self.tree.compute_of(&self.reversed);
    }

    /// Returns the immediate post-dominator of a block. `None` if this is the end of the function, or if the end is
    /// unreachable from the block.
    #[inline]
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        let end = Block::new(self.reversed.num_blocks() - 1);
        self.tree.idom(block).filter(|&ipdom| ipdom != end)
    }

    /// Whether every path from `b` to the end of the function passes through `a`. Every block post-dominates itself. A
    /// block from which the end is unreachable post-dominates no other block, and no other block post-dominates it.
    /// O(1).
    #[inline]
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        self.tree.dominates(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::PostDominators;
    use crate::analysis::Cfg;
    use crate::analysis::tests::graph;
    use crate::function::Block;

    fn post_dominators(succs: &[&[u32]]) -> PostDominators {
        let function = graph(succs);
        PostDominators::new(&function, &Cfg::new(&function))
    }

    /// The join of a diamond post-dominates the whole diamond. Neither arm post-dominates the split. The join is the
    /// last block, so it has no immediate post-dominator.
    #[test]
    fn diamond() {
        let post_dominators = post_dominators(&[&[1, 2], &[3], &[3], &[]]);
        assert_eq!([0, 1, 2].map(|block| post_dominators.ipdom(Block(block))), [Some(Block(3)); 3]);
        assert_eq!(post_dominators.ipdom(Block(3)), None);
        assert!(post_dominators.post_dominates(Block(3), Block(0)));
        assert!(!post_dominators.post_dominates(Block(1), Block(0)));
    }

    /// If a function has two exits, neither exit post-dominates the split.
    #[test]
    fn two_exits() {
        let post_dominators = post_dominators(&[&[1, 2], &[], &[]]);
        assert_eq!(post_dominators.ipdom(Block(0)), None);
        assert!(!post_dominators.post_dominates(Block(2), Block(0)));
    }

    /// A block of an endless loop post-dominates no other block. Edges into the loop do not affect the post-dominators
    /// of the block before it.
    #[test]
    fn endless_loop() {
        let post_dominators = post_dominators(&[&[1, 2], &[1], &[]]);
        assert_eq!(post_dominators.ipdom(Block(0)), Some(Block(2)));
        assert_eq!(post_dominators.ipdom(Block(1)), None);
        assert!(!post_dominators.post_dominates(Block(1), Block(0)));
    }
}
