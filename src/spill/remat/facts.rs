//! Analyses of a function.

use super::cost::Costs;
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrence, Occurrences, block_frequencies};
use crate::function::{Block, Function, Operand, Role, VReg};
use crate::index::IndexVec;
use crate::spill::single_definition::{definition_and_reads, dominates};
use crate::target::{Asynchrony, Classification, asynchrony, is_fragment};

/// A function with its analyses.
pub(super) struct Facts<'a> {
    pub(super) function: &'a Function,
    pub(super) occurrences: &'a Occurrences,
    pub(super) costs: Costs<'a>,
    pub(super) cfg: Cfg,
    pub(super) dominators: Dominators,
    pub(super) loops: Loops,
    pub(super) frequencies: IndexVec<Block, f64>,
    pub(super) live: LiveRanges,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        function: &'a Function,
        classification: &'a Classification,
        occurrences: &'a Occurrences,
    ) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let loops = Loops::new(&cfg, &dominators);
        let frequencies = block_frequencies(function, &cfg, &dominators);
        let all: Vec<VReg> = function.regs().collect();
        let live = LiveRanges::new(function, &cfg, &dominators, occurrences, &all);
        let costs = Costs::new(function, classification);
        Self { function, occurrences, costs, cfg, dominators, loops, frequencies, live }
    }

    /// Returns the only definition of a register that is read, if the definition precedes all reads and a clone can
    /// replace it for each read.
    pub(super) fn definition_of_plain_reads(&self, reg: VReg) -> Option<Occurrence> {
        let (definition, reads) = definition_and_reads(self.occurrences, reg)?;
        let is_after = |read: &Occurrence| dominates(&self.dominators, &definition, read);
        // A clone directly precedes its reader. It would therefore follow the fence that orders accesses to fragments.
        let is_fragment = |read: &Occurrence| {
            asynchrony(self.function, read.inst) == Some(Asynchrony::Starts)
                && is_fragment(self.function, self.operand(read))
        };
        let is_plain = |read: &Occurrence| {
            read.is_use() && self.operand(read).tied.is_none() && is_after(read) && !is_fragment(read)
        };
        (!reads.is_empty() && reads.iter().all(is_plain)).then_some(definition)
    }

    fn operand(&self, read: &Occurrence) -> &Operand {
        &self.function.operands(read.inst)[read.operand as usize]
    }
}

/// Returns the number of instructions of a function, without debug instructions.
pub(super) fn instructions(function: &Function) -> usize {
    function.insts().filter(|&inst| function.role(inst) != Role::Debug).count()
}
