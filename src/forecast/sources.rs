//! Where the words of a result come from: whose words an opcode only moves, extends, cuts off or masks.

use super::behaviour::{Known, reads_own_parameter};
use crate::function::{Function, Inst, Operand, RegClass, Role, VReg};
use crate::target::{CopyFamily, OpcodeInfo, Purity};

/// Whose words an opcode's results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shares {
    /// Nobody's: they are computed, or read from memory.
    Nothing,
    /// They are no words: constants, addresses, parameters.
    Constants,
    /// The source's, as they are.
    Source,
    /// The sources' are parts of the result.
    Parts,
    /// The results are parts of the source.
    Whole,
    /// The result is this part of the source.
    Part(u8),
    /// The source's word, and zero above it.
    ZeroExtended,
    /// The source's lower word, and nothing that is known above it.
    Lower,
    /// Those that the mask, the second source, leaves.
    Masked,
    /// The lower word becomes the upper, where the second source says so.
    ShiftedUp,
    /// The upper word becomes the lower.
    ShiftedDown,
    /// Of two sources, the word of one where that of the other is zero.
    Combined,
    /// The source's, as they are, where it is only an address: a number is added that is part of the access.
    Offset,
    /// Nobody's; what a load of fewer bits fills up with zeros is nowhere.
    Loaded,
}

impl Shares {
    /// Whether nothing is done for it: a constant, or a copy.
    pub(super) fn is_free(self) -> bool {
        matches!(self, Self::Constants | Self::Source)
    }

    /// By an opcode's name and what it is.
    pub(super) fn of(name: &str, role: Role, info: &OpcodeInfo) -> Self {
        match info.family {
            CopyFamily::Immediate | CopyFamily::Symbol | CopyFamily::Parameter | CopyFamily::StackAddress => {
                return Self::Constants;
            }
            CopyFamily::Copy | CopyFamily::Move | CopyFamily::Proxy | CopyFamily::AddressSpace => return Self::Source,
            _ => {}
        }
        match (role, name) {
            (Role::Pack, _) => Self::Parts,
            (Role::Unpack, _) => Self::Whole,
            (Role::Extract { index, .. }, _) => Self::Part(index),
            (_, "CVT_u64_u32") => Self::ZeroExtended,
            (_, "CVT_s64_s32" | "CVT_u32_u64" | "CVT_s32_s64" | "CVT_u32_s64" | "CVT_s32_u64") => Self::Lower,
            (_, "AND_b64ri") => Self::Masked,
            (_, "SHL64_ri") => Self::ShiftedUp,
            (_, "SRL64_ri") => Self::ShiftedDown,
            (_, "OR_b64rr" | "OR_b64ri" | "XOR_b64rr" | "XOR_b64ri") => Self::Combined,
            (_, "ADD32ri" | "ADD64ri") => Self::Offset,
            (_, "LD_i64") => Self::Loaded,
            _ => Self::Nothing,
        }
    }
}

