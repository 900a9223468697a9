//! The post-dominator tree: the dominators of the graph with its edges turned round, from an exit behind all exits.

use super::{Cfg, Dominators};
use crate::function::{Block, Function};
use crate::index::EntityIndex;

/// The post-dominator tree of the blocks that a path leads from to the end of the function.
#[derive(Clone, Debug, Default)]
pub struct PostDominators {
    /// Blocks without successors.
    exits: Vec<Block>,
    reversed: Cfg,
    tree: Dominators,
}

impl PostDominators {
    /// The post-dominator tree of `function`. O(edges · log blocks), and linear in practice.
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        let mut post_dominators = Self::default();
        post_dominators.compute(function, cfg);
        post_dominators
    }

    /// Becomes the post-dominator tree of `function`, whose graph is `cfg`.
    pub fn compute(&mut self, function: &Function, cfg: &Cfg) {
        self.exits.clear();
        self.exits.extend(function.blocks().filter(|&block| function.succs(block).is_empty()));
        self.reversed.compute_reversed(function, cfg, &self.exits);
        self.tree.compute_of(&self.reversed);
    }

    /// The nearest block that post-dominates another strictly. None where that is the end of the function, and where no
    /// path leads from the block to the end.
    #[inline]
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        let end = Block::new(self.reversed.num_blocks() - 1);
        self.tree.idom(block).filter(|&ipdom| ipdom != end)
    }

    /// Whether every path from `b` to the end of the function passes through `a`. Every block post-dominates itself;
    /// one that no path leads from to the end post-dominates, and is post-dominated by, no other. O(1).
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

    /// The join of a diamond post-dominates all of it, neither arm does, and after the join comes the end.
    #[test]
    fn diamond() {
        let post_dominators = post_dominators(&[&[1, 2], &[3], &[3], &[]]);
        assert_eq!([0, 1, 2].map(|block| post_dominators.ipdom(Block(block))), [Some(Block(3)); 3]);
        assert_eq!(post_dominators.ipdom(Block(3)), None);
        assert!(post_dominators.post_dominates(Block(3), Block(0)));
        assert!(!post_dominators.post_dominates(Block(1), Block(0)));
    }

    /// Of two ways out of the function neither post-dominates.
    #[test]
    fn two_exits() {
        let post_dominators = post_dominators(&[&[1, 2], &[], &[]]);
        assert_eq!(post_dominators.ipdom(Block(0)), None);
        assert!(!post_dominators.post_dominates(Block(2), Block(0)));
    }

    /// What never ends post-dominates nothing, and a way into it does not count for the block before.
    #[test]
    fn endless_loop() {
        let post_dominators = post_dominators(&[&[1, 2], &[1], &[]]);
        assert_eq!(post_dominators.ipdom(Block(0)), Some(Block(2)));
        assert_eq!(post_dominators.ipdom(Block(1)), None);
        assert!(!post_dominators.post_dominates(Block(1), Block(0)));
    }
}
