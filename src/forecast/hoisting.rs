//! How early loads could be issued.
//!
//! ptxas moves loads ahead of what waits for them as far as its registers go, which is why a kernel can need far more
//! than its PTX holds at any point.

use super::behaviour::{Behaviours, Motion};
use crate::function::{Function, Inst, Role, VReg};
use crate::index::IndexVec;

/// For each instruction the first of its block that it could stand in front of: behind the definitions of what it
/// reads, as early as those could stand, and a load behind stores and what is ordered. Debug values are no places: who
/// could stand in front of one could stand in front of the instruction behind it. O(operands).
pub(super) fn earliest_places(function: &Function, behaviours: &Behaviours) -> IndexVec<Inst, Inst> {
    let mut places: IndexVec<Inst, Inst> = function.insts().collect();
    // Where each register was defined last, if that is in the block at hand.
    let mut defined: IndexVec<VReg, Inst> = IndexVec::filled(Inst(0), function.num_regs());
    for block in function.blocks() {
        let start = function.block_range(block).start;
        let (mut ordered, mut stored) = (start, start);
        // The first of the debug values in front of the instruction at hand.
        let mut debug = start;
        for inst in function.block_insts(block) {
            if function.role(inst) == Role::Debug {
                continue;
            }
            let next = Inst(inst.0 + 1);
            places.range_mut(debug..inst).fill(inst);
            debug = next;
            let operands = function.operands(inst);
            let bound = match behaviours.motion(inst) {
                Motion::Free => start,
                Motion::Load => ordered.max(stored),
                Motion::Store => {
                    stored = next;
                    inst
                }
                Motion::Ordered => {
                    ordered = next;
                    inst
                }
            };
            let reads = operands.iter().filter(|operand| !operand.is_def()).filter_map(|operand| operand.reg());
            let place = reads.map(|reg| defined[reg]).fold(bound, Inst::max).min(inst);
            let place = if function.role(place) == Role::Debug { places[place] } else { place };
            places[inst] = place;
            for reg in operands.iter().filter(|operand| operand.is_def()).filter_map(|operand| operand.reg()) {
                defined[reg] = Inst(place.0 + 1);
            }
        }
    }
    places
}
