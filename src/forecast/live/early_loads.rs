//! How early loads could be issued.
//!
//! ptxas moves loads ahead of what waits for them as far as its registers go, which is why a kernel can need far more
//! than its PTX holds at any point.

use std::collections::BTreeMap;

use crate::forecast::footprint::behaviour::Behaviours;
use crate::forecast::footprint::memory_accesses::Spaces;
use crate::forecast::footprint::opcode_facts::{Kinds, Motion};
use crate::forecast::footprint::promotion::Promotion;
use crate::function::{Function, Inst, Operand, VReg};
use crate::index::IndexVec;

/// For each load the first instruction of its block that it could stand in front of. Memory for one function after
/// another.
#[derive(Debug, Default)]
pub(in crate::forecast) struct EarliestPlaces {
    places: IndexVec<Inst, Inst>,
    /// Where each register was defined last, if that is in the block at hand.
    defined: IndexVec<VReg, Inst>,
    /// Behind the last store to each word of the stack's variables in the block at hand.
    stored: BTreeMap<i64, Inst>,
}

/// Bytes of a word.
const WORD: i64 = 4;

/// A store that may write more words counts as one of all.
const MOST_STORED: i64 = 64;

impl EarliestPlaces {
    /// The first instruction that a load could stand in front of.
    #[inline]
    pub(in crate::forecast) fn of(&self, inst: Inst) -> Inst {
        self.places[inst]
    }

    /// Becomes the places of a function's loads, and of what they wait for: behind the definitions of what they read,
    /// as early as those could stand, and a load behind what writes the same memory, of the stack the same words. Debug values are no places: who
    /// could stand in front of one could stand in front of the instruction behind it. O(operands).
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
            // Behind the last write of each memory.
            let mut written = [start; Spaces::COUNT];
            stored.clear();
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
                    motion => {
                        let accesses = behaviours.accesses(inst);
                        let behind = accesses.reads.numbers().map(|space| written[space]).fold(start, Inst::max);
                        match promotion
                            .place(inst)
                            .map(|bytes| bytes.start.div_euclid(WORD)..(bytes.end + WORD - 1).div_euclid(WORD))
                        {
                            // Of two accesses of the stack, ptxas knows whether they meet.
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

    /// How far in front of its own place the last load of this code may stand.
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

    /// Loads go past stores to other memory and past shuffles; what nothing writes past all but fences.
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
