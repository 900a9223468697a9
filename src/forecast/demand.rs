//! Whose upper halves somebody reads.

use super::behaviour::Behaviours;
use crate::analysis::Occurrences;
use crate::function::{Effects, Function, Inst, MemorySpace, Operand, RegClass, Role, VReg};
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
    /// Both halves but of the address, the last source but one: shared, local and constant memory have addresses of 32
    /// bits, however wide PTX's registers are.
    Access,
    /// The same where the address is the first source.
    Atomic,
}

impl Demand {
    /// By an opcode's name and what it means.
    pub(super) fn of(name: &str, role: Role) -> Self {
        const LOW_ORDER: [&str; 11] = [
            "ADD64",
            "AND_b64",
            "MAD_LO_S64",
            "MAD_WIDE",
            "MULT64",
            "NOT_b64",
            "OR_b64",
            "SELP_b64",
            "SHL64",
            "SUB64",
            "XOR_b64",
        ];
        match (role, name) {
            (Role::Copy, _) => Self::AsResult,
            (Role::Extract { index: 0, .. }, _) => Self::Lower,
            (_, "CVT_u32_u64" | "CVT_s32_s64" | "CVT_u32_s64" | "CVT_s32_u64") => Self::Lower,
            (_, "AND_b64ri") => Self::ByMask,
            _ if ["LD_i", "LDV_i", "ST_i", "STV_i"].iter().any(|prefix| name.starts_with(prefix)) => Self::Access,
            _ if ["INT_PTX_ATOM", "INT_PTX_SATOM"].iter().any(|prefix| name.starts_with(prefix)) => Self::Atomic,
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
            if reads.any(|read| demand(function, behaviours, read.inst, read.operand) == Demand::Whole) {
                demanded[reg] = true;
                worklist.push(reg);
            }
        }
        while let Some(reg) = worklist.pop() {
            for def in occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def()) {
                for (number, operand) in function.operands(def.inst).iter().enumerate() {
                    let Some(source) = operand.use_reg() else { continue };
                    if function.class(source) == RegClass::B64
                        && !demanded[source]
                        && demand(function, behaviours, def.inst, number as u32) == Demand::AsResult
                    {
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
fn demand(function: &Function, behaviours: &Behaviours, inst: Inst, operand: u32) -> Demand {
    let decides = |role| matches!(role, Role::Copy | Role::Extract { index: 0, .. });
    if function.effects(inst).contains(Effects::META) && !decides(function.role(inst)) {
        return Demand::Lower;
    }
    match behaviours.known(function, inst).demand {
        Demand::ByMask if immediate(function, inst).is_some_and(|mask| mask >> 32 == 0) => Demand::Lower,
        Demand::ByMask => Demand::AsResult,
        Demand::Access if operand as usize + 2 == function.operands(inst).len() => of_address(function, inst),
        Demand::Atomic if operand == 1 => of_address(function, inst),
        Demand::Access | Demand::Atomic => Demand::Whole,
        other => other,
    }
}

/// What an access asks of its address.
#[inline]
fn of_address(function: &Function, inst: Inst) -> Demand {
    use MemorySpace::{Constant, Local, Shared, SharedCluster};
    match function.memory_space(inst) {
        Constant | Local | Shared | SharedCluster => Demand::Lower,
        _ => Demand::Whole,
    }
}

/// The immediate that an instruction ends with.
fn immediate(function: &Function, inst: Inst) -> Option<i64> {
    function.operands(inst).last().and_then(Operand::as_immediate)
}
