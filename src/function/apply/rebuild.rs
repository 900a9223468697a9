//! Builds the edited function from what the edits ask for.

use super::Applied;
use super::editor::Editor;
use super::split::{SplitEdge, SplitEdges};
use crate::function::{Block, BlockData, Function, Inst, Value};
use crate::index::{EntityIndex, IndexVec};

/// Lays the instructions out anew, without the deleted ones and under the names that merges give.
pub(super) fn rebuild(editor: Editor<'_>, splits: &SplitEdges, order: &IndexVec<Block, Vec<Inst>>) -> Applied {
    let Editor { work, origin, merged, deleted, .. } = editor;
    let count = work.num_insts();
    let mut after = Function {
        name: work.name.clone(),
        kernel: work.kernel,
        file: work.file.clone(),
        opcodes: work.opcodes.clone(),
        blocks: IndexVec::new(),
        succs: Vec::with_capacity(work.succs.len() + splits.len()),
        inst_opcode: IndexVec::from(Vec::with_capacity(count)),
        inst_effects: IndexVec::from(Vec::with_capacity(count)),
        inst_space: IndexVec::from(Vec::with_capacity(count)),
        inst_line: IndexVec::from(Vec::with_capacity(count)),
        operand_start: Vec::with_capacity(count + 1),
        operands: Vec::with_capacity(work.operands.len()),
        regs: work.regs.clone(),
        slots: work.slots.clone(),
        symbols: work.symbols.clone(),
    };
    after.operand_start.push(0);
    let mut after_origin = IndexVec::from(Vec::with_capacity(count));
    for (block, insts) in order.iter_enumerated() {
        let first = after.inst_opcode.next_id();
        for &inst in insts.iter().filter(|&&inst| !deleted[inst]) {
            after.inst_opcode.push(work.inst_opcode[inst]);
            after.inst_effects.push(work.inst_effects[inst]);
            after.inst_space.push(work.inst_space[inst]);
            after.inst_line.push(work.inst_line[inst]);
            after.operands.extend(work.operands(inst).iter().map(|operand| {
                let mut operand = *operand;
                if let Value::Reg(reg) = &mut operand.value
                    && let Some((into, _)) = merged[*reg]
                {
                    *reg = into;
                }
                operand
            }));
            after.operand_start.push(after.operands.len() as u32);
            after_origin.push(origin[inst]);
        }
        let insts = first.0..after.inst_opcode.next_id().0;
        let data = block_data(&work, splits, block, insts, &mut after.succs);
        after.blocks.push(data);
    }
    Applied { function: after, origin: after_origin }
}

/// A block's data; its successors are appended to `succs`.
fn block_data(
    work: &Function,
    splits: &SplitEdges,
    block: Block,
    insts: std::ops::Range<u32>,
    succs: &mut Vec<Block>,
) -> BlockData {
    let start = succs.len() as u32;
    let (frequency, loop_depth) = match block.index().checked_sub(work.num_blocks()) {
        None => {
            succs.extend(work.succs(block).iter().map(|&to| splits.target(block, to)));
            (work.frequency(block), work.loop_depth(block))
        }
        Some(number) => {
            let SplitEdge { from, to, .. } = splits.edges()[number];
            succs.push(to);
            let frequency = work.frequency(from).min(work.frequency(to));
            (frequency, work.loop_depth(from).min(work.loop_depth(to)))
        }
    };
    BlockData { insts, succs: start..succs.len() as u32, frequency, loop_depth }
}
