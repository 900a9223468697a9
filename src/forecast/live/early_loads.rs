//! The earliest places of loads.
//!
//! ptxas moves loads before the instructions that wait for them, as far as its registers allow. So a kernel can need
//! far more registers than are live at any point of its PTX.

use std::collections::BTreeMap;

use crate::forecast::footprint::behaviour::Behaviours;
use crate::forecast::footprint::memory_accesses::Spaces;
use crate::forecast::footprint::opcode_facts::{Kinds, Motion};
use crate::forecast::footprint::promotion::Promotion;
use crate::function::{Function, Inst, Operand, VReg};
use crate::index::IndexVec;

/// For each load, the first instruction of its block before which the load could be placed. The memory is reused for
/// the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct EarliestPlaces {
    places: IndexVec<Inst, Inst>,
    /// Last definition of each register, if it is in the current block.
    defined: IndexVec<VReg, Inst>,
    /// Position after the last store to each word of the stack variables in the current block.
    stored: BTreeMap<i64, Inst>,
}

/// Bytes of a word.
const WORD: i64 = 4;

/// Most words that a store may write. A larger store counts as a store to all words.
const MOST_STORED: i64 = 64;

impl EarliestPlaces {
    /// Returns the first instruction before which a load could be placed.
    #[inline]
    pub(in crate::forecast) fn of(&self, inst: Inst) -> Inst {
        self.places[inst]
    }

    /// Computes the earliest places of a function's loads and of their operands. An instruction stays after the
    /// definitions of its operands, which are at their own earliest places. A load also stays after writes of the same
    /// memory, and a load of stack variables after writes of the same words. Debug values are not places: an
    /// instruction that could precede a debug value could also precede the instruction after it. O(operands).
    pub(in crate::forecast) fn compute(&mut self, function: &Function, behaviours: &Behaviours, promotion: &Promotion) {
        let Self { places, defined, stored } = self;
        places.clear();
        places.extend(function.insts());
        defined.clear();
        defined.resize(function.num_regs(), Inst(0));
        let is_code = |inst| behaviours.opcode(function, inst).kinds.contains(Kinds::CODE);
        let is_load = |inst| behaviours.motion(inst) == Motion::Load;
        for block in function.blocks() {
            if !function.block_insts(block).any(is_load) {
                continue;
            }
            let start = function.block_range(block).start;
            // Position after the last write of each memory.
            let mut written = [start; Spaces::COUNT];
            stored.clear();
            // First of the debug values before the current instruction.
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
                    motion => {
                        let accesses = behaviours.accesses(inst);
                        let behind = accesses.reads.numbers().map(|space| written[space]).fold(start, Inst::max);
                        match promotion
                            .place(inst)
                            .map(|bytes| bytes.start.div_euclid(WORD)..(bytes.end + WORD - 1).div_euclid(WORD))
                        {
                            // ptxas knows whether two accesses of the stack overlap.
                            Some(words) if motion == Motion::Store && words.end - words.start <= MOST_STORED => {
                                words.for_each(|word| _ = stored.insert(word, next));
                                inst
                            }
                            Some(words) if motion == Motion::Load => {
                                stored.range(words).map(|(_, &behind)| behind).fold(behind, Inst::max)
                            }
                            _ => {
                                accesses.writes.numbers().for_each(|space| written[space] = next);
                                if motion == Motion::Load { behind } else { inst }
                            }
                        }
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

#[cfg(test)]
mod tests {
    use super::EarliestPlaces;
    use crate::forecast::footprint::behaviour::Behaviours;
    use crate::forecast::footprint::promotion::Promotion;
    use crate::function::{Function, Inst};

    /// Returns how far before its own place the last load of this code may be placed.
    fn ahead(insts: &[&str]) -> u32 {
        let text = format!(
            "mfv 1\nfunction \"f\"\nopcode BARRIER_CTA_SYNC_ALIGNED_ALL_i\nopcode INLINEASM\n\
             opcode INT_MEMBAR_CTA\nopcode LD_GLOBAL_NC_i32\nopcode LD_i32\nopcode ST_i32\nopcode anonymous_1\n\
             regs %0 B64 B64 B32 B32\n@0 = \"&st.shared.b32 [ $0 + 0 ], {{ $1 }};\"\nbb0: frequency 1.0 depth 0\n{}\nend\n",
            insts.join("\n")
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut places = EarliestPlaces::default();
        places.compute(&function, &Behaviours::new(&function), &Promotion::default());
        let last = Inst(function.num_insts() as u32 - 1);
        last.0 - places.of(last).0
    }

    const GLOBAL: &str = "%3 = LD_i32 0, 0, 1, 3, 32, -1, %0, 16 :: read global";
    const SHARED: &str = "%3 = LD_i32 0, 0, 3, 3, 32, -1, %0, 16 :: read shared";
    const CONSTANT: &str = "%3 = LD_GLOBAL_NC_i32 3, 32, -1, %0, 0";

    /// Loads move past stores to other memory and past shuffles. Loads of constant memory move past everything except
    /// fences.
    #[test]
    fn what_loads_go_past() {
        let store = "ST_i32 %2, 0, 0, 3, 32, %1, 0 :: write shared";
        let assembly = "INLINEASM @0, 1, 9, %1, 9, %2 :: opaque";
        let shuffle = "%2 = anonymous_1 %2, 1, 31, -1 :: read write ordered convergent";
        let barrier = "BARRIER_CTA_SYNC_ALIGNED_ALL_i 0 :: convergent opaque";
        let fence = "INT_MEMBAR_CTA :: opaque";
        let table =
            [(store, [1, 0, 1]), (assembly, [1, 0, 1]), (shuffle, [1, 1, 1]), (barrier, [0, 0, 1]), (fence, [0, 0, 0])];
        for (first, expected) in table {
            assert_eq!([GLOBAL, SHARED, CONSTANT].map(|load| ahead(&[first, load])), expected, "{first}");
        }
    }
}
