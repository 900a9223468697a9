//! Words that are in flight at a wait.
//!
//! The registers of a warp-group product (`wgmma`) and of an access of tensor memory (`tcgen05`) belong to the
//! instruction from its issue to the instruction that waits for it. The two instructions cannot pass each other. So all
//! results of a group occupy registers at once at the wait, in any order of the code, even if they are not read
//! afterwards.

use crate::forecast::footprint::RegisterFootprint;
use crate::forecast::footprint::opcode_facts::Kinds;
use crate::forecast::footprint::words::Word;
use crate::function::{Function, Inst, Operand, RegClass, VReg};
use crate::target::{Asynchrony, asynchrony};

/// Returns the most words of registers that are in flight at a wait. These are the words that asynchronous instructions
/// of the wait's block have written since the previous wait. In a view of PTX, the operands of the wait itself are
/// added. O(operands of asynchronous instructions).
pub(super) fn most_words(function: &Function, footprint: &RegisterFootprint) -> u32 {
    let mut most = 0;
    let mut in_flight: Vec<Word> = Vec::new();
    for block in function.blocks() {
        in_flight.clear();
        for inst in function.block_insts(block) {
            match asynchrony_of(function, footprint, inst) {
                Some(Asynchrony::Starts) => add(function, footprint, inst, Operand::def, &mut in_flight),
                Some(Asynchrony::Waits) => {
                    add(function, footprint, inst, Operand::reg, &mut in_flight);
                    in_flight.sort_unstable();
                    in_flight.dedup();
                    most = most.max(in_flight.len() as u32);
                    in_flight.clear();
                }
                Some(Asynchrony::Orders) | None => {}
            }
        }
    }
    most
}

/// Returns whether an instruction starts, orders or awaits asynchronous operations. Only some opcodes and inline
/// assembly can do so, and most functions have neither.
fn asynchrony_of(function: &Function, footprint: &RegisterFootprint, inst: Inst) -> Option<Asynchrony> {
    let summary = footprint.behaviours.opcode(function, inst);
    let name = function.opcodes().name(function.opcode(inst));
    let may_be = summary.kinds.intersects(Kinds::ASSEMBLY | Kinds::EXCHANGE)
        || name.starts_with("TCGEN05")
        || name.starts_with("tcgen05");
    may_be.then(|| asynchrony(function, inst)).flatten()
}

fn add(
    function: &Function,
    footprint: &RegisterFootprint,
    inst: Inst,
    select: fn(&Operand) -> Option<VReg>,
    in_flight: &mut Vec<Word>,
) {
    let regs = function.operands(inst).iter().filter_map(select);
    // Only accumulators and fragments: descriptors and addresses have 64 bits.
    let rows = regs.filter(|&reg| function.class(reg) == RegClass::B32 && !footprint.uniformity.is_uniform(reg));
    in_flight.extend(rows.flat_map(|reg| footprint.words.occupied(reg)));
}
