//! The 32-bit words of PTX's registers, and those that occupy a hardware register.
//!
//! A 64-bit register has two words, which often need no new hardware registers. An extended value shares its lower word
//! with its source. The upper word of an unsigned extension is the zero register. Packing and unpacking move nothing.
//! Constants and a kernel's parameters are read from their own storage. An unread upper half is not kept.

use super::behaviour::Behaviours;
use super::folded_addresses::Addresses;
use super::upper_halves::UpperHalves;
use super::word_sharing::WordSharing;
use super::word_sources::{Definition, Source};
#[cfg(test)]
use crate::analysis::{Cfg, Dominators};
use crate::analysis::{LiveRanges, Occurrences};
use crate::define_index;
use crate::function::{Function, Operand, RegClass, VReg, Value};
use crate::index::IndexVec;
use crate::target::Purity;

define_index! {
    /// A 32-bit word of a register; a register's words follow each other, lowest first.
    Word, "w"
}

/// Place of a word in the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::forecast) enum WordLocation {
    /// No place: the word is not read.
    Nowhere,
    /// No place: the word is zero.
    Zero,
    /// No place: the word is another constant, or is in constant memory.
    Constant,
    /// The place of another word, or the word's own place.
    With(Word),
}

/// Words of all registers. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(in crate::forecast) struct Words {
    /// First word of each register, then the end.
    first: IndexVec<VReg, Word>,
    places: IndexVec<Word, WordLocation>,
    /// Register of each word.
    owners: IndexVec<Word, VReg>,
    definitions: Definitions,
    /// Whether a definition of the register has been visited.
    seen: IndexVec<VReg, bool>,
    widest: u32,
}

impl Words {
    /// Computes the words of a function's registers and their places. Only registers with one definition share places
    /// with others: both then hold the same value while both are live. O(operands).
    pub(in crate::forecast) fn compute(
        &mut self,
        function: &Function,
        behaviours: &Behaviours,
        (occurrences, ranges): (&Occurrences, &LiveRanges),
    ) {
        self.first.clear();
        self.first.reserve(function.num_regs() + 1);
        self.places.clear();
        self.owners.clear();
        for reg in function.regs() {
            self.first.push(self.places.next_id());
            for _ in 0..function.class(reg).words() {
                let own = self.owners.push(reg);
                self.places.push(WordLocation::With(own));
            }
        }
        self.first.push(self.places.next_id());
        self.definitions.compute(function, behaviours, (occurrences, ranges));
        self.widest = 0;
        self.seen.clear();
        self.seen.resize(function.num_regs(), false);
        for inst in function.insts() {
            let summary = behaviours.opcode(function, inst);
            let computes = match summary.sharing {
                WordSharing::Nothing => summary.info.purity != Purity::Reads,
                WordSharing::Offset => !self.definitions.addresses.are_any(),
                _ => false,
            };
            let mut written = 0;
            for (number, operand) in function.operands(inst).iter().enumerate() {
                let Some(reg) = operand.def() else { continue };
                written += function.class(reg).words();
                let definition = Definition { function, summary, inst, number, reg };
                let is_first = !std::mem::replace(&mut self.seen[reg], true);
                // Computed words have their own places from the start. Halves may be results of a load.
                let is_half = function.class(reg) == RegClass::B16;
                if computes && is_first && !is_half && self.definitions.wants_all_words(function, reg) {
                    continue;
                }
                for index in 0..function.class(reg).words() {
                    let own = self.word(reg, index);
                    let place = self.place_of(&definition, index);
                    // A register that holds different constants after different definitions needs a place.
                    let is_same = self.places[own] == place && place != WordLocation::Constant;
                    self.places[own] = if is_first || is_same { place } else { WordLocation::With(own) };
                }
            }
            self.widest = self.widest.max(written);
        }
    }

    /// Computes the words of a function.
    #[cfg(test)]
    pub(in crate::forecast) fn new(function: &Function, behaviours: &Behaviours, occurrences: &Occurrences) -> Self {
        let cfg = Cfg::new(function);
        let all: Vec<VReg> = function.regs().collect();
        let ranges = LiveRanges::new(function, &cfg, &Dominators::new(function, &cfg), occurrences, &all);
        let mut words = Self::default();
        words.compute(function, behaviours, (occurrences, &ranges));
        words
    }

