//! Whose upper halves somebody reads.

use super::behaviour::Behaviours;
use crate::analysis::Occurrences;
use crate::function::{Effects, Function, Inst, Operand, RegClass, Role, VReg};
use crate::index::IndexVec;

/// What an opcode asks of its 64-bit sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// Both halves.
    Whole,
    /// The upper half where that of the result is asked for: carries go upwards.
    AsResult,
    /// The lower half alone.
    Lower,
    /// As the result, or the lower half alone where the mask that the instruction ends with has no more.
    ByMask,
}

impl Demand {
    /// By an opcode's name and what it means.
    pub(super) fn of(name: &str, role: Role) -> Self {
        const LOW_ORDER: [&str; 8] =
            ["ADD64", "AND_b64", "MULT64", "NOT_b64", "OR_b64", "SELP_b64", "SUB64", "XOR_b64"];
        match (role, name) {
            (Role::Copy, _) => Self::AsResult,
            (Role::Extract { index: 0, .. }, _) => Self::Lower,
            (_, "CVT_u32_u64" | "CVT_s32_s64" | "CVT_u32_s64" | "CVT_s32_u64") => Self::Lower,
            (_, "AND_b64ri") => Self::ByMask,
            (_, "SHL64_ri") => Self::AsResult,
            _ if LOW_ORDER.iter().any(|prefix| name.starts_with(prefix)) => Self::AsResult,
            _ => Self::Whole,
        }
    }
}

/// For each 64-bit register, whether its upper half matters: truncations, masks and low-order arithmetic do not ask for
/// it, and ptxas does not keep it. Memory for one function after another.
#[derive(Debug, Default)]
pub(super) struct UpperHalves {
    demanded: IndexVec<VReg, bool>,
    worklist: Vec<VReg>,
}

impl UpperHalves {
    /// Becomes that of a function: the greatest fixed point, so that a counter that only masks read needs one word.
    /// O(occurrences).
    pub(super) fn compute(&mut self, function: &Function, behaviours: &Behaviours, occurrences: &Occurrences) {
        let Self { demanded, worklist } = self;
        demanded.clear();
        demanded.resize(function.num_regs(), false);
        for reg in function.regs().filter(|&reg| function.class(reg) == RegClass::B64) {
            let mut reads = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_use());
            if reads.any(|read| demand(function, behaviours, read.inst) == Demand::Whole) {
                demanded[reg] = true;
                worklist.push(reg);
            }
        }
        while let Some(reg) = worklist.pop() {
            for def in occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def()) {
                if demand(function, behaviours, def.inst) != Demand::AsResult {
                    continue;
                }
                for source in function.operands(def.inst).iter().filter_map(Operand::use_reg) {
                    if function.class(source) == RegClass::B64 && !demanded[source] {
                        demanded[source] = true;
                        worklist.push(source);
                    }
                }
            }
        }
    }

    /// Whether the upper half of a register matters.
    #[inline]
    pub(super) fn of(&self, reg: VReg) -> bool {
        self.demanded[reg]
    }
}

#[inline]
fn demand(function: &Function, behaviours: &Behaviours, inst: Inst) -> Demand {
    let decides = |role| matches!(role, Role::Copy | Role::Extract { index: 0, .. });
    if function.effects(inst).contains(Effects::META) && !decides(function.role(inst)) {
        return Demand::Lower;
    }
    match behaviours.known(function, inst).demand {
        Demand::ByMask if immediate(function, inst).is_some_and(|mask| mask >> 32 == 0) => Demand::Lower,
        Demand::ByMask => Demand::AsResult,
        other => other,
    }
}

/// The immediate that an instruction ends with.
fn immediate(function: &Function, inst: Inst) -> Option<i64> {
    function.operands(inst).last().and_then(Operand::as_immediate)
}
