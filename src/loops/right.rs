//! Which loops ptxas unrolls rightly.
//!
//! ptxas 12.8, 13.0 and 13.5 leave the unrolled loop of four turns at `bound - 3 * step`, with the sign of the comparison and without
//! care for overflow. `ne.s32` and `ne.s64` come out right for all numbers, and `lt.u` and `gt.u` with a step of one. `ne.b32`, which
//! LLVM prints, counts as unsigned at one place and as signed at another: it is wrong where the counter passes half of all numbers to a
//! bound less than three steps behind. So registers are compared by inline assembly. The notebook has the pairs that were run.

use crate::analysis::Counter;
use crate::function::ptx_opcode::PtxOpcode;
use crate::function::{Comparison, Function, Inst, Sign, text_of_complement};

/// Whether the unrolled loop makes as many turns as the loop, whatever its registers hold.
pub(super) fn is_unrolled_rightly(function: &Function, counter: &Counter) -> bool {
    let right = Right { function, counter };
    match counter.goes_on {
        _ if counter.has_known_turns() => right.is_near(),
        Comparison::Ne => right.is_signed_in_text() || right.never_passes_half(),
        Comparison::Lt(Sign::Unsigned) => counter.step == 1,
        Comparison::Gt(Sign::Unsigned) => counter.step == -1,
        _ => false,
    }
}

struct Right<'a> {
    function: &'a Function,
    counter: &'a Counter,
}

impl Right<'_> {
    /// Whether start and bound are numbers less than half of all numbers of 32 bits apart.
    fn is_near(&self) -> bool {
        let Counter { start, bound, step, .. } = *self.counter;
        let distance = start.zip(bound).map(|(start, bound)| start.abs_diff(bound));
        distance.and_then(|distance| distance.checked_add(3 * step.unsigned_abs())).is_some_and(|all| all < 1 << 31)
    }

    /// Whether the complement is `ne.s32` or `ne.s64`: in PTX, the type of the comparison is ours to choose, and of LLVM's machine code
    /// where registers are compared.
    fn is_signed_in_text(&self) -> bool {
        PtxOpcode::of(self.name(self.counter.comparison)).is_some()
            || text_of_complement(self.function, self.counter.comparison).is_some()
    }

    /// Whether the counter cannot come to half of all numbers shortly ahead of its bound, a number that the comparison names.
    fn never_passes_half(&self) -> bool {
        let Counter { step, bound, .. } = *self.counter;
        let bits = if self.name(self.counter.comparison).starts_with("SETP_i64") { 64 } else { 32 };
        let half = 1u64 << (bits - 1);
        let steps = step.unsigned_abs().saturating_mul(3);
        let limit = if step > 0 { half } else { half.saturating_sub(steps) };
        bound.is_some_and(|bound| bound.cast_unsigned() & (u64::MAX >> (64 - bits)) < limit)
    }

    fn name(&self, inst: Inst) -> &str {
        self.function.opcodes().name(self.function.opcode(inst))
    }
}
