//! The control-flow graph: predecessors, and the block orders of a depth-first walk from the entry.

use super::grouping::Grouping;
use crate::function::{Block, Function};
use crate::index::{EntityIndex, IndexVec};

/// A reachable block in the depth-first spanning tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeNode {
    pub(super) block: Block,
    /// The preorder number of the block's parent in the tree. The root is its own parent.
    pub(super) parent: u32,
}

/// The control-flow graph of a function.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    preds: Grouping<Block, Block>,
    rpo: Vec<Block>,
    rpo_numbers: IndexVec<Block, Option<u32>>,
    /// The depth-first spanning tree in preorder.
    tree: Vec<TreeNode>,
    preorder_numbers: IndexVec<Block, Option<u32>>,
    /// The walk's path from the root: the preorder number of each block, and how many of its successors have been
    /// visited.
    path: Vec<(u32, u32)>,
}

impl Cfg {
    /// Returns the control-flow graph of `function`. O(blocks + edges).
    pub fn new(function: &Function) -> Self {
        let mut cfg = Self::default();
        cfg.compute(function);
        cfg
    }

    /// Returns the graph of `num_blocks` blocks with the given successors. Block 0 is the entry. O(blocks + edges).
    pub(crate) fn of_blocks<'a>(num_blocks: usize, succs: impl Fn(Block) -> &'a [Block]) -> Self {
        let mut cfg = Self::default();
        cfg.compute_of(num_blocks, succs);
        cfg
    }

    /// Computes the control-flow graph of `function`.
    pub fn compute(&mut self, function: &Function) {
        self.compute_of(function.num_blocks(), |block| function.succs(block));
    }

    fn compute_of<'a>(&mut self, num_blocks: usize, succs: impl Fn(Block) -> &'a [Block]) {
        let blocks = (0..num_blocks).map(Block::new);
        self.preds.compute(num_blocks, blocks.flat_map(|block| succs(block).iter().map(move |&succ| (succ, block))));
        self.walk(num_blocks, Block::new(0), succs);
    }

    /// Computes the reverse of `cfg`, the graph of `function`. The entry of the reverse graph is an additional block
    /// after all others. Its successors are `exits`, the blocks without successors in `function`. O(blocks + edges).
    pub(super) fn compute_reversed(&mut self, function: &Function, cfg: &Cfg, exits: &[Block]) {
        let root = Block::new(function.num_blocks());
        let blocks = (0..function.num_blocks()).map(Block::new);
        let edges = blocks.flat_map(|block| function.succs(block).iter().map(move |&succ| (block, succ)));
        self.preds.compute(root.index() + 1, edges.chain(exits.iter().map(|&exit| (exit, root))));
        self.walk(root.index() + 1, root, |block| if block == root { exits } else { cfg.preds(block) });
    }

    /// Returns the predecessors of a block, unreachable ones included, in layout order.
    #[inline]
    pub fn preds(&self, block: Block) -> &[Block] {
        self.preds.of(block)
    }

    /// Returns the reachable blocks in reverse postorder: a block comes before its successors, except along back edges.
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// Returns the position of a block in [`rpo`](Self::rpo). `None` if the block is unreachable.
    #[inline]
    pub fn rpo_number(&self, block: Block) -> Option<u32> {
        self.rpo_numbers[block]
    }

    /// Whether the block is reachable from the entry.
    #[inline]
    pub fn is_reachable(&self, block: Block) -> bool {
        self.rpo_numbers[block].is_some()
    }

    /// Returns the number of blocks, unreachable ones included.
    pub fn num_blocks(&self) -> usize {
        self.rpo_numbers.len()
    }

    /// Returns the depth-first spanning tree, in preorder.
    pub(super) fn tree(&self) -> &[TreeNode] {
        &self.tree
    }

    /// Returns the position of a block in [`tree`](Self::tree).
    #[inline]
    pub(super) fn preorder_number(&self, block: Block) -> Option<u32> {
        self.preorder_numbers[block]
    }

    /// Walks the blocks depth first. The walk keeps an explicit stack, because recursion over a chain of a million
    /// blocks would overflow the call stack.
    fn walk<'a>(&mut self, num_blocks: usize, root: Block, succs: impl Fn(Block) -> &'a [Block]) {
        self.rpo.clear();
        self.tree.clear();
        self.path.clear();
        self.rpo_numbers.clear();
        self.rpo_numbers.resize(num_blocks, None);
        self.preorder_numbers.clear();
        self.preorder_numbers.resize(num_blocks, None);
        if num_blocks == 0 {
            return;
        }
        self.visit(root, 0);
        while let Some((number, seen)) = self.path.last_mut() {
            let number = *number;
            let block = self.tree[number as usize].block;
            match succs(block).get(*seen as usize) {
                Some(&succ) => {
                    *seen += 1;
                    if self.preorder_numbers[succ].is_none() {
                        self.visit(succ, number);
                    }
                }
                None => {
                    self.path.pop();
                    self.rpo.push(block);
                }
            }
        }
        self.rpo.reverse();
        for (number, &block) in self.rpo.iter().enumerate() {
            self.rpo_numbers[block] = Some(number as u32);
        }
    }

    fn visit(&mut self, block: Block, parent: u32) {
        let number = self.tree.len() as u32;
        self.preorder_numbers[block] = Some(number);
        self.tree.push(TreeNode { block, parent });
        self.path.push((number, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::Cfg;
    use crate::analysis::tests::graph;
    use crate::function::Block;

    /// In a diamond, the join comes last and has both arms as predecessors.
    #[test]
    fn diamond() {
        let cfg = Cfg::new(&graph(&[&[1, 2], &[3], &[3], &[]]));
        assert_eq!(cfg.preds(Block(3)), [Block(1), Block(2)]);
        assert_eq!((cfg.rpo()[0], cfg.rpo()[3]), (Block(0), Block(3)));
        assert_eq!(cfg.rpo_number(Block(3)), Some(3));
    }

    /// An unreachable block is in neither order, but counts as a predecessor.
    #[test]
    fn unreachable_block() {
        let cfg = Cfg::new(&graph(&[&[2], &[2], &[]]));
        assert!(!cfg.is_reachable(Block(1)));
        assert_eq!(cfg.rpo(), [Block(0), Block(2)]);
        assert_eq!(cfg.preds(Block(2)), [Block(0), Block(1)]);
    }

    /// A function without blocks has an empty graph.
    #[test]
    fn no_blocks() {
        let cfg = Cfg::new(&graph(&[]));
        assert!(cfg.rpo().is_empty());
    }

    /// A long chain of blocks is walked without recursion.
    #[test]
    fn long_chain() {
        let succs: Vec<Vec<u32>> = (1..200_000).map(|next| vec![next]).chain([vec![]]).collect();
        let succs: Vec<&[u32]> = succs.iter().map(Vec::as_slice).collect();
        assert_eq!(Cfg::new(&graph(&succs)).rpo().len(), 200_000);
    }
}