/// Where a word of a result comes from.
pub(super) enum Source<'a> {
    /// It is zero.
    Zero,
    /// It is another constant, or stands in constant memory.
    Constant,
    /// It is a word of an operand.
    Word(&'a Operand, u32),
    /// It is a word of one of two operands where that of the other is zero.
    NotZero([&'a Operand; 2], u32),
    /// It is computed.
    New,
}

/// One register that an instruction writes.
pub(super) struct Definition<'a> {
    pub(super) function: &'a Function,
    pub(super) known: &'a Known,
    pub(super) inst: Inst,
    /// Its number among the operands.
    pub(super) number: usize,
    pub(super) reg: VReg,
}

impl<'a> Definition<'a> {
    /// Where a word of the register comes from.
    #[inline]
    pub(super) fn source(&self, index: u32) -> Source<'a> {
        let Known { info, shares, .. } = self.known;
        match shares {
            Shares::Constants
                if info.family == CopyFamily::Immediate && self.part_of_immediate(0, index) == Some(0) =>
            {
                return Source::Zero;
            }
            Shares::Constants => return Source::Constant,
            Shares::Source | Shares::Offset => return self.part(0, index),
            _ if info.purity == Purity::Reads && reads_own_parameter(self.function, info, self.inst) => {
                return Source::Constant;
            }
            Shares::Nothing => return self.half_of_pair().map_or(Source::New, |lower| Source::Word(lower, 0)),
            _ => {}
        }
        // The words of a part of a wider register; halves are read out of the word that holds them.
        let bits = self.function.class(self.reg).bits();
        match (*shares, index) {
            (Shares::Parts, _) => {
                let part = self.uses().first().and_then(Operand::reg);
                let words = part.map_or(0, |part| self.function.class(part).bits() / 32);
                match index.checked_div(words) {
                    Some(part) => self.part(part as usize, index % words),
                    None => Source::New,
                }
            }
            (Shares::Whole, _) => self.part(0, self.number as u32 * bits / 32 + index),
            (Shares::Part(part), _) => self.part(0, u32::from(part) * bits / 32 + index),
            (Shares::ZeroExtended, 1) => Source::Zero,
            (Shares::ZeroExtended | Shares::Lower, 0) => self.part(0, 0),
            (Shares::Masked, _) => match self.part_of_immediate(1, index) {
                Some(0) => Source::Zero,
                Some(u32::MAX) => self.part(0, index),
                _ => Source::New,
            },
            (Shares::ShiftedUp, 0) | (Shares::ShiftedDown, 1) if self.immediate(1).is_some_and(|by| by >= 32) => {
                Source::Zero
            }
            (Shares::ShiftedUp, 1) if self.immediate(1) == Some(32) => self.part(0, 0),
            (Shares::ShiftedDown, 0) if self.immediate(1) == Some(32) => self.part(0, 1),
            (Shares::Loaded, 1) if self.extends_unsigned() => Source::Zero,
            (Shares::Combined, _) => match self.uses() {
                [left, right, ..] => Source::NotZero([left, right], index),
                _ => Source::New,
            },
            _ => Source::New,
        }
    }

    /// Whether a load of 64 bits reads at most 32 and fills up with zeros: its fourth and fifth sources are sign (1:
    /// signed) and width in bits (LLVM 22, `NVPTXInstrInfo.td`).
    fn extends_unsigned(&self) -> bool {
        self.immediate(3) != Some(1) && self.immediate(4).is_some_and(|bits| bits <= 32)
    }

    /// The lower half of a pair of which the register is the upper: what a load of several values of 16 bits reads stays
    /// as it stands in memory, two values to a word, for arithmetic and conversions read halves of words (ptxas 13.0.88:
    /// `LDS.64`, `HADD2.BF16_V2`, for `ld.shared.v4.b16`).
    fn half_of_pair(&self) -> Option<&'a Operand> {
        let is_load = matches!(self.known.info.purity, Purity::Reads | Purity::ReadsInvariant);
        let is_upper = is_load && self.number % 2 == 1 && self.function.class(self.reg) == RegClass::B16;
        is_upper.then(|| &self.function.operands(self.inst)[self.number - 1])
    }

    fn uses(&self) -> &'a [Operand] {
        let operands = self.function.operands(self.inst);
        let defs = operands.iter().take_while(|operand| operand.is_def()).count();
        &operands[defs..]
    }

    fn part(&self, number: usize, index: u32) -> Source<'a> {
        self.uses().get(number).map_or(Source::New, |operand| Source::Word(operand, index))
    }

    fn part_of_immediate(&self, number: usize, index: u32) -> Option<u32> {
        self.immediate(number).map(|value| (value >> (32 * index)) as u32)
    }

    fn immediate(&self, number: usize) -> Option<i64> {
        self.uses().get(number).and_then(Operand::as_immediate)
    }
}
