//! Blocks in which different values of one register meet: the iterated dominance frontier of its definitions, pruned by
//! liveness.
//!
//! Sreedhar and Gao, "A Linear Time Algorithm for Placing φ-Nodes" (1995): the deepest definitions in the dominator
//! tree are visited first, so that each block's subtree is walked once. Here, the tree contains only blocks in which
//! the register is live. No value of the register reaches a frontier through other blocks.

use std::collections::BinaryHeap;

use super::liveness::BlockLiveness;
use super::{Cfg, Dominators};
use crate::function::{Block, Function};
use crate::index::IndexVec;

/// A block into which the register is live, or which defines the register and out of which it is live.
#[derive(Clone, Copy, Debug)]
struct Node {
    block: Block,
    rpo_number: u32,
    level: u32,
    has_phi: bool,
    is_visited: bool,
    /// First child in the dominator tree: an index into the list of nodes. The children form a linked list.
    first_child: Option<u32>,
    next_sibling: Option<u32>,
}

/// Scratch memory and result of the placement for one register.
#[derive(Clone, Debug, Default)]
pub(super) struct PhiPlacement {
    /// Reachable blocks, in reverse postorder.
    nodes: Vec<Node>,
    /// The index of a block in `nodes`. Meaningful only for the blocks of `nodes`.
    node_of: IndexVec<Block, u32>,
    /// Definitions to visit, by level.
    roots: BinaryHeap<(u32, u32)>,
    stack: Vec<u32>,
}

impl PhiPlacement {
    /// Prepares for the registers of another function.
    pub(super) fn reset(&mut self, num_blocks: usize) {
        self.node_of.resize(num_blocks, 0);
    }

    /// Places the PHIs of the register with the given liveness. `definers` lists the blocks that define the register,
    /// each once. If the register is live into the entry, the entry has a PHI, for the undefined value. Successors of
    /// unreachable blocks also have a PHI if the register is live into them.
    ///
    /// O(n log n) in the blocks in which the register is live and in the edges that leave them.
    pub(super) fn place(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        dominators: &Dominators,
        liveness: &BlockLiveness,
        definers: &[Block],
    ) {
        self.build_tree(cfg, dominators, liveness, definers);
        let unreachable = |block: &&Block| !cfg.is_reachable(**block);
        for &block in definers.iter().chain(liveness.live_in()).filter(unreachable) {
            for &succ in function.succs(block) {
                if cfg.is_reachable(succ) && liveness.is_live_in(succ) {
                    self.add_phi(self.node_of[succ], liveness);
                }
            }
        }
        // The entry is first in reverse postorder.
        if self.nodes.first().is_some_and(|node| node.level == 0 && liveness.is_live_in(node.block)) {
            self.add_phi(0, liveness);
        }
        while let Some((level, root)) = self.roots.pop() {
            self.visit_subtree(root, level, function, liveness);
        }
    }

    /// Returns the nodes' blocks in reverse postorder, and whether each has a PHI. A block's dominator precedes it.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (Block, bool)> + '_ {
        self.nodes.iter().map(|node| (node.block, node.has_phi))
    }

    fn build_tree(&mut self, cfg: &Cfg, dominators: &Dominators, liveness: &BlockLiveness, definers: &[Block]) {
        self.nodes.clear();
        let only_out = definers.iter().filter(|&&block| liveness.is_live_out(block) && !liveness.is_live_in(block));
        for &block in liveness.live_in().iter().chain(only_out) {
            let Some(rpo_number) = cfg.rpo_number(block) else { continue };
            self.nodes.push(Node {
                block,
                rpo_number,
                level: dominators.level(block),
                has_phi: false,
                is_visited: false,
                first_child: None,
                next_sibling: None,
            });
        }
        self.nodes.sort_unstable_by_key(|node| node.rpo_number);
        for number in 0..self.nodes.len() {
            let block = self.nodes[number].block;
            self.node_of[block] = number as u32;
            if liveness.is_defined_in(block) && liveness.is_live_out(block) {
                self.roots.push((self.nodes[number].level, number as u32));
            }
            // If a value is live into a block without a PHI, it is live through the block's dominator or defined there.
            // A dominator that is not a node therefore passes on no value.
            let dominator = dominators.idom(block).filter(|&idom| liveness.is_live_out(idom));
            if let Some(dominator) = dominator {
                let parent = self.node_of[dominator] as usize;
                self.nodes[number].next_sibling = self.nodes[parent].first_child.replace(number as u32);
            }
        }
    }

    /// Gives a block a PHI. The PHI is a definition, so the block must be visited. If the block has another definition,
    /// it is visited in any case.
    fn add_phi(&mut self, number: u32, liveness: &BlockLiveness) {
        let node = &mut self.nodes[number as usize];
        if !node.has_phi {
            node.has_phi = true;
            if !liveness.is_defined_in(node.block) && liveness.is_live_out(node.block) {
                self.roots.push((node.level, number));
            }
        }
    }

    /// Visits the part of a root's subtree that no deeper root has visited. An edge from this part to a block no deeper
    /// than the root leaves the region that the root strictly dominates.
    fn visit_subtree(&mut self, root: u32, level: u32, function: &Function, liveness: &BlockLiveness) {
        self.nodes[root as usize].is_visited = true;
        self.stack.push(root);
        while let Some(number) = self.stack.pop() {
            let Node { block, first_child, .. } = self.nodes[number as usize];
            for &succ in function.succs(block) {
                if liveness.is_live_in(succ) && self.nodes[self.node_of[succ] as usize].level <= level {
                    self.add_phi(self.node_of[succ], liveness);
                }
            }
            let mut next = first_child;
            while let Some(child) = next {
                let node = &mut self.nodes[child as usize];
                next = node.next_sibling;
                if !node.is_visited {
                    node.is_visited = true;
                    self.stack.push(child);
                }
            }
        }
    }
}