    /// Removes the places of a register's words because the register is not read. No other register may share these
    /// words.
    pub(in crate::forecast) fn drop_all(&mut self, reg: VReg) {
        for index in 0..self.first[VReg(reg.0 + 1)].0 - self.first[reg].0 {
            let word = self.word(reg, index);
            self.places[word] = WordLocation::Nowhere;
        }
    }

    /// Returns the most words that an instruction writes, with or without places.
    pub(in crate::forecast) fn widest(&self) -> u32 {
        self.widest
    }

    /// Returns the number of words, with or without places.
    pub(in crate::forecast) fn len(&self) -> usize {
        self.places.len()
    }

    /// Yields the places of a register's words.
    #[inline]
    pub(in crate::forecast) fn occupied(&self, reg: VReg) -> impl Iterator<Item = Word> + '_ {
        let places = self.places.range(self.first[reg]..self.first[VReg(reg.0 + 1)]);
        places.iter().filter_map(|place| match place {
            WordLocation::With(word) => Some(*word),
            WordLocation::Nowhere | WordLocation::Zero | WordLocation::Constant => None,
        })
    }

    /// Yields the words, each with its register and place.
    #[inline]
    pub(in crate::forecast) fn iter(&self) -> impl Iterator<Item = (Word, VReg, WordLocation)> + '_ {
        let owned = self.owners.iter_enumerated().zip(self.places.iter());
        owned.map(|((word, &reg), &place)| (word, reg, place))
    }

    /// Returns the register of a word that has its own place.
    #[inline]
    pub(in crate::forecast) fn holder(&self, word: Word) -> Option<VReg> {
        (self.places[word] == WordLocation::With(word)).then(|| self.owners[word])
    }

    /// Returns the register's own word, whatever the word's place is.
    #[inline]
    fn word(&self, reg: VReg, index: u32) -> Word {
        Word(self.first[reg].0 + index)
    }

    /// Returns the place of a word at its definition.
    #[inline]
    fn place_of(&self, definition: &Definition<'_>, index: u32) -> WordLocation {
        let Definition { function, reg, .. } = *definition;
        let own = WordLocation::With(self.word(reg, index));
        let definitions = &self.definitions;
        if index == 1 && !definitions.wants_all_words(function, reg) {
            return WordLocation::Nowhere;
        }
        if definition.summary.sharing == WordSharing::Offset && !definitions.addresses.has(reg) {
            return own;
        }
        match definition.source(index) {
            Source::Constant => WordLocation::Constant,
            Source::Zero => WordLocation::Zero,
            Source::Word(operand, index) => self.shared(definition, operand, index).unwrap_or(own),
            Source::NotZero(operands, index) => {
                let is_zero = |operand: &Operand| {
                    operand.reg().is_none_or(|source| definitions.is_single[source])
                        && self.shared(definition, operand, index) == Some(WordLocation::Zero)
                };
                let other = match operands.map(is_zero) {
                    [true, _] => Some(operands[1]),
                    [_, true] => Some(operands[0]),
                    _ => None,
                };
                other.and_then(|operand| self.shared(definition, operand, index)).unwrap_or(own)
            }
            Source::New => own,
        }
    }

    /// Returns the place of a source's word if the result's word may share it.
    #[inline]
    fn shared(&self, definition: &Definition<'_>, operand: &Operand, index: u32) -> Option<WordLocation> {
        let Definition { function, reg, .. } = *definition;
        match operand.value {
            Value::Immediate(value) if (value >> (32 * index)) as u32 == 0 => Some(WordLocation::Zero),
            Value::Immediate(_) => Some(WordLocation::Constant),
            Value::Reg(source) if index < function.class(source).words() => {
                let place = self.places[self.word(source, index)];
                let is_single = &self.definitions.is_single;
                let may_share = !matches!(place, WordLocation::With(_)) || (is_single[source] && is_single[reg]);
                may_share.then_some(place)
            }
            _ => None,
        }
    }
}

/// Facts of registers, from all their definitions and reads.
#[derive(Debug, Default)]
struct Definitions {
    is_single: IndexVec<VReg, bool>,
    addresses: Addresses,
    upper_is_demanded: UpperHalves,
}

