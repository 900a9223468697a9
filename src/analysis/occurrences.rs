//! The operands that read and write each register.

use super::grouping::Grouping;
use crate::function::{Block, Function, Inst, Operand, OperandFlags, Role, VReg};

/// An operand that refers to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The instruction.
    pub inst: Inst,
    /// The block that holds the instruction.
    pub block: Block,
    /// The operand's index.
    pub operand: u32,
    /// The flags of the operand.
    pub flags: OperandFlags,
    /// Whether the instruction is a PHI. A PHI writes at the start of its block and reads at the end of a predecessor.
    pub is_phi: bool,
}

impl Occurrence {
    /// Whether the operand writes the register.
    #[inline]
    pub fn is_def(&self) -> bool {
        self.flags.contains(OperandFlags::DEF)
    }

    /// Whether the operand reads the register's value. A read of an undefined value does not count.
    #[inline]
    pub fn is_use(&self) -> bool {
        !self.flags.intersects(OperandFlags::DEF.union(OperandFlags::UNDEF))
    }

    /// Whether the register is written before the instruction has read its sources (early clobber).
    #[inline]
    pub fn is_early_clobber(&self) -> bool {
        self.flags.contains(OperandFlags::EARLY_CLOBBER)
    }
}

/// The occurrences of the requested registers, in layout order. Within an instruction, sources come before results. The
/// operands of debug instructions are kept separately.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    occurrences: Grouping<VReg, Occurrence>,
    debug_uses: Grouping<VReg, Occurrence>,
    found: Vec<(VReg, Occurrence)>,
    found_debug: Vec<(VReg, Occurrence)>,
    written: Vec<(VReg, Occurrence)>,
}

impl Occurrences {
    /// Returns the occurrences of the registers for which `wanted` holds. O(operands + registers).
    pub fn new(function: &Function, wanted: &impl Fn(VReg) -> bool) -> Self {
        Self::renamed(function, &|_, operand| operand.reg().filter(|&reg| wanted(reg)))
    }

    /// Returns the occurrences of registers after renaming: `register` maps each operand to a register, or to `None` if
    /// the operand does not count. This is for a pass that merges registers and deletes instructions in its own data
    /// before it edits the function.
    pub fn renamed(function: &Function, register: &impl Fn(Inst, &Operand) -> Option<VReg>) -> Self {
        let mut occurrences = Self::default();
        occurrences.compute(function, register);
        occurrences
    }

    /// Computes the occurrences of the registers of `function`, as renamed by `register`.
    pub fn compute(&mut self, function: &Function, register: &impl Fn(Inst, &Operand) -> Option<VReg>) {
        self.found.clear();
        self.found_debug.clear();
        for block in function.blocks() {
            for inst in function.block_insts(block) {
                self.collect(function, block, inst, register);
            }
        }
        self.occurrences.compute(function.num_regs(), self.found.iter().copied());
        self.debug_uses.compute(function.num_regs(), self.found_debug.iter().copied());
    }

    /// Returns the reads and writes of a register.
    #[inline]
    pub fn of(&self, reg: VReg) -> &[Occurrence] {
        self.occurrences.of(reg)
    }

    /// Returns the definition of a register. `None` if the register has no definition or several.
    pub fn only_definition(&self, reg: VReg) -> Option<&Occurrence> {
        let mut definitions = self.of(reg).iter().filter(|occurrence| occurrence.is_def());
        definitions.next().filter(|_| definitions.next().is_none())
    }

    /// Returns the operands of debug instructions that refer to a register.
    #[inline]
    pub fn debug_uses(&self, reg: VReg) -> &[Occurrence] {
        self.debug_uses.of(reg)
    }

    #[inline]
    fn collect(
        &mut self,
        function: &Function,
        block: Block,
        inst: Inst,
        register: &impl Fn(Inst, &Operand) -> Option<VReg>,
    ) {
        let before = self.found.len();
        for (number, operand) in function.operands(inst).iter().enumerate() {
            let Some(reg) = register(inst, operand) else { continue };
            let occurrence = Occurrence { inst, block, operand: number as u32, flags: operand.flags, is_phi: false };
            let list = if operand.is_def() { &mut self.written } else { &mut self.found };
            list.push((reg, occurrence));
        }
        match self.written.as_slice() {
            &[only] => {
                self.found.push(only);
                self.written.clear();
            }
            _ => self.found.append(&mut self.written),
        }
        if self.found.len() == before {
            return;
        }
        match function.role(inst) {
            Role::Debug => self.found_debug.extend(self.found.drain(before..)),
            Role::Phi => self.found[before..].iter_mut().for_each(|(_, occurrence)| occurrence.is_phi = true),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Occurrences;
    use crate::function::{Effects, FunctionBuilder, Inst, OpcodeTable, Operand, RegClass, Role, VReg};

    /// Sources come before results, debug uses are kept separately, and registers that were not requested have no
    /// occurrences.
    #[test]
    fn order_and_separation() {
        let mut opcodes = OpcodeTable::new();
        let (op, debug) = (opcodes.intern("op", Role::Other), opcodes.intern("DBG_VALUE", Role::Debug));
        let mut builder = FunctionBuilder::new("f", Arc::new(opcodes));
        let [a, b] = [0, 1].map(|_| builder.reg(RegClass::B32));
        builder.block(&[], 1.0, 0);
        builder.inst(op, &[Operand::write(a), Operand::read(b)], Effects::empty());
        builder.inst(op, &[Operand::write(a), Operand::read(a)], Effects::empty());
        builder.inst(debug, &[Operand::read(a)], Effects::META);
        let function = builder.finish();

        let occurrences = Occurrences::new(&function, &|reg| reg == a);
        let found: Vec<(Inst, u32, bool)> =
            occurrences.of(a).iter().map(|found| (found.inst, found.operand, found.is_def())).collect();
        assert_eq!(found, [(Inst(0), 0, true), (Inst(1), 1, false), (Inst(1), 0, true)]);
        assert_eq!(occurrences.debug_uses(a).len(), 1);
        assert!(occurrences.of(VReg(1)).is_empty());
    }
}
