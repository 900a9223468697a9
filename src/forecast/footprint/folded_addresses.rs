//! Registers that only say where inline assembly, or a statement of PTX under a predicate, accesses memory.
//!
//! LLVM makes the number that is added to a base part of its own loads and stores. It does not look into inline
//! assembly, which is how Triton accesses memory: each address is a sum in a register. ptxas does look: it adds the
//! number in the access, and only the base is held.

use super::behaviour::Behaviours;
use super::opcode_facts::{Kinds, Motion};
use crate::analysis::Occurrences;
use crate::function::ptx_opcode::bases_of_addresses;
use crate::function::{Function, Inst, Symbol, VReg};
use crate::index::IndexVec;
use crate::target::{address_operands, registers_of};

/// Which registers these are. Memory for one function after another.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Addresses {
    /// How many operands of such accesses that are the base of an address read a register.
    reads: IndexVec<VReg, u32>,
    /// Whether nothing else does; empty where there are none.
    are: IndexVec<VReg, bool>,
    texts: IndexVec<Symbol, Option<Vec<u32>>>,
}

impl Addresses {
    /// Becomes those of a function. O(texts of inline assembly) where none accesses memory so, and else O(instructions,
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

    /// Whether there may be any.
    #[inline]
    pub(in crate::forecast) fn are_any(&self) -> bool {
        !self.are.is_empty()
    }

    /// Whether a register is one.
    #[inline]
    pub(in crate::forecast) fn has(&self, reg: VReg) -> bool {
        self.are.get(reg) == Some(&true)
    }
}

fn is_guarded_access(function: &Function, behaviours: &Behaviours, inst: Inst) -> bool {
    matches!(behaviours.motion(inst), Motion::Load | Motion::Store)
        && behaviours.opcode(function, inst).kinds.contains(Kinds::GUARDED)
}
