//! The 64-bit registers whose upper halves are read.

use super::behaviour::Behaviours;
use super::upper_half_use::UpperHalfUse;
use crate::analysis::Occurrences;
use crate::function::{Effects, Function, Inst, MemorySpace, Operand, RegClass, Role, VReg};
use crate::index::IndexVec;

/// Whether the upper half of each 64-bit register is read. Truncations, masks and low-order arithmetic do not read the
/// upper half. ptxas does not keep an upper half that is not read. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct UpperHalves {
    is_read: IndexVec<VReg, bool>,
    worklist: Vec<VReg>,
}

impl UpperHalves {
    /// Finds the unread upper halves of a function: the greatest fixed point, so that a counter that only masks read
    /// needs one word. O(occurrences).
    pub(in crate::forecast) fn compute(
        &mut self,
        function: &Function,
        behaviours: &Behaviours,
        occurrences: &Occurrences,
    ) {
        let Self { is_read, worklist } = self;
        is_read.clear();
        is_read.resize(function.num_regs(), false);
        for reg in function.regs().filter(|&reg| function.class(reg) == RegClass::B64) {
            let mut reads = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_use());
            if reads.any(|read| upper_half_use(function, behaviours, read.inst, read.operand) == UpperHalfUse::Whole) {
                is_read[reg] = true;
                worklist.push(reg);
            }
        }
        while let Some(reg) = worklist.pop() {
            for def in occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def()) {
                for (number, operand) in function.operands(def.inst).iter().enumerate() {
                    let Some(source) = operand.use_reg() else { continue };
                    if function.class(source) == RegClass::B64
                        && !is_read[source]
                        && upper_half_use(function, behaviours, def.inst, number as u32) == UpperHalfUse::AsResult
                    {
                        is_read[source] = true;
                        worklist.push(source);
                    }
                }
            }
        }
    }

    /// Whether the upper half of a register is read.
    #[inline]
    pub(in crate::forecast) fn of(&self, reg: VReg) -> bool {
        self.is_read[reg]
    }
}

#[inline]
fn upper_half_use(function: &Function, behaviours: &Behaviours, inst: Inst, operand: u32) -> UpperHalfUse {
    let decides = |role| matches!(role, Role::Copy | Role::Extract { index: 0, .. });
    if function.effects(inst).contains(Effects::META) && !decides(function.role(inst)) {
        return UpperHalfUse::Lower;
    }
    match behaviours.opcode(function, inst).upper_half_use {
        UpperHalfUse::ByMask if immediate(function, inst).is_some_and(|mask| mask >> 32 == 0) => UpperHalfUse::Lower,
        UpperHalfUse::ByMask => UpperHalfUse::AsResult,
        UpperHalfUse::Access if operand as usize + 2 == function.operands(inst).len() => of_address(function, inst),
        UpperHalfUse::Atomic if operand == 1 => of_address(function, inst),
        UpperHalfUse::Access | UpperHalfUse::Atomic => UpperHalfUse::Whole,
        other => other,
    }
}

/// Returns the halves of its address that an access reads.
#[inline]
fn of_address(function: &Function, inst: Inst) -> UpperHalfUse {
    use MemorySpace::{Constant, Local, Shared, SharedCluster};
    match function.memory_space(inst) {
        Constant | Local | Shared | SharedCluster => UpperHalfUse::Lower,
        _ => UpperHalfUse::Whole,
    }
}

/// Returns the immediate in an instruction's last operand.
fn immediate(function: &Function, inst: Inst) -> Option<i64> {
    function.operands(inst).last().and_then(Operand::as_immediate)
}
