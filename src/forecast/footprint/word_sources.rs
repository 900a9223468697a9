//! Sources of the words of a result: the words that an opcode moves, extends, cuts off or masks.

use super::opcode_facts::{OpcodeSummary, reads_own_parameter};
use super::word_sharing::WordSharing;
use crate::function::{Function, Inst, Operand, RegClass, VReg};
use crate::target::{CopyFamily, Purity};

/// Source of a word of a result.
pub(in crate::forecast) enum Source<'a> {
    /// The word is zero.
    Zero,
    /// It is another constant, or is in constant memory.
    Constant,
    /// It is a word of an operand.
    Word(&'a Operand, u32),
    /// It is a word of one of two operands if the same word of the other operand is zero.
    NotZero([&'a Operand; 2], u32),
    /// It is computed.
    New,
}

/// A register that an instruction writes.
pub(in crate::forecast) struct Definition<'a> {
    pub(in crate::forecast) function: &'a Function,
    pub(in crate::forecast) summary: &'a OpcodeSummary,
    pub(in crate::forecast) inst: Inst,
    /// Index among the operands.
    pub(in crate::forecast) number: usize,
    pub(in crate::forecast) reg: VReg,
}

impl<'a> Definition<'a> {
    /// Returns the source of a word of the register.
    #[inline]
    pub(in crate::forecast) fn source(&self, index: u32) -> Source<'a> {
        let OpcodeSummary { info, sharing, .. } = self.summary;
        match sharing {
            WordSharing::Constants
                if info.family == CopyFamily::Immediate && self.part_of_immediate(0, index) == Some(0) =>
            {
                return Source::Zero;
            }
            WordSharing::Constants => return Source::Constant,
            WordSharing::Source | WordSharing::Offset => return self.part(0, index),
            // A constant at a computed address is loaded as from other memory.
            _ if info.purity == Purity::Reads
                && !self.uses().iter().any(|operand| operand.reg().is_some())
                && reads_own_parameter(self.function, info, self.inst) =>
            {
                return Source::Constant;
            }
            WordSharing::Nothing => return self.half_of_pair().map_or(Source::New, |lower| Source::Word(lower, 0)),
            _ => {}
        }
        // The words of a part of a wider register. Halves are read from the word that contains them.
        let bits = self.function.class(self.reg).bits();
        match (*sharing, index) {
            (WordSharing::Parts, _) => {
                let part = self.uses().first().and_then(Operand::reg);
                let words = part.map_or(0, |part| self.function.class(part).bits() / 32);
                match index.checked_div(words) {
                    Some(part) => self.part(part as usize, index % words),
                    None => Source::New,
                }
            }
            (WordSharing::Whole, _) => self.part(0, self.number as u32 * bits / 32 + index),
            (WordSharing::Part(part), _) => self.part(0, u32::from(part) * bits / 32 + index),
            (WordSharing::ZeroExtended, 1) => Source::Zero,
            (WordSharing::ZeroExtended | WordSharing::Lower, 0) => self.part(0, 0),
            (WordSharing::Masked, _) => match self.part_of_immediate(1, index) {
                Some(0) => Source::Zero,
                Some(u32::MAX) => self.part(0, index),
                _ => Source::New,
            },
            (WordSharing::ShiftedUp, 0) | (WordSharing::ShiftedDown, 1)
                if self.immediate(1).is_some_and(|by| by >= 32) =>
            {
                Source::Zero
            }
            (WordSharing::ShiftedUp, 1) if self.immediate(1) == Some(32) => self.part(0, 0),
            (WordSharing::ShiftedDown, 0) if self.immediate(1) == Some(32) => self.part(0, 1),
            (WordSharing::Loaded, 1) if self.extends_unsigned() => Source::Zero,
            (WordSharing::Combined, _) => match self.uses() {
                [left, right, ..] => Source::NotZero([left, right], index),
                _ => Source::New,
            },
            _ => Source::New,
        }
    }

    /// Whether a load of 64 bits reads at most 32 and zero-extends: its fourth and fifth sources are sign (1: signed)
    /// and width in bits (LLVM 22, `NVPTXInstrInfo.td`).
    fn extends_unsigned(&self) -> bool {
        self.immediate(3) != Some(1) && self.immediate(4).is_some_and(|bits| bits <= 32)
    }

    /// Returns the lower half of a pair whose upper half is the register. A load of several 16-bit values leaves them
    /// as in memory, two values in a word, because arithmetic and conversions read halves of words (ptxas 13.0.88:
    /// `LDS.64`, `HADD2.BF16_V2`, for `ld.shared.v4.b16`).
    fn half_of_pair(&self) -> Option<&'a Operand> {
        let is_load = matches!(self.summary.info.purity, Purity::Reads | Purity::ReadsInvariant);
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