impl Definitions {
    fn compute(
        &mut self,
        function: &Function,
        behaviours: &Behaviours,
        (occurrences, ranges): (&Occurrences, &LiveRanges),
    ) {
        self.is_single.clear();
        self.is_single.extend(function.regs().map(|reg| ranges.has_one_definition(reg)));
        self.addresses.compute(function, behaviours, occurrences);
        self.upper_is_demanded.compute(function, behaviours, occurrences);
    }

    /// Whether all words of the register are read.
    #[inline]
    fn wants_all_words(&self, function: &Function, reg: VReg) -> bool {
        function.class(reg) != RegClass::B64 || self.upper_is_demanded.of(reg)
    }
}

#[cfg(test)]
mod tests {
    use super::{Word, Words};
    use crate::analysis::Occurrences;
    use crate::forecast::footprint::behaviour::Behaviours;
    use crate::function::{Function, VReg};
    use crate::index::EntityIndex;

    /// Returns the places of each register's words, for a function with these registers and instructions.
    fn held(opcodes: &str, regs: &str, insts: &str) -> Vec<Vec<Word>> {
        held_with("", opcodes, regs, insts)
    }

    /// Returns the places for a function with `text` as symbol 1.
    fn held_with(text: &str, opcodes: &str, regs: &str, insts: &str) -> Vec<Vec<Word>> {
        let opcodes: String = opcodes.lines().map(|line| format!("opcode {line}\n")).collect();
        let text = format!(
            "mfv 1\nfunction \"f\"\n{opcodes}regs %0 {regs}\n@0 = \"&p\"\n@1 = \"&{text}\"\n\
             bb0: frequency 1.0 depth 0\n{insts}\nend\n"
        );
        let function = Function::parse(&text).expect("a view");
        let occurrences = Occurrences::new(&function, &|_| true);
        let words = Words::new(&function, &Behaviours::new(&function), &occurrences);
        (0..function.num_regs()).map(|reg| words.occupied(VReg::new(reg)).collect()).collect()
    }

    /// An unsigned extension has its source's word and a zero. A signed extension computes its upper word.
    #[test]
    fn extensions() {
        let insts = "%0 = INT_PTX_SREG_TID_x\n%1 = CVT_u64_u32 %0, 0\n%2 = CVT_s64_s32 %0, 0\nST_i64 %1, %2";
        let held = held("CVT_s64_s32\nCVT_u64_u32\nINT_PTX_SREG_TID_x\nST_i64", "B32 B64 B64", insts);
        assert_eq!(held, [vec![Word(0)], vec![Word(0)], vec![Word(0), Word(4)]]);
    }

    /// Parameters and constants take no word. The same holds for addresses of other spaces, and for their copies.
    #[test]
    fn parameters_and_constants() {
        let insts =
            "%0 = LD_i64 0, 0, 101, 3, 64, -1, @0, 0\n%1 = cvta_to_global_64 %0\n%2 = MOV_B32_i 1\nST_i64 %1, %2";
        let held = held("LD_i64\nMOV_B32_i constant\nST_i64\ncvta_to_global_64", "B64 B64 B32", insts);
        assert_eq!(held, [vec![], vec![], vec![]] as [Vec<Word>; 3]);
    }

    /// A register with several definitions keeps its own words, except for an upper half that all definitions set to
    /// zero.
    #[test]
    fn several_definitions() {
        let insts = "%0 = INT_PTX_SREG_TID_x\n%1 = CVT_u64_u32 %0, 0\n%1 = MOV_B64_i 3\nST_i64 %1";
        let held = held("CVT_u64_u32\nINT_PTX_SREG_TID_x\nMOV_B64_i constant\nST_i64", "B32 B64", insts);
        assert_eq!(held, [vec![Word(0)], vec![Word(1)]]);
    }

    /// If one of two words is zero, their combination is the other word and needs no place.
    #[test]
    fn combined_with_zero() {
        let insts = "%0 = INT_PTX_SREG_TID_x\n%1 = LD_i64 0, 0, 1, 3, 64, -1, @0, 0\n%2 = CVT_u64_u32 %0, 0\n\
                     %3 = OR_b64rr %2, %1\n%4 = XOR_b64ri %1, 7\nST_i64 %3, %4";
        let opcodes = "CVT_u64_u32\nINT_PTX_SREG_TID_x\nLD_i64\nOR_b64rr\nXOR_b64ri\nST_i64";
        let held = held(opcodes, "B32 B64 B64 B64 B64", insts);
        assert_eq!(held[3..], [vec![Word(5), Word(2)], vec![Word(7), Word(2)]]);
    }

