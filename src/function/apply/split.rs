//! Splitting edges: new blocks, the branches to and from them, the PHIs behind them.

use std::collections::HashMap;

use super::editor::{Editor, Reason, known_block, next_id};
use super::{ApplyError, Origin};
use crate::function::{Block, Effects, Function, Inst, MemorySpace, Operand, Role, Value};
use crate::index::{EntityIndex, IndexVec};

/// An edge that is split, and by which edit.
pub(super) struct SplitEdge {
    pub(super) from: Block,
    pub(super) to: Block,
    index: usize,
}

impl SplitEdge {
    fn error(&self, reason: &str) -> ApplyError {
        let reason = format!("the edge from {} to {} cannot be split: {reason}", self.from, self.to);
        ApplyError { index: self.index, reason }
    }
}

/// The edges that edits split: edges of the view, each at most once.
#[derive(Default)]
pub(super) struct SplitEdges {
    /// Each split edge, in the order of its new block.
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

    /// Each split edge, in the order of its new block.
    pub(super) fn edges(&self) -> &[SplitEdge] {
        &self.edges
    }

    /// Where an edge of the view leads now.
    pub(super) fn target(&self, from: Block, to: Block) -> Block {
        self.new_block.get(&(from, to)).copied().unwrap_or(to)
    }

    /// Turns branches and PHIs to the new blocks. Returns, per block, the branch to add at its end.
    pub(super) fn apply(&self, editor: &mut Editor<'_>) -> Result<IndexVec<Block, Option<Inst>>, ApplyError> {
        let num_view = editor.work.num_blocks();
        let mut branches = IndexVec::filled(None, num_view + self.edges.len());
        if self.edges.is_empty() {
            return Ok(branches);
        }
        let goto = editor.intern("GOTO", Role::Other).map_err(|reason| self.edges[0].error(&reason))?;
        let add_goto = |editor: &mut Editor<'_>, target: Block| {
            let operand = Operand::plain(Value::Block(target));
            editor.add_inst(goto, &[operand], Effects::TERMINATOR, MemorySpace::Generic, Origin::Inserted)
        };
        for block in distinct(self.edges.iter().map(|edge| edge.to)) {
            self.rename_phis(&mut editor.work, block);
        }
        let mut reached = vec![false; self.edges.len()];
        for block in distinct(self.edges.iter().map(|edge| edge.from)) {
            self.turn_branches(&mut editor.work, block, &mut reached);
        }
        for (number, edge) in self.edges.iter().enumerate() {
            let block = Block::new(num_view + number);
            branches[block] = Some(add_goto(editor, edge.to));
            if reached[number] {
                continue;
            }
            // The edge is the one that falls through, and a block has one such edge.
            if branches[edge.from].is_some() {
                return Err(edge.error("no branch names its end"));
            }
            branches[edge.from] = Some(add_goto(editor, block));
        }
        Ok(branches)
    }

    fn rename_phis(&self, work: &mut Function, to: Block) {
        for inst in work.block_insts(to) {
            if work.role(inst) == Role::Phi {
                for operand in operands_mut(work, inst) {
                    if let Value::Block(from) = &mut operand.value
                        && let Some(&new) = self.new_block.get(&(*from, to))
                    {
                        *from = new;
                    }
                }
            }
        }
    }

    fn turn_branches(&self, work: &mut Function, from: Block, reached: &mut [bool]) {
        let num_view = work.num_blocks();
        for inst in work.block_insts(from) {
            if work.effects(inst).contains(Effects::TERMINATOR) {
                for operand in operands_mut(work, inst) {
                    if let Value::Block(to) = &mut operand.value
                        && let Some(&new) = self.new_block.get(&(from, *to))
                    {
                        *to = new;
                        reached[new.index() - num_view] = true;
                    }
                }
            }
        }
    }
}

fn operands_mut(work: &mut Function, inst: Inst) -> &mut [Operand] {
    let range = work.operand_start[inst.index()] as usize..work.operand_start[inst.index() + 1] as usize;
    &mut work.operands[range]
}

fn distinct(blocks: impl Iterator<Item = Block>) -> Vec<Block> {
    let mut blocks: Vec<Block> = blocks.collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}
