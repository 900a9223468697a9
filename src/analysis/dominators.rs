//! The dominator tree, by Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005).
//!
//! Semidominators are computed with path compression, as by Lengauer and Tarjan. The immediate dominator of a block is
//! then the nearest common ancestor of its semidominator and its parent. The alternative, iteration to a fixed point,
//! is quadratic on a chain of blocks with early exits.

use super::Cfg;
use crate::function::{Block, Function};
use crate::index::IndexVec;

/// A block's position in the dominator tree.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// A block dominates the blocks with `pre` in `pre..end`. An unreachable block has an empty range, and its `pre` is
    /// in no range.
    pre: u32,
    end: u32,
    level: u32,
}

impl Place {
    const UNREACHABLE: Self = Self { pre: u32::MAX, end: 0, level: 0 };
}

/// The dominator tree of the reachable blocks.
#[derive(Clone, Debug, Default)]
pub struct Dominators {
    idoms: IndexVec<Block, Option<Block>>,
    places: IndexVec<Block, Place>,
    // The vectors below are indexed by preorder number in the depth-first spanning tree.
    idom: Vec<u32>,
    semi: Vec<u32>,
    label: Vec<u32>,
    ancestor: Vec<u32>,
    size: Vec<u32>,
    stack: Vec<u32>,
}

impl Dominators {
    /// Returns the dominator tree of `function`. O(edges · log blocks), and linear in practice.
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        let mut dominators = Self::default();
        dominators.compute(function, cfg);
        dominators
    }

    /// Computes the dominator tree of `function`.
    pub fn compute(&mut self, function: &Function, cfg: &Cfg) {
        debug_assert_eq!(function.num_blocks(), cfg.num_blocks());
        self.compute_of(cfg);
    }

    /// Computes the dominator tree of any graph.
    pub(super) fn compute_of(&mut self, cfg: &Cfg) {
        self.compute_semidominators(cfg);
        self.compute_idoms();
        self.number_tree(cfg, cfg.num_blocks());
    }

    /// Returns the immediate dominator of a block. `None` for the entry and for unreachable blocks.
    #[inline]
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.idoms[block]
    }

    /// Whether every path from the entry to `b` passes through `a`. Every block dominates itself. An unreachable block
    /// dominates no other block, and no other block dominates it. O(1).
    #[inline]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (range, pre) = (self.places[a], self.places[b].pre);
        (range.pre <= pre && pre < range.end) || a == b
    }

    /// Whether `a` dominates `b` and is a different block. O(1).
    #[inline]
    pub fn strictly_dominates(&self, a: Block, b: Block) -> bool {
        a != b && self.dominates(a, b)
    }

    /// Returns the preorder number of a reachable block in the dominator tree. The blocks that a block strictly
    /// dominates have the numbers that follow its own.
    #[inline]
    pub fn preorder(&self, block: Block) -> u32 {
        self.places[block].pre
    }

    /// Returns a reachable block's depth in the tree. The entry has depth 0.
    #[inline]
    pub fn level(&self, block: Block) -> u32 {
        self.places[block].level
    }

    fn compute_semidominators(&mut self, cfg: &Cfg) {
        let tree = cfg.tree();
        let num_nodes = tree.len() as u32;
        refill(&mut self.ancestor, tree.iter().map(|node| node.parent));
        refill(&mut self.idom, tree.iter().map(|node| node.parent));
        refill(&mut self.semi, 0..num_nodes);
        refill(&mut self.label, 0..num_nodes);
        for node in (1..num_nodes).rev() {
            let mut semi = self.ancestor[node as usize];
            for &pred in cfg.preds(tree[node as usize].block) {
                if let Some(pred) = cfg.preorder_number(pred) {
                    let best = self.evaluate(pred, node + 1);
                    semi = semi.min(self.semi[best as usize]);
                }
            }
            self.semi[node as usize] = semi;
        }
    }

    /// Returns the node with the least semidominator among `node` and its ancestors numbered `linked` or higher.
    /// Compresses the path: each node on the path then points to the path's end.
    fn evaluate(&mut self, node: u32, linked: u32) -> u32 {
        let mut top = node;
        while self.ancestor[top as usize] >= linked {
            self.stack.push(top);
            top = self.ancestor[top as usize];
        }
        let mut best = self.label[top as usize];
        let end = self.ancestor[top as usize];
        while let Some(below) = self.stack.pop() {
            let own = self.label[below as usize];
            if self.semi[own as usize] <= self.semi[best as usize] {
                best = own;
            }
            self.label[below as usize] = best;
            self.ancestor[below as usize] = end;
        }
        best
    }

    fn compute_idoms(&mut self) {
        for node in 1..self.idom.len() {
            let semi = self.semi[node];
            let mut idom = self.idom[node];
            while idom > semi {
                idom = self.idom[idom as usize];
            }
            self.idom[node] = idom;
        }
    }

    /// Numbers the tree without a walk. A dominator has a smaller preorder number than the blocks it dominates.
    /// Therefore a backward pass adds up subtree sizes, and a forward pass assigns the numbers.
    fn number_tree(&mut self, cfg: &Cfg, num_blocks: usize) {
        let tree = cfg.tree();
        refill(&mut self.size, std::iter::repeat_n(1, tree.len()));
        for node in (1..tree.len()).rev() {
            self.size[self.idom[node] as usize] += self.size[node];
        }
        self.idoms.clear();
        self.idoms.resize(num_blocks, None);
        self.places.clear();
        self.places.resize(num_blocks, Place::UNREACHABLE);
        // From here on, `semi` holds the next free number in each node's subtree.
        for (number, node) in tree.iter().enumerate() {
            let size = self.size[number];
            let (pre, level) = if number == 0 {
                (0, 0)
            } else {
                let idom = self.idom[number] as usize;
                let pre = self.semi[idom];
                self.semi[idom] += size;
                let block = tree[idom].block;
                self.idoms[node.block] = Some(block);
                (pre, self.places[block].level + 1)
            };
            self.places[node.block] = Place { pre, end: pre + size, level };
            self.semi[number] = pre + 1;
        }
    }
}

