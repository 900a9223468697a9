//! Counts of a function's instructions, computed in one pass.

use super::pressure::Pressure;
use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::opcode_facts::{Kinds, Motion};
use crate::function::{Function, Inst, MemorySpace};

/// Most varying words that are live at certain instructions.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::forecast) struct WordsAt {
    /// At the start of a block.
    pub(in crate::forecast) entry: u32,
    /// At the start of a block in a loop.
    pub(in crate::forecast) loop_entry: u32,
    /// At a 64-bit division.
    pub(in crate::forecast) division: u32,
    /// At a division or root of 64-bit floating-point numbers.
    pub(in crate::forecast) double: u32,
    /// At inline assembly.
    pub(in crate::forecast) assembly: u32,
    /// At a shuffle or matrix instruction.
    pub(in crate::forecast) exchange: u32,
    /// At a call.
    pub(in crate::forecast) call: u32,
}

/// Counts of a function. Counts whose names begin with *most* or *largest* are maxima over blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::forecast) struct Counts {
    pub(in crate::forecast) words_at: WordsAt,
    pub(in crate::forecast) blocks: u32,
    pub(in crate::forecast) instructions: u32,
    pub(in crate::forecast) depth: u32,
    pub(in crate::forecast) largest_block: u32,
    pub(in crate::forecast) loads: u32,
    pub(in crate::forecast) global_loads: u32,
    pub(in crate::forecast) shared_loads: u32,
    pub(in crate::forecast) most_loads: u32,
    pub(in crate::forecast) most_load_words: u32,
    /// Most words that an instruction writes.
    pub(in crate::forecast) widest: u32,
    pub(in crate::forecast) assembly: u32,
    pub(in crate::forecast) calls: u32,
    pub(in crate::forecast) ordered: u32,
    pub(in crate::forecast) exchanges: u32,
    /// Instructions that change the kernel's number of registers.
    pub(in crate::forecast) repartitions: u32,
    pub(in crate::forecast) divisions: u32,
    pub(in crate::forecast) wide_divisions: u32,
    pub(in crate::forecast) doubles: u32,
}

/// Counts of a block.
#[derive(Default)]
struct InBlock {
    instructions: u32,
    loads: u32,
    load_words: u32,
}

impl Counts {
    /// Counts the instructions. O(instructions, and operands of loads).
    pub(in crate::forecast) fn new(function: &Function, footprint: &RegisterFootprint, varying: &Pressure) -> Self {
        let RegisterFootprint { behaviours, words, .. } = footprint;
        let mut counts = Self { widest: words.widest(), blocks: function.num_blocks() as u32, ..Self::default() };
        for block in function.blocks() {
            let depth = function.loop_depth(block);
            counts.depth = depth.max(counts.depth);
            let mut in_block = InBlock::default();
            for inst in function.block_insts(block) {
                let kinds = behaviours.opcode(function, inst).kinds;
                if kinds.contains(Kinds::CODE) {
                    if in_block.instructions == 0 {
                        counts.words_at.enter(varying.before(inst), depth > 0);
                    }
                    in_block.instructions += 1;
                }
                if kinds != Kinds::CODE {
                    counts.count_rare(kinds, varying.at(inst));
                }
                counts.ordered += u32::from(behaviours.motion(inst) == Motion::Ordered);
                if behaviours.is_load(function, inst) {
                    in_block.loads += 1;
                    in_block.load_words += words_written(function, inst);
                    counts.count_load(function.memory_space(inst));
                }
            }
            counts.leave(&in_block);
        }
        counts
    }

    /// Counts the kinds that few opcodes have.
    fn count_rare(&mut self, kinds: Kinds, live: u32) {
        let one = |kind| u32::from(kinds.contains(kind));
        self.assembly += one(Kinds::ASSEMBLY);
        self.calls += one(Kinds::CALL);
        self.exchanges += one(Kinds::EXCHANGE);
        self.repartitions += one(Kinds::REPARTITION);
        self.divisions += one(Kinds::DIVISION);
        self.wide_divisions += one(Kinds::WIDE_DIVISION);
        self.doubles += one(Kinds::DOUBLE);
        let at = &mut self.words_at;
        for (kind, most) in [
            (Kinds::WIDE_DIVISION, &mut at.division),
            (Kinds::DOUBLE_ROUTINE, &mut at.double),
            (Kinds::ASSEMBLY, &mut at.assembly),
            (Kinds::EXCHANGE, &mut at.exchange),
            (Kinds::CALL, &mut at.call),
        ] {
            *most = (one(kind) * live).max(*most);
        }
    }

    fn count_load(&mut self, space: MemorySpace) {
        self.loads += 1;
        match space {
            MemorySpace::Global | MemorySpace::Generic => self.global_loads += 1,
            MemorySpace::Shared => self.shared_loads += 1,
            _ => {}
        }
    }

    fn leave(&mut self, block: &InBlock) {
        self.instructions += block.instructions;
        self.largest_block = block.instructions.max(self.largest_block);
        self.most_loads = block.loads.max(self.most_loads);
        self.most_load_words = block.load_words.max(self.most_load_words);
    }
}

impl WordsAt {
    fn enter(&mut self, live: u32, is_in_loop: bool) {
        self.entry = live.max(self.entry);
        if is_in_loop {
            self.loop_entry = live.max(self.loop_entry);
        }
    }
}

#[inline]
fn words_written(function: &Function, inst: Inst) -> u32 {
    let written = function.operands(inst).iter().filter_map(|operand| operand.def());
    written.map(|reg| function.class(reg).words()).sum()
}
