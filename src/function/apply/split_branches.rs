//! The branches to and from the blocks of split edges, and the PHIs after them.

use super::editor::Editor;
use super::split::SplitEdges;
use super::{ApplyError, Origin};
use crate::function::{Block, Effects, Function, Inst, MemorySpace, Operand, Role, Value};
use crate::index::{EntityIndex, IndexVec};

/// Redirects branches and PHIs to the new blocks. Returns the branch to add at the end of each block.
pub(super) fn apply(splits: &SplitEdges, editor: &mut Editor<'_>) -> Result<IndexVec<Block, Option<Inst>>, ApplyError> {
    let num_view = editor.work.num_blocks();
    let mut branches = IndexVec::filled(None, num_view + splits.edges().len());
    if splits.edges().is_empty() {
        return Ok(branches);
    }
    let goto = editor.intern("GOTO", Role::Other).map_err(|reason| splits.edges()[0].error(&reason))?;
    let add_goto = |editor: &mut Editor<'_>, target: Block| {
        let operand = Operand::plain(Value::Block(target));
        let origin = Origin::Inserted(editor.work.inst_opcode.next_id());
        editor.add_inst(goto, &[operand], Effects::TERMINATOR, MemorySpace::Generic, origin)
    };
    for block in distinct(splits.edges().iter().map(|edge| edge.to)) {
        rename_phis(splits, &mut editor.work, block);
    }
    let mut reached = vec![false; splits.edges().len()];
    for block in distinct(splits.edges().iter().map(|edge| edge.from)) {
        turn_branches(splits, &mut editor.work, block, &mut reached);
    }
    for (number, edge) in splits.edges().iter().enumerate() {
        let block = Block::new(num_view + number);
        branches[block] = Some(add_goto(editor, edge.to));
        if reached[number] {
            continue;
        }
        // The edge is the fall-through edge, of which a block has only one.
        if branches[edge.from].is_some() {
            return Err(edge.error("no branch goes to its target"));
        }
        branches[edge.from] = Some(add_goto(editor, block));
    }
    Ok(branches)
}

fn rename_phis(splits: &SplitEdges, work: &mut Function, to: Block) {
    for inst in work.block_insts(to) {
        if work.role(inst) == Role::Phi {
            for operand in operands_mut(work, inst) {
                if let Value::Block(from) = &mut operand.value
                    && let Some(new) = splits.new_block(*from, to)
                {
                    *from = new;
                }
            }
        }
    }
}

fn turn_branches(splits: &SplitEdges, work: &mut Function, from: Block, reached: &mut [bool]) {
    let num_view = work.num_blocks();
    for inst in work.block_insts(from) {
        if work.effects(inst).contains(Effects::TERMINATOR) {
            for operand in operands_mut(work, inst) {
                if let Value::Block(to) = &mut operand.value
                    && let Some(new) = splits.new_block(from, *to)
                {
                    *to = new;
                    reached[new.index() - num_view] = true;
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
