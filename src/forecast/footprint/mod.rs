//! The footprint of a function: the 32-bit words of its registers that occupy a hardware register.
//!
//! The entry is [`RegisterFootprint::compute`]. In the order of its phases:
//! * [`opcode_facts`], [`upper_half_use`], [`word_sharing`]: facts of an opcode alone;
//! * [`memory_accesses`], [`behaviour`]: how each instruction may move, and which memory it accesses;
//! * [`upper_halves`], [`word_sources`], [`folded_addresses`], [`words`]: the words of each register that occupy a
//!   hardware register;
//! * [`uniform_registers`]: the values that ptxas keeps in uniform registers;
//! * [`promotion`]: the stack variables that ptxas keeps in registers.
//!
//! [`dead_code`] runs before all of these: it removes the code that ptxas removes and LLVM does not.

pub(super) mod behaviour;
pub(super) mod dead_code;
mod folded_addresses;
pub(super) mod memory_accesses;
pub(super) mod opcode_facts;
pub(super) mod promotion;
mod uniform_registers;
mod upper_half_use;
mod upper_halves;
mod word_sharing;
mod word_sources;
pub(super) mod words;

use crate::analysis::{
    Cfg, Dominators, LiveRanges, Loop, Loops, Obstacle, Occurrences, UniformityInfo, UnrolledLoops, Unrolling,
};
use crate::function::{Function, RegClass, VReg};
use crate::index::IndexVec;
use crate::target::Classification;
use behaviour::Behaviours;
use promotion::Promotion;
use uniform_registers::UniformRegisters;
use words::Words;

/// Footprint of one function. The memory is reused for the next function, because a module has many small ones.
#[derive(Debug, Default)]
pub(super) struct RegisterFootprint {
    /// Control-flow graph from which the loops were found.
    pub(super) cfg: Cfg,
    /// Loops.
    pub(super) loops: Loops,
    /// How ptxas unrolls each loop.
    pub(super) unrollings: IndexVec<Loop, Result<Unrolling, Obstacle>>,
    /// Reads and writes of each register.
    pub(super) occurrences: Occurrences,
    /// Live range of each register.
    pub(super) ranges: LiveRanges,
    /// Registers with the same value in all threads of a warp.
    pub(super) uniformity: UniformityInfo,
    /// How instructions may move.
    pub(super) behaviours: Behaviours,
    /// Words of the registers, and their places in the hardware.
    pub(super) words: Words,
    /// Registers that ptxas keeps in uniform registers.
    pub(super) uniform_registers: UniformRegisters,
    /// Stack variables that ptxas keeps in registers.
    pub(super) promotion: Promotion,
    dominators: Dominators,
    registers: Vec<VReg>,
}

impl RegisterFootprint {
    /// Computes the footprint of a function that has left SSA form and is coalesced. O(n log n) in its operands and
    /// live ranges.
    pub(super) fn compute(&mut self, function: &Function, classification: &Classification) {
        self.find_live_ranges(function, classification);
        let Self { cfg, loops, unrollings, occurrences, ranges, uniformity, .. } = self;
        let Self { behaviours, words, uniform_registers, promotion, .. } = self;
        let unrolled = UnrolledLoops::new((function, classification), loops, occurrences);
        unrollings.clear();
        unrollings.extend(unrolled.all());
        behaviours.compute(function, classification);
        words.compute(function, behaviours, (occurrences, ranges));
        uniform_registers.compute(function, (behaviours, words), occurrences, uniformity);
        promotion.compute(function, (cfg, loops, &unrolled), (occurrences, ranges));
        // The counter of a loop that is unrolled in full is a constant in each body.
        unrolled.counters(unrollings).for_each(|reg| words.drop_all(reg));
        // The address of a variable in registers is not computed.
        promotion.addresses().for_each(|reg| words.drop_all(reg));
    }

    /// Computes live ranges, and the registers with the same value in all threads of a warp.
    fn find_live_ranges(&mut self, function: &Function, classification: &Classification) {
        let Self { cfg, dominators, occurrences, ranges, registers, .. } = self;
        cfg.compute(function);
        dominators.compute(function, cfg);
        self.loops.compute(cfg, dominators);
        occurrences
            .compute(function, &|_, operand| operand.reg().filter(|&reg| function.class(reg) != RegClass::Other));
        registers.clear();
        registers.extend(function.regs().filter(|&reg| !occurrences.of(reg).is_empty()));
        ranges.compute(function, cfg, dominators, occurrences, registers);
        let in_kernel = function.kernel().is_some();
        self.uniformity.compute((function, classification), cfg, dominators, occurrences, ranges, in_kernel);
    }

    /// Computes the footprint of a function whose opcodes are known only by name.
    #[cfg(test)]
    pub(super) fn by_name(function: &Function) -> Self {
        let mut footprint = Self::default();
        footprint.recompute_by_name(function);
        footprint
    }

    /// Computes the footprint in memory that another function may have used.
    #[cfg(test)]
    pub(super) fn recompute_by_name(&mut self, function: &Function) {
        self.compute(function, &Classification::by_name(function.opcodes()));
    }
}
