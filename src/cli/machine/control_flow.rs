//! Control flow of machine code: blocks, loops, and how often each instruction runs.

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
    /// That of the instructions. O(n log n).
    pub(crate) fn of(instructions: &[Instruction]) -> Self {
        let (graph, blocks) = graph(instructions);
        let cfg = Cfg::new(&graph);
        let dominators = Dominators::new(&graph, &cfg);
        Self { graph, cfg, dominators, blocks }
    }

    /// That of a function as the disassembler prints it. What the bits and the disassembler both have stands in the same order;
    /// where they disagree nothing is known of control flow.
    pub(crate) fn of_table(table: &LifeRanges, code: &[Instruction]) -> Option<Self> {
        let code = code.get(..table.len())?;
        let agree = code.iter().enumerate().all(|(row, instruction)| instruction.address == table.offset(row));
        agree.then(|| Self::of(code))
    }

    /// How often each instruction runs in a run of the function, by the loops around it.
    pub(crate) fn frequencies(&self) -> Vec<f64> {
        let frequencies = block_frequencies(&self.graph, &self.cfg, &self.dominators);
        self.blocks.iter().map(|&block| frequencies[block]).collect()
    }

    /// How many loops each instruction is in.
    pub(crate) fn depths(&self) -> Vec<u32> {
        let loops = Loops::new(&self.cfg, &self.dominators);
        self.blocks.iter().map(|&block| loops.depth(block)).collect()
    }

    /// The numbers of the instructions behind which a block may run.
    pub(crate) fn ends_before(&self, block: Block) -> impl Iterator<Item = usize> + '_ {
        self.cfg.preds(block).iter().map(|&before| self.blocks.partition_point(|&of| of <= before).saturating_sub(1))
    }

    /// The numbers of the instructions that may run behind a block.
    pub(crate) fn starts_behind(&self, block: Block) -> Vec<usize> {
        self.graph.succs(block).iter().map(|&behind| self.start(behind)).collect()
    }

    /// The number behind that of a block's last instruction.
    pub(crate) fn end(&self, block: Block) -> usize {
        self.blocks.partition_point(|&of| of <= block)
    }

    /// The block of an instruction by its number.
    pub(crate) fn block(&self, instruction: usize) -> Block {
        self.blocks[instruction]
    }

    /// The number of a block's first instruction.
    pub(crate) fn start(&self, block: Block) -> usize {
        self.blocks.partition_point(|&of| of < block)
    }
}

/// The control flow as a function without instructions, and the block of each instruction. A jump to an address in a
/// register may go to each block that nothing else leads to. A jump to what is behind them all leads nowhere: the disassembler
/// leaves out what fills a function up, and the endless loop ahead of that.
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
