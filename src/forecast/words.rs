//! The 32-bit words that PTX's registers are made of, and which of them the hardware has to hold.
//!
//! A 64-bit register is two words, and often not two new ones: an extended value shares its lower word with its source,
//! the upper word of an unsigned extension is the zero register, packing and unpacking move nothing, constants and a
//! kernel's parameters are read where they are, and an upper half that nobody asks for is not kept.

use super::behaviour::{Behaviours, reads_own_parameter};
use super::demand::demanded_upper_halves;
use crate::analysis::Occurrences;
use crate::define_index;
use crate::function::{Function, Inst, Operand, RegClass, Role, VReg, Value};
use crate::index::IndexVec;
use crate::target::CopyFamily;

define_index! {
    /// A 32-bit word of a register; a register's words follow each other, lowest first.
    Word, "w"
}

/// Where the hardware holds a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere: it is zero, a constant, a parameter, or of no interest.
    Nowhere,
    /// Where it holds that word, which may be the word itself.
    With(Word),
}

/// The words of all registers.
pub(super) struct Words {
    first: IndexVec<VReg, u32>,
    places: IndexVec<Word, Place>,
}

impl Words {
    /// The words of the registers of a function and where they are. Only what one definition writes shares its place
    /// with another register: then both hold the same value for as long as both live. O(operands).
    pub(super) fn new(function: &Function, behaviours: &Behaviours, occurrences: &Occurrences) -> Self {
        let mut first = IndexVec::filled(0, function.num_regs());
        let mut count = 0;
        for reg in function.regs() {
            first[reg] = count;
            count += function.class(reg).words();
        }
        let mut words = Self { first, places: (0..count).map(|word| Place::With(Word(word))).collect() };
        let definitions = Definitions::new(function, occurrences);
        let mut seen = IndexVec::filled(false, function.num_regs());
        for inst in function.insts() {
            for (number, operand) in function.operands(inst).iter().enumerate() {
                let (true, Some(reg)) = (operand.is_def(), operand.reg()) else { continue };
                let definition = Definition { function, behaviours, definitions: &definitions, inst, number, reg };
                for index in 0..function.class(reg).words() {
                    let own = words.word(reg, index);
                    let place = words.place_of(&definition, index);
                    let is_first = !seen[reg];
                    words.places[own] = if is_first || words.places[own] == place { place } else { Place::With(own) };
                }
                seen[reg] = true;
            }
        }
        words
    }

    /// The number of words, held or not.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The words that the hardware holds for a register.
    pub(super) fn held(&self, function: &Function, reg: VReg) -> impl Iterator<Item = Word> + '_ {
        (0..function.class(reg).words()).filter_map(move |index| match self.places[self.word(reg, index)] {
            Place::With(word) => Some(word),
            Place::Nowhere => None,
        })
    }

    fn word(&self, reg: VReg, index: u32) -> Word {
        Word(self.first[reg] + index)
    }

    /// Where a definition finds a word.
    fn place_of(&self, definition: &Definition<'_>, index: u32) -> Place {
        let Definition { function, definitions, reg, .. } = *definition;
        let own = Place::With(self.word(reg, index));
        if index == 1 && function.class(reg) == RegClass::B64 && !definitions.upper_is_demanded[reg] {
            return Place::Nowhere;
        }
        match definition.source(index) {
            Source::Nowhere => Place::Nowhere,
            Source::Word(operand, index) => match operand.value {
                Value::Immediate(_) => Place::Nowhere,
                Value::Reg(source) if index < function.class(source).words() => {
                    match self.places[self.word(source, index)] {
                        Place::Nowhere => Place::Nowhere,
                        place if definitions.is_single[source] && definitions.is_single[reg] => place,
                        Place::With(_) => own,
                    }
                }
                _ => own,
            },
            Source::New => own,
        }
    }
}

/// What is known of registers from all their definitions and reads.
struct Definitions {
    is_single: IndexVec<VReg, bool>,
    upper_is_demanded: IndexVec<VReg, bool>,
}

impl Definitions {
    fn new(function: &Function, occurrences: &Occurrences) -> Self {
        let is_single = |reg| occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def()).take(2).count() == 1;
        Self {
            is_single: function.regs().map(is_single).collect(),
            upper_is_demanded: demanded_upper_halves(function, occurrences),
        }
    }
}

/// Where a word of a result comes from.
enum Source<'a> {
    /// It is zero or a constant, or stands in constant memory.
    Nowhere,
    /// It is a word of an operand.
    Word(&'a Operand, u32),
    /// It is computed.
    New,
}

/// One register that an instruction writes.
struct Definition<'a> {
    function: &'a Function,
    behaviours: &'a Behaviours,
    definitions: &'a Definitions,
    inst: Inst,
    /// Its number among the operands.
    number: usize,
    reg: VReg,
}

