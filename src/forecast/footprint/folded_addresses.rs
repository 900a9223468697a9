//! Registers that are used only as addresses in inline assembly or in guarded statements of PTX.
//!
//! LLVM folds a constant offset into its own loads and stores. It does not read inline assembly, which Triton uses for
//! memory accesses: each address is a sum in a register. ptxas folds the offset into the access, so only the base
//! occupies a register.

use super::behaviour::Behaviours;
use super::opcode_facts::{Kinds, Motion};
use crate::analysis::Occurrences;
use crate::function::ptx_opcode::bases_of_addresses;
use crate::function::{Function, Inst, Symbol, VReg};
use crate::index::IndexVec;
use crate::target::{address_operands, registers_of};

/// The registers that are only such addresses. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Addresses {
    /// Operands of such accesses that read each register as the base of an address.
    reads: IndexVec<VReg, u32>,
    /// Whether each register has no other reads. Empty if there are no such registers.
    are: IndexVec<VReg, bool>,
    texts: IndexVec<Symbol, Option<Vec<u32>>>,
}

impl Addresses {
    /// Finds these registers. O(texts of inline assembly) if no assembly accesses memory this way, else O(instructions,
    /// and occurrences of these registers).
    pub(in crate::forecast) fn compute(
        &mut self,
        function: &Function,
        behaviours: &Behaviours,
        occurrences: &Occurrences,
    ) {
        let Self { reads, are, texts } = self;
        are.clear();
        let may_access = |symbol: u32| function.symbol(Symbol(symbol)).contains('[');
        if !(0..function.num_symbols() as u32).any(may_access) && !behaviours.has_guarded() {
            return;
        }
        are.resize(function.num_regs(), false);
        reads.clear();
        reads.resize(function.num_regs(), 0);
        texts.clear();
        texts.resize(function.num_symbols(), None);
        for (inst, text) in behaviours.assembly(function) {
            let numbers = texts[text].get_or_insert_with(|| address_operands(function.symbol(text)));
            registers_of(function, inst, numbers).for_each(|reg| reads[reg] += 1);
        }
        if behaviours.has_guarded() {
            for inst in function.insts().filter(|&inst| is_guarded_access(function, behaviours, inst)) {
                let bases = bases_of_addresses(function.opcodes().name(function.opcode(inst))).unwrap_or_default();
                let operands = function.operands(inst);
                bases.into_iter().filter_map(|base| operands[base].read_reg()).for_each(|reg| reads[reg] += 1);
            }
        }
        for reg in function.regs().filter(|&reg| reads[reg] > 0) {
            let uses = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_use()).count();
            are[reg] = uses == reads[reg] as usize;
        }
    }

    /// Whether there may be any such register.
    #[inline]
    pub(in crate::forecast) fn are_any(&self) -> bool {
        !self.are.is_empty()
    }

    /// Whether a register is only such an address.
    #[inline]
    pub(in crate::forecast) fn has(&self, reg: VReg) -> bool {
        self.are.get(reg) == Some(&true)
    }
}

fn is_guarded_access(function: &Function, behaviours: &Behaviours, inst: Inst) -> bool {
    matches!(behaviours.motion(inst), Motion::Load | Motion::Store)
        && behaviours.opcode(function, inst).kinds.contains(Kinds::GUARDED)
}
