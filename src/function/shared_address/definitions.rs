//! Registers that hold the result of one instruction at all their reads.

use super::arithmetic::{Arithmetic, arithmetic};
use crate::function::{Block, Function, Inst, Role, VReg};
use crate::index::IndexVec;

/// Returns for each register the definition that dominates all its reads; `None` if there is no such definition.
/// `dominates` returns whether its first block dominates its second. O(operands).
///
/// If several instructions set a register to the same constant of the thread, such as `%tid.x`, the first is returned.
pub fn definitions(
    function: &Function,
    dominates: &mut dyn FnMut(Block, Block) -> bool,
) -> IndexVec<VReg, Option<Inst>> {
    let mut definitions: IndexVec<VReg, Option<Inst>> = IndexVec::filled(None, function.num_regs());
    let mut is_redefined = IndexVec::filled(false, function.num_regs());
    for inst in function.insts() {
        for reg in function.operands(inst).iter().filter_map(|operand| operand.def()) {
            match definitions[reg] {
                None => definitions[reg] = Some(inst),
                Some(first) => {
                    is_redefined[reg] |= !(function.opcode(first) == function.opcode(inst) && is_number(function, inst))
                }
            }
        }
    }
    let mut is_early = is_redefined;
    for block in function.blocks() {
        for inst in function.block_insts(block).filter(|&inst| function.role(inst) != Role::Debug) {
            for reg in function.operands(inst).iter().filter_map(|operand| operand.use_reg()) {
                let Some(definition) = definitions[reg].filter(|_| !is_early[reg]) else { continue };
                let is_behind = if function.block_range(block).contains(&definition) {
                    definition < inst
                } else {
                    dominates(function.block_of(definition), block)
                };
                let is_read_there = function.role(inst) != Role::Phi;
                is_early[reg] |= !(is_read_there && is_behind || is_number(function, definition));
            }
        }
    }
    is_early.iter_enumerated().filter(|&(_, &is_early)| is_early).for_each(|(reg, _)| definitions[reg] = None);
    definitions
}

/// Whether an instruction reads a number that is constant for the thread.
fn is_number(function: &Function, inst: Inst) -> bool {
    let name = function.opcodes().name(function.opcode(inst));
    matches!(arithmetic(name), Some(Arithmetic::AtMost(_))) && function.operands(inst).len() == 1
}