impl<'a> Definition<'a> {
    fn source(&self, index: u32) -> Source<'a> {
        let Self { function, inst, .. } = *self;
        let info = self.behaviours.info(function, inst);
        match info.family {
            CopyFamily::Immediate | CopyFamily::Symbol | CopyFamily::Parameter | CopyFamily::StackAddress => {
                return Source::Nowhere;
            }
            CopyFamily::Copy | CopyFamily::Move | CopyFamily::Proxy | CopyFamily::AddressSpace => {
                return self.part(0, index);
            }
            _ if reads_own_parameter(function, info, inst) => return Source::Nowhere,
            _ => {}
        }
        // The words of a part of a wider register; halves are read out of the word that holds them.
        let bits = function.class(self.reg).bits();
        match function.role(inst) {
            Role::Pack => {
                let words =
                    self.uses().first().and_then(Operand::reg).map_or(0, |part| function.class(part).bits() / 32);
                match index.checked_div(words) {
                    Some(part) => self.part(part as usize, index % words),
                    None => Source::New,
                }
            }
            Role::Unpack => self.part(0, self.number as u32 * bits / 32 + index),
            Role::Extract { index: part, .. } => self.part(0, u32::from(part) * bits / 32 + index),
            _ => self.by_name(index),
        }
    }

    /// Extensions, truncations, masks and shifts by words.
    fn by_name(&self, index: u32) -> Source<'a> {
        let name = self.function.opcodes().name(self.function.opcode(self.inst));
        match (name, index) {
            ("CVT_u64_u32", 1) => Source::Nowhere,
            ("CVT_u64_u32" | "CVT_s64_s32" | "CVT_u32_u64" | "CVT_s32_s64" | "CVT_u32_s64" | "CVT_s32_u64", 0) => {
                self.part(0, 0)
            }
            ("AND_b64ri", _) => match self.immediate(1).map(|mask| (mask >> (32 * index)) as u32) {
                Some(0) => Source::Nowhere,
                Some(u32::MAX) => self.part(0, index),
                _ => Source::New,
            },
            ("SHL64_ri", 0) | ("SRL64_ri", 1) if self.immediate(1).is_some_and(|by| by >= 32) => Source::Nowhere,
            ("SHL64_ri", 1) if self.immediate(1) == Some(32) => self.part(0, 0),
            ("SRL64_ri", 0) if self.immediate(1) == Some(32) => self.part(0, 1),
            ("LD_i64", 1) if self.extends_unsigned() => Source::Nowhere,
            _ => Source::New,
        }
    }

    /// Whether a load of 64 bits reads at most 32 and fills up with zeros: its fourth and fifth sources are sign (1:
    /// signed) and width in bits (LLVM 22, `NVPTXInstrInfo.td`).
    fn extends_unsigned(&self) -> bool {
        self.immediate(3) != Some(1) && self.immediate(4).is_some_and(|bits| bits <= 32)
    }

    fn uses(&self) -> &'a [Operand] {
        let operands = self.function.operands(self.inst);
        let defs = operands.iter().take_while(|operand| operand.is_def()).count();
        &operands[defs..]
    }

    fn part(&self, number: usize, index: u32) -> Source<'a> {
        self.uses().get(number).map_or(Source::New, |operand| Source::Word(operand, index))
    }

    fn immediate(&self, number: usize) -> Option<i64> {
        match self.uses().get(number).map(|operand| operand.value) {
            Some(Value::Immediate(value)) => Some(value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Word, Words};
    use crate::analysis::Occurrences;
    use crate::forecast::behaviour::Behaviours;
    use crate::function::{Function, VReg};
    use crate::index::EntityIndex;

    /// The words held for each register of a function with these registers and instructions.
    fn held(opcodes: &str, regs: &str, insts: &str) -> Vec<Vec<Word>> {
        let opcodes: String = opcodes.lines().map(|line| format!("opcode {line}\n")).collect();
        let text = format!(
            "mfv 1\nfunction \"f\"\n{opcodes}regs %0 {regs}\n@0 = \"&p\"\nbb0: frequency 1.0 depth 0\n{insts}\nend\n"
        );
        let function = Function::parse(&text).expect("a view");
        let occurrences = Occurrences::new(&function, &|_| true);
        let words = Words::new(&function, &Behaviours::new(&function), &occurrences);
        (0..function.num_regs()).map(|reg| words.held(&function, VReg::new(reg)).collect()).collect()
    }

    /// An unsigned extension is its source's word and a zero; a signed one computes its upper word.
    #[test]
    fn extensions() {
        let insts = "%0 = INT_PTX_SREG_TID_x\n%1 = CVT_u64_u32 %0, 0\n%2 = CVT_s64_s32 %0, 0\nST_i64 %1, %2";
        let held = held("CVT_s64_s32\nCVT_u64_u32\nINT_PTX_SREG_TID_x\nST_i64", "B32 B64 B64", insts);
        assert_eq!(held, [vec![Word(0)], vec![Word(0)], vec![Word(0), Word(4)]]);
    }

    /// Parameters and constants, addresses of other spaces and copies of them included, take no word.
    #[test]
    fn parameters_and_constants() {
        let insts =
            "%0 = LD_i64 0, 0, 101, 3, 64, -1, @0, 0\n%1 = cvta_to_global_64 %0\n%2 = MOV_B32_i 1\nST_i64 %1, %2";
        let held = held("LD_i64\nMOV_B32_i constant\nST_i64\ncvta_to_global_64", "B64 B64 B32", insts);
        assert_eq!(held, [vec![], vec![], vec![]] as [Vec<Word>; 3]);
    }

    /// A register with several definitions keeps words of its own, but for an upper half that all of them make zero.
    #[test]
    fn several_definitions() {
        let insts = "%0 = INT_PTX_SREG_TID_x\n%1 = CVT_u64_u32 %0, 0\n%1 = MOV_B64_i 3\nST_i64 %1";
        let held = held("CVT_u64_u32\nINT_PTX_SREG_TID_x\nMOV_B64_i constant\nST_i64", "B32 B64", insts);
        assert_eq!(held, [vec![Word(0)], vec![Word(1)]]);
    }

    /// What only masks and truncations read has no upper half, and what such registers are computed from neither.
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
