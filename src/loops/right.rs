//! The loops that ptxas unrolls correctly.
//!
//! ptxas 12.8, 13.0 and 13.5 leave the loop that is unrolled by four at `bound - 3 * step`, computed with the sign of
//! the comparison, and ignore overflow. `ne.s32` and `ne.s64` are correct for all numbers, and `lt.u` and `gt.u` are
//! correct with a step of one. `ne.b32`, which LLVM prints, counts as unsigned at one place and as signed at another.
//! It is therefore wrong if the counter passes the middle of the number range and the bound is less than three steps
//! after the middle. For this reason, LLVM's code compares registers by inline assembly. The notebook has the numbers
//! that were tested.

use crate::analysis::{Counter, Loop, Loops, Occurrences};
use crate::function::ptx_opcode::{PtxOpcode, as_llvm};
use crate::function::{
    Comparison, Effects, Function, Inst, Operand, RegClass, Role, Sign, VReg, Value, text_of_complement,
};

/// Most successive copies through which a value is followed.
const LONGEST_CHAIN: u32 = 4;

/// A register with more definitions counts as unknown, so that following a chain of copies takes bounded time.
const MOST_DEFINITIONS: usize = 4;

/// A 64-bit counter that starts at a number of at most 62 bits takes 2⁵⁰ iterations, or weeks, to pass the middle of
/// the number range by steps of at most this size.
const LARGEST_STEP: u64 = 1 << 12;

/// Whether the unrolled loop has the same trip count as the loop, whatever its registers hold.
pub(super) fn is_unrolled_rightly(
    function: &Function,
    loops: &Loops,
    occurrences: &Occurrences,
    this: Loop,
    counter: &Counter,
) -> bool {
    let right = Right { function, loops, occurrences, this, counter };
    match counter.goes_on {
        _ if counter.has_known_turns() => right.is_near(),
        Comparison::Ne => right.is_signed_in_text() || right.never_passes_half(),
        Comparison::Lt(Sign::Unsigned) => counter.step == 1,
        Comparison::Gt(Sign::Unsigned) => counter.step == -1,
        _ => false,
    }
}

/// Facts about a loop and its counter.
pub(super) struct Right<'a> {
    pub(super) function: &'a Function,
    pub(super) loops: &'a Loops,
    pub(super) occurrences: &'a Occurrences,
    pub(super) this: Loop,
    pub(super) counter: &'a Counter,
}

impl Right<'_> {
    /// Whether start and bound are known numbers whose distance, plus three steps, is less than half of the 32-bit
    /// range.
    pub(super) fn is_near(&self) -> bool {
        let Counter { start, bound, step, .. } = *self.counter;
        let distance = start.zip(bound).map(|(start, bound)| start.abs_diff(bound));
        distance.and_then(|distance| distance.checked_add(3 * step.unsigned_abs())).is_some_and(|all| all < 1 << 31)
    }

    /// Whether the changed comparison is `ne.s32` or `ne.s64`. In PTX, the edit chooses the type of the comparison. In
    /// LLVM's machine code, it does so only if registers are compared.
    fn is_signed_in_text(&self) -> bool {
        PtxOpcode::of(self.name(self.counter.comparison)).is_some()
            || text_of_complement(self.function, self.counter.comparison).is_some()
    }

    /// Whether the PTX compares signed numbers.
    pub(super) fn compares_signed(&self) -> bool {
        let opcode = PtxOpcode::of(self.name(self.counter.comparison));
        opcode.is_some_and(|opcode| opcode.mnemonic.ends_with(".s32") || opcode.mnemonic.ends_with(".s64"))
    }

    /// Returns the width of the counter in bits.
    pub(super) fn bits(&self) -> u32 {
        if self.function.class(self.counter.counted) == RegClass::B64 { 64 } else { 32 }
    }

    /// Whether the counter cannot pass the middle of the number range shortly before its bound.
    pub(super) fn never_passes_half(&self) -> bool {
        let Counter { step, .. } = *self.counter;
        let bits = self.bits();
        let half = 1u64 << (bits - 1);
        let steps = step.unsigned_abs().saturating_mul(3);
        let limit = if step > 0 { half } else { half.saturating_sub(steps) };
        let is_below = self.most_of_bound(bits).is_some_and(|most| most < limit);
        let takes_weeks = bits == 64
            && step.unsigned_abs() <= LARGEST_STEP
            && (self.counter.start.is_some_and(|start| start.unsigned_abs() < 1 << 62) || self.is_address());
        is_below || takes_weeks
    }

    /// Returns the largest unsigned value of the bound.
    fn most_of_bound(&self, bits: u32) -> Option<u64> {
        let mask = u64::MAX >> (64 - bits);
        match self.counter.bound {
            Some(bound) => Some(bound.cast_unsigned() & mask),
            None => self.most(self.counter.against?, bits, LONGEST_CHAIN),
        }
    }

    /// Returns the largest unsigned value of any definition. A bound may have several definitions, because coalescing
    /// may merge it with a value that is set on a path around the loop.
    fn most(&self, reg: VReg, bits: u32, chain: u32) -> Option<u64> {
        let occurrences = self.occurrences.of(reg).iter();
        let definitions = occurrences.filter(|occurrence| occurrence.is_def()).map(|occurrence| occurrence.inst);
        let mut most = None;
        for (number, definition) in definitions.enumerate() {
            let this = (number < MOST_DEFINITIONS).then(|| self.most_of(definition, bits, chain)).flatten()?;
            most = most.max(Some(this));
        }
        most
    }

    /// Returns the largest unsigned value that a definition may have.
    fn most_of(&self, definition: Inst, bits: u32, chain: u32) -> Option<u64> {
        let operands = self.function.operands(definition);
        if let Some((_, from)) = self.function.as_copy(definition) {
            return self.most(from, bits, chain.checked_sub(1)?);
        }
        let number = operands.last().and_then(Operand::as_immediate);
        if self.function.role(definition) == Role::Constant {
            return Some(number?.cast_unsigned() & (u64::MAX >> (64 - bits)));
        }
        match &*as_llvm(self.name(definition)) {
            "AND_b32ri" | "AND_b64ri" => Some(number?.cast_unsigned() & (u64::MAX >> (64 - bits))),
            "SRL32_ri" => Some(u64::from(u32::MAX) >> u32::try_from(number?).ok().filter(|&by| by < 32)?),
            "SRL64_ri" => Some(u64::MAX >> u32::try_from(number?).ok().filter(|&by| by < 64)?),
            "CVT_u64_u32" => Some(u32::MAX.into()),
            _ => None,
        }
    }

    /// Whether the loop accesses memory at its counter. The counter is then an address, and no address is near the
    /// middle of the number range.
    fn is_address(&self) -> bool {
        let is_base = |inst: Inst| {
            let accesses = Effects::READ | Effects::WRITE | Effects::MAY_FAULT;
            self.function.effects(inst).intersects(accesses)
                && self.function.operands(inst).windows(2).any(|pair| {
                    pair[0].read_reg() == Some(self.counter.counted) && matches!(pair[1].value, Value::Immediate(_))
                })
        };
        self.function.class(self.counter.counted) == RegClass::B64
            && self
                .occurrences
                .of(self.counter.counted)
                .iter()
                .any(|occurrence| self.loops.contains(self.this, occurrence.block) && is_base(occurrence.inst))
    }

    fn name(&self, inst: Inst) -> &str {
        self.function.opcodes().name(self.function.opcode(inst))
    }
}
