//! How early loads could be issued.
//!
//! ptxas moves loads ahead of what waits for them as far as its registers go, which is why a kernel can need far more
//! than its PTX holds at any point.

use super::behaviour::{Behaviours, Kinds, Motion};
use crate::function::{Function, Inst, Operand, VReg};
use crate::index::IndexVec;

/// For each load the first instruction of its block that it could stand in front of. Memory for one function after
/// another.
#[derive(Debug, Default)]
pub(super) struct EarliestPlaces {
    places: IndexVec<Inst, Inst>,
    /// Where each register was defined last, if that is in the block at hand.
    defined: IndexVec<VReg, Inst>,
}

impl EarliestPlaces {
    /// The first instruction that a load could stand in front of.
    #[inline]
    pub(super) fn of(&self, inst: Inst) -> Inst {
        self.places[inst]
    }

    /// Becomes the places of a function's loads, and of what they wait for: behind the definitions of what they read,
    /// as early as those could stand, and a load behind stores and what is ordered. Debug values are no places: who
    /// could stand in front of one could stand in front of the instruction behind it. O(operands).
    pub(super) fn compute(&mut self, function: &Function, behaviours: &Behaviours) {
        let Self { places, defined } = self;
        places.clear();
        places.extend(function.insts());
        defined.clear();
        defined.resize(function.num_regs(), Inst(0));
        let is_code = |inst| behaviours.known(function, inst).kinds.contains(Kinds::CODE);
        let is_load = |inst| behaviours.motion(inst) == Motion::Load;
        for block in function.blocks() {
            if !function.block_insts(block).any(is_load) {
                continue;
            }
            let start = function.block_range(block).start;
            let (mut ordered, mut stored) = (start, start);
            // The first of the debug values in front of the instruction at hand.
            let mut debug = start;
            let mut has_debug = false;
            for inst in function.block_insts(block) {
                if !is_code(inst) {
                    has_debug = true;
                    continue;
                }
                let next = Inst(inst.0 + 1);
                if debug < inst {
                    places.range_mut(debug..inst).fill(inst);
                }
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
                let reads = operands.iter().filter_map(Operand::read_reg);
                let place = reads.map(|reg| defined[reg]).fold(bound, Inst::max).min(inst);
                let place = if has_debug && !is_code(place) { places[place] } else { place };
                places[inst] = place;
                for reg in operands.iter().filter_map(Operand::def) {
                    defined[reg] = Inst(place.0 + 1);
                }
            }
        }
    }
}