    /// The 16-bit results of one load share words by twos, unless a register of the pair has another definition.
    #[test]
    fn halves_that_are_loaded_together() {
        let load = "%0, %1, %2, %3 = LDV_i16_v4 0, 0, 3, 3, 16, -1, %4, 0 :: read shared";
        let of = |more: &str| {
            let insts = format!("%4 = INT_PTX_SREG_TID_x\n{load}\n{more}ST_i16 %0, %1, %2, %3");
            held("INT_PTX_SREG_TID_x\nLDV_i16_v4\nMOV_B16_i constant\nST_i16", "B16 B16 B16 B16 B32", &insts)
        };
        let words = |numbers: [u32; 4]| numbers.map(|number| vec![Word(number)]).to_vec();
        assert_eq!(of("")[..4], words([0, 0, 2, 2]));
        assert_eq!(of("%1 = MOV_B16_i 7\n")[..4], words([0, 1, 2, 2]));
    }

    /// A register that is only an address of inline assembly is a base and a constant, and needs no words. A register
    /// with other uses needs its own.
    #[test]
    fn addresses_in_assembly() {
        let of = |text: &str| {
            let insts = "%0 = LD_i64 0, 0, 1, 3, 64, -1, @0, 0\n%1 = ADD64ri %0, 16\n\
                         INLINEASM @1, 1, 10, def %2, 9, %1 :: opaque\nST_i64 %0, %2";
            held_with(text, "LD_i64\nADD64ri\nINLINEASM\nST_i64", "B64 B64 B32", insts)
        };
        assert_eq!(of("ld.global.b32 $0, [ $1 + 0 ];")[1], [Word(0), Word(1)]);
        assert_eq!(of("ld.global.b32 $0, [$1]; xor.b32 $0, $0, $1;")[1], [Word(2), Word(3)]);
    }

    /// Shared memory has addresses of 32 bits: a register that is only such an address has no upper half, and neither
    /// have the registers from which it is computed. A stored value has its own upper half, and so has a generic
    /// address.
    #[test]
    fn addresses_of_32_bits() {
        let of = |access: &str| {
            let insts = format!("%0 = LD_i64 0, 0, 1, 3, 64, -1, @0, 0\n%1 = ADD64rr %0, %0\n{access}");
            held("LD_i64\nADD64rr\nST_i64\nINT_PTX_ATOM_ADD_64_Sr", "B64 B64 B64", &insts)
        };
        let both = of("%2 = LD_i64 0, 0, 3, 3, 64, -1, %1, 0 :: read shared\nST_i64 %2, 0, 0, 1, 64, %2, 0");
        assert_eq!(both, [vec![Word(0)], vec![Word(2)], vec![Word(4), Word(5)]]);
        for whole in [
            "%2 = LD_i64 0, 0, 0, 3, 64, -1, %1, 0 :: read\nST_i64 %2, 0, 0, 1, 64, %2, 0",
            "%2 = ADD64rr %1, %1\nST_i64 %1, 0, 0, 3, 64, %2, 0 :: write shared",
            "%2 = INT_PTX_ATOM_ADD_64_Sr %0, 0, %1 :: read write shared",
        ] {
            assert_eq!(of(whole)[1], [Word(2), Word(3)], "{whole}");
        }
        assert_eq!(of("%2 = INT_PTX_ATOM_ADD_64_Sr %1, 0, %0 :: read write shared")[1], [Word(2)]);
    }

    /// A register that only masks and truncations read has no upper half, and neither have the registers from which it
    /// is computed.
    #[test]
    fn upper_halves_that_nobody_reads() {
        let insts = "%0 = MULT64rr %2, %2\n%1 = AND_b64ri %0, 4294967295\n%3 = ADD64ri %0, 1\n%4 = CVT_u32_u64 %3, 0\n\
                     ST_i64 %1, %4";
        let held = held("ADD64ri\nAND_b64ri\nCVT_u32_u64\nMULT64rr\nST_i64", "B64 B64 B64 B64 B32", insts);
        assert_eq!(held[0], [Word(0)]);
        assert_eq!(held[1], [Word(0)]);
        assert_eq!(held[3].len(), 1);
        assert_eq!(held[4], held[3]);
    }
}
