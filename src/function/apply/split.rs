//! The edges that edits split, and the new blocks on them.

use std::collections::HashMap;

use super::ApplyError;
use super::ids::{Reason, known_block, next_id};
use crate::function::{Block, Function};
use crate::index::EntityIndex;

/// A split edge, and the index of the edit that splits it.
pub(super) struct SplitEdge {
    pub(super) from: Block,
    pub(super) to: Block,
    index: usize,
}

impl SplitEdge {
    pub(super) fn error(&self, reason: &str) -> ApplyError {
        let reason = format!("the edge from {} to {} cannot be split: {reason}", self.from, self.to);
        ApplyError { index: self.index, reason }
    }
}

/// The split edges. Each is an edge of the view and is split at most once.
#[derive(Default)]
pub(super) struct SplitEdges {
    /// The split edges, in the order of their new blocks.
    edges: Vec<SplitEdge>,
    new_block: HashMap<(Block, Block), Block>,
}

impl SplitEdges {
    pub(super) fn add(
        &mut self,
        view: &Function,
        index: usize,
        block: Block,
        from: Block,
        to: Block,
    ) -> Result<(), Reason> {
        next_id(block, Block::new(view.num_blocks() + self.edges.len()))?;
        known_block(from, view.num_blocks())?;
        known_block(to, view.num_blocks())?;
        if !view.succs(from).contains(&to) {
            return Err(format!("there is no edge from {from} to {to}"));
        }
        if self.new_block.insert((from, to), block).is_some() {
            return Err(format!("the edge from {from} to {to} is split twice"));
        }
        self.edges.push(SplitEdge { from, to, index });
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.edges.len()
    }

    /// Returns the split edges, in the order of their new blocks.
    pub(super) fn edges(&self) -> &[SplitEdge] {
        &self.edges
    }

    /// Returns the new block on an edge of the view. `None` if the edge is not split.
    pub(super) fn new_block(&self, from: Block, to: Block) -> Option<Block> {
        self.new_block.get(&(from, to)).copied()
    }

    /// Returns the block to which an edge of the view leads after the edits.
    pub(super) fn target(&self, from: Block, to: Block) -> Block {
        self.new_block(from, to).unwrap_or(to)
    }
}
