//! Builds the edited function from the recorded changes.

use std::mem::take;
use std::ops::Range;

use super::Applied;
use super::editor::Editor;
use super::layout::Order;
use super::split::{SplitEdge, SplitEdges};
use crate::function::{Block, BlockData, Function, Inst, NoUnroll, VReg, Value};
use crate::index::{EntityIndex, IndexVec};

/// Lays the instructions out in their new order, without deleted instructions and with merged registers renamed.
pub(super) fn rebuild(editor: Editor<'_>, splits: &SplitEdges, order: &Order) -> Applied {
    let Editor { mut work, origin, merged, deleted, .. } = editor;
    let count = work.num_insts();
    let mut after = Function {
        name: take(&mut work.name),
        kernel: work.kernel,
        file: work.file.take(),
        opcodes: work.opcodes.clone(),
        blocks: IndexVec::from(Vec::with_capacity(order.num_blocks())),
        succs: Vec::with_capacity(work.succs.len() + splits.len()),
        inst_opcode: IndexVec::from(Vec::with_capacity(count)),
        inst_effects: IndexVec::from(Vec::with_capacity(count)),
        inst_space: IndexVec::from(Vec::with_capacity(count)),
        inst_line: IndexVec::from(Vec::with_capacity(count)),
        operand_start: Vec::with_capacity(count + 1),
        operands: Vec::with_capacity(work.operands.len()),
        regs: take(&mut work.regs),
        slots: take(&mut work.slots),
        symbols: take(&mut work.symbols),
    };
    after.operand_start.push(0);
    let mut after_origin = IndexVec::from(Vec::with_capacity(count));
    for (block, runs) in order.blocks() {
        let first = after.inst_opcode.next_id();
        // Most instructions are neither deleted nor moved, so whole runs are appended.
        for run in runs {
            let mut start = run.start;
            for same in deleted.range(run.clone()).chunk_by(|a, b| a == b) {
                let insts = start..Inst(start.0 + same.len() as u32);
                start = insts.end;
                if !same[0] {
                    after_origin.extend(origin.range(insts.clone()).iter().copied());
                    append(&mut after, &work, insts, &merged);
                }
            }
        }
        let insts = first.0..after.inst_opcode.next_id().0;
        let data = block_data(&work, splits, block, insts, &mut after.succs);
        after.blocks.push(data);
    }
    Applied { function: after, origin: after_origin }
}

/// Appends consecutive instructions, with merged registers renamed.
fn append(after: &mut Function, work: &Function, insts: Range<Inst>, merged: &IndexVec<VReg, Option<(VReg, usize)>>) {
    after.inst_opcode.extend(work.inst_opcode.range(insts.clone()).iter().copied());
    after.inst_effects.extend(work.inst_effects.range(insts.clone()).iter().copied());
    after.inst_space.extend(work.inst_space.range(insts.clone()).iter().copied());
    after.inst_line.extend(work.inst_line.range(insts.clone()).iter().copied());
    let starts = &work.operand_start[insts.start.index()..=insts.end.index()];
    let (first, end) = (starts[0], starts[insts.end.index() - insts.start.index()]);
    let before = after.operands.len() as u32;
    after.operand_start.extend(starts[1..].iter().map(|start| start - first + before));
    after.operands.extend(work.operands[first as usize..end as usize].iter().map(|operand| {
        let mut operand = *operand;
        if let Value::Reg(reg) = &mut operand.value
            && let Some((into, _)) = merged[*reg]
        {
            *reg = into;
        }
        operand
    }));
}

/// Returns a block's data, and appends the block's successors to `succs`.
fn block_data(
    work: &Function,
    splits: &SplitEdges,
    block: Block,
    insts: Range<u32>,
    succs: &mut Vec<Block>,
) -> BlockData {
    let start = succs.len() as u32;
    let (frequency, loop_depth, no_unroll) = match block.index().checked_sub(work.num_blocks()) {
        None => {
            succs.extend(work.succs(block).iter().map(|&to| splits.target(block, to)));
            (work.frequency(block), work.loop_depth(block), work.no_unroll(block))
        }
        Some(number) => {
            let SplitEdge { from, to, .. } = splits.edges()[number];
            succs.push(to);
            let frequency = work.frequency(from).min(work.frequency(to));
            // If a back edge is split, the new block becomes the latch.
            let back = Some(work.no_unroll(from)).filter(|&said| said == NoUnroll::Back);
            (frequency, work.loop_depth(from).min(work.loop_depth(to)), back.unwrap_or_default())
        }
    };
    BlockData { insts, succs: start..succs.len() as u32, frequency, loop_depth, no_unroll }
}
