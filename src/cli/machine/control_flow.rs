//! Control flow of machine code: blocks, loops, and execution frequencies.

use std::sync::Arc;

use nvptx_ra::analysis::{Cfg, Dominators, Loops, block_frequencies};
use nvptx_ra::function::{Block, Function, FunctionBuilder, OpcodeTable};
use nvptx_ra::index::EntityIndex;

use super::instruction::{Instruction, Kind};
use super::life_ranges::LifeRanges;

/// The control flow of a function's machine code.
pub(crate) struct ControlFlow {
    graph: Function,
    cfg: Cfg,
    dominators: Dominators,
    /// The block of each instruction.
    blocks: Vec<Block>,
}

impl ControlFlow {
    /// Computes the control flow of instructions. O(n log n).
    pub(crate) fn of(instructions: &[Instruction]) -> Self {
        let (graph, blocks) = graph(instructions);
        let cfg = Cfg::new(&graph);
        let dominators = Dominators::new(&graph, &cfg);
        Self { graph, cfg, dominators, blocks }
    }

    /// Computes the control flow of a function in the disassembler's table. The table's rows and the decoded
    /// instructions have the same order. `None` if they disagree.
    pub(crate) fn of_table(table: &LifeRanges, code: &[Instruction]) -> Option<Self> {
        let code = code.get(..table.len())?;
        let agree = code.iter().enumerate().all(|(row, instruction)| instruction.address == table.offset(row));
        agree.then(|| Self::of(code))
    }

    /// Returns how often each instruction executes in a run of the function, as the loops around it suggest.
    pub(crate) fn frequencies(&self) -> Vec<f64> {
        let frequencies = block_frequencies(&self.graph, &self.cfg, &self.dominators);
        self.blocks.iter().map(|&block| frequencies[block]).collect()
    }

    /// Returns the loop depth of each instruction.
    pub(crate) fn depths(&self) -> Vec<u32> {
        let loops = Loops::new(&self.cfg, &self.dominators);
        self.blocks.iter().map(|&block| loops.depth(block)).collect()
    }

    /// Returns the numbers of the last instructions of a block's predecessors.
    pub(crate) fn ends_before(&self, block: Block) -> impl Iterator<Item = usize> + '_ {
        self.cfg.preds(block).iter().map(|&before| self.blocks.partition_point(|&of| of <= before).saturating_sub(1))
    }

    /// Returns the numbers of the first instructions of a block's successors.
    pub(crate) fn starts_behind(&self, block: Block) -> Vec<usize> {
        self.graph.succs(block).iter().map(|&behind| self.start(behind)).collect()
    }

    /// Returns the number of a block's last instruction, plus one.
    pub(crate) fn end(&self, block: Block) -> usize {
        self.blocks.partition_point(|&of| of <= block)
    }

    /// Returns the block of an instruction, by its number.
    pub(crate) fn block(&self, instruction: usize) -> Block {
        self.blocks[instruction]
    }

    /// Returns the number of a block's first instruction.
    pub(crate) fn start(&self, block: Block) -> usize {
        self.blocks.partition_point(|&of| of < block)
    }
}

/// Returns the control flow as a function without instructions, and the block of each instruction.
///
/// A jump to an address in a register may reach each block that has no other predecessor. A jump past the last
/// instruction has no successor: the disassembler omits a function's padding, and the endless loop before the padding.
fn graph(instructions: &[Instruction]) -> (Function, Vec<Block>) {
    let last = instructions.last().map_or(0, |last| last.address);
    let jump = |instruction: &Instruction| instruction.successor().filter(|&address| address <= last);
    let mut leaders: Vec<u32> = instructions.iter().filter_map(jump).collect();
    leaders.extend(instructions.iter().take(1).map(|first| first.address));
    leaders.extend(instructions.windows(2).filter(|pair| pair[0].leaves()).map(|pair| pair[1].address));
    leaders.sort_unstable();
    leaders.dedup();
    let block_at = |address: u32| leaders.partition_point(|&leader| leader <= address).saturating_sub(1);
    let mut successors: Vec<Vec<Block>> = vec![Vec::new(); leaders.len()];
    let mut is_reached = vec![false; leaders.len()];
    let mut indirect = Vec::new();
    for (at, instruction) in instructions.iter().enumerate() {
        let from = block_at(instruction.address);
        let next = instructions.get(at + 1).map(|next| next.address);
        let next = next.filter(|&next| block_at(next) != from && instruction.falls_through());
        for to in next.into_iter().chain(jump(instruction)).map(block_at) {
            successors[from].push(Block::new(to));
            is_reached[to] = true;
        }
        indirect.extend((instruction.kind == Kind::IndirectBranch).then_some(from));
    }
    for from in indirect {
        successors[from].extend((1..leaders.len()).filter(|&to| !is_reached[to]).map(Block::new));
    }
    let mut builder = FunctionBuilder::new("", Arc::new(OpcodeTable::new()));
    for successors in &successors {
        builder.block(successors, 1.0, 0);
    }
    (builder.finish(), instructions.iter().map(|one| Block::new(block_at(one.address))).collect())
}
