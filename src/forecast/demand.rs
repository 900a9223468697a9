//! Whose upper halves somebody reads.

use crate::analysis::Occurrences;
use crate::function::{Effects, Function, Inst, Operand, RegClass, Role, VReg, Value};
use crate::index::IndexVec;

/// What an instruction's 64-bit sources must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// Both halves.
    Whole,
    /// The upper half where that of the result is asked for: carries go upwards.
    AsResult,
    /// The lower half alone.
    Lower,
}

/// For each 64-bit register, whether its upper half matters: truncations, masks and low-order arithmetic do not ask for
/// it, and ptxas does not keep it. The greatest fixed point, so that a counter that only masks read needs one word.
/// O(occurrences).
pub(super) fn demanded_upper_halves(function: &Function, occurrences: &Occurrences) -> IndexVec<VReg, bool> {
    let mut demanded = IndexVec::filled(false, function.num_regs());
    let mut worklist = Vec::new();
    for reg in function.regs().filter(|&reg| function.class(reg) == RegClass::B64) {
        let reads = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_use());
        if reads.into_iter().any(|read| demand(function, read.inst) == Demand::Whole) {
            demanded[reg] = true;
            worklist.push(reg);
        }
    }
    while let Some(reg) = worklist.pop() {
        for def in occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def()) {
            if demand(function, def.inst) != Demand::AsResult {
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
    demanded
}

fn demand(function: &Function, inst: Inst) -> Demand {
    const LOW_ORDER: [&str; 8] = ["ADD64", "AND_b64", "MULT64", "NOT_b64", "OR_b64", "SELP_b64", "SUB64", "XOR_b64"];
    let name = function.opcodes().name(function.opcode(inst));
    match function.role(inst) {
        Role::Copy => return Demand::AsResult,
        Role::Extract { index: 0, .. } => return Demand::Lower,
        _ if function.effects(inst).contains(Effects::META) => return Demand::Lower,
        _ => {}
    }
    match name {
        "CVT_u32_u64" | "CVT_s32_s64" | "CVT_u32_s64" | "CVT_s32_u64" => Demand::Lower,
        "AND_b64ri" if immediate(function, inst).is_some_and(|mask| mask >> 32 == 0) => Demand::Lower,
        "SHL64_ri" => Demand::AsResult,
        _ if LOW_ORDER.iter().any(|prefix| name.starts_with(prefix)) => Demand::AsResult,
        _ => Demand::Whole,
    }
}

/// The immediate that an instruction ends with.
fn immediate(function: &Function, inst: Inst) -> Option<i64> {
    match function.operands(inst).last().map(|operand| operand.value) {
        Some(Value::Immediate(value)) => Some(value),
        _ => None,
    }
}
