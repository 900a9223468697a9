//! Registers that are used only as addresses in inline assembly or in guarded statements of PTX.
//!
//! LLVM folds a constant offset into its own loads and stores, but it does not read inline assembly. Triton uses inline
//! assembly for memory accesses, so each address is a sum in a register. ptxas folds the offset into the access, so
//! only the base occupies a register.

use super::behaviour::Behaviours;
use super::opcode_facts::{Kinds, Motion};
use crate::analysis::Occurrences;
use crate::function::ptx_opcode::bases_of_addresses;
use crate::function::{Function, Inst, Symbol, VReg};
use crate::index::IndexVec;
use crate::target::{address_operands, registers_of};

/// Registers that are used only as addresses of such accesses. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Addresses {
    /// Number of operands of such accesses that read each register as the base of an address.
    reads: IndexVec<VReg, u32>,
    /// Whether each register has no other reads. Empty if the function has no such accesses.
    are: IndexVec<VReg, bool>,
    texts: IndexVec<Symbol, Option<Vec<u32>>>,
}

impl Addresses {
    /// Finds the registers that are only addresses. O(texts of inline assembly) if no assembly accesses memory and
    /// there are no guarded statements, else O(instructions + occurrences of the registers in addresses).
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

    /// Whether the function may have registers that are only addresses.
    #[inline]
    pub(in crate::forecast) fn are_any(&self) -> bool {
        !self.are.is_empty()
    }

    /// Whether a register is used only as an address of such accesses.
    #[inline]
    pub(in crate::forecast) fn has(&self, reg: VReg) -> bool {
        self.are.get(reg) == Some(&true)
    }
}

fn is_guarded_access(function: &Function, behaviours: &Behaviours, inst: Inst) -> bool {
    matches!(behaviours.motion(inst), Motion::Load | Motion::Store)
        && behaviours.opcode(function, inst).kinds.contains(Kinds::GUARDED)
}