fn refill(numbers: &mut Vec<u32>, with: impl Iterator<Item = u32>) {
    numbers.clear();
    numbers.extend(with);
}

#[cfg(test)]
mod tests {
    use super::Dominators;
    use crate::analysis::Cfg;
    use crate::analysis::tests::graph;
    use crate::function::Block;

    fn dominators(succs: &[&[u32]]) -> Dominators {
        let function = graph(succs);
        Dominators::new(&function, &Cfg::new(&function))
    }

    /// Neither arm of a diamond dominates the join.
    #[test]
    fn diamond() {
        let dominators = dominators(&[&[1, 2], &[3], &[3], &[]]);
        assert_eq!(dominators.idom(Block(3)), Some(Block(0)));
        assert_eq!(dominators.idom(Block(0)), None);
        assert!(!dominators.dominates(Block(1), Block(3)));
        assert!(dominators.strictly_dominates(Block(0), Block(3)));
        assert!(dominators.dominates(Block(3), Block(3)));
        assert_eq!(dominators.level(Block(3)), 1);
    }

    /// In a cycle with two entries, neither entry dominates the other.
    #[test]
    fn irreducible_cycle() {
        let dominators = dominators(&[&[1, 2], &[2, 3], &[1], &[]]);
        assert_eq!(dominators.idom(Block(1)), Some(Block(0)));
        assert_eq!(dominators.idom(Block(2)), Some(Block(0)));
        assert_eq!(dominators.idom(Block(3)), Some(Block(1)));
    }

    /// An unreachable block neither dominates nor is dominated, and an edge from it changes nothing.
    #[test]
    fn unreachable_block() {
        let dominators = dominators(&[&[1], &[2], &[], &[2, 4], &[3]]);
        assert_eq!(dominators.idom(Block(2)), Some(Block(1)));
        assert!(!dominators.dominates(Block(0), Block(3)));
        assert!(!dominators.dominates(Block(3), Block(2)));
        assert!(!dominators.dominates(Block(3), Block(4)));
        assert!(dominators.dominates(Block(3), Block(3)));
    }
}
