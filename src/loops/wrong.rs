//! Loops that ptxas unrolls wrongly for some numbers, and whether these numbers are likely in a kernel.
//!
//! A wrong trip count is likely if a known number suggests it: a step of more than 2¹⁶ (2⁴⁸ for 64 bits), a start or a
//! bound that is far from zero on the wrong side, or a step that is not a short binary fraction. Most loops have a
//! start and a bound in registers and a small step. Such loops are wrong only for numbers next to the ends of their
//! type.

use super::right::Right;
use crate::analysis::{Cfg, Counter, Dominators, FloatCounter, Loop, Loops, Occurrences, UnrolledLoops};
use crate::function::{Comparison, Function, Inst, Sign};
use crate::target::Classification;

/// A step of a `bits`-bit integer is large if it exceeds 2^(`bits` - this number).
const SMALL_STEP: u32 = 16;

/// Most significant bits of a step by which a float counter stays exact for thousands of iterations.
const SHORT_FRACTION: u32 = 12;

/// A loop whose trip count ptxas's code changes for some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLoop {
    /// The comparison that decides whether the loop continues.
    pub comparison: Inst,
    /// The fault.
    pub fault: Fault,
    /// Whether such numbers are likely in a kernel.
    pub is_likely: bool,
}

/// Kind of a wrong trip count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Start and bound, as signed numbers, differ by at least half of the number range, or the counter wraps.
    Signed,
    /// The counter passes the middle of the number range to a bound less than three steps after it.
    Equality,
    /// The counter wraps before its bound.
    Unsigned,
    /// The counter is a float, and is rounded in each iteration.
    Rounded,
}

/// Returns the loops of a function that ptxas unrolls wrongly for some numbers, in their order. O(n log n) in operands
/// and blocks if there are loops.
pub fn wrong_loops((function, classification): (&Function, &Classification)) -> Vec<WrongLoop> {
    let goes_back = |block| function.succs(block).iter().any(|&succ| succ <= block);
    if !function.blocks().any(goes_back) {
        return Vec::new();
    }
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg, &Dominators::new(function, &cfg));
    let occurrences = Occurrences::new(function, &|_| true);
    let unrolled = UnrolledLoops::new((function, classification), &loops, &occurrences);
    let wrong = |this: Loop| {
        unrolled.unrolling(this).ok()?;
        if let Some(counter) = unrolled.counter(this) {
            let right = Right { function, loops: &loops, occurrences: &occurrences, this, counter: &counter };
            let (fault, is_likely) = of_integer(&right, &counter)?;
            return Some(WrongLoop { comparison: counter.comparison, fault, is_likely });
        }
        let FloatCounter { comparison, step, bits } = unrolled.float_counter(this)?;
        Some(WrongLoop { comparison, fault: Fault::Rounded, is_likely: significant_bits(step, bits) > SHORT_FRACTION })
    };
    unrolled.loops().filter_map(wrong).collect()
}

fn of_integer(right: &Right<'_>, counter: &Counter) -> Option<(Fault, bool)> {
    let bits = right.bits();
    let is_up = counter.step > 0;
    let is_large = counter.step.unsigned_abs() > 1 << (bits - SMALL_STEP);
    let far = 1i64 << (bits - 2);
    let signed = |number: i64| if bits == 32 { i64::from(number as i32) } else { number };
    // The loop is likely wrong in two cases: the start is far below zero (for a counter that goes up), or the bound is
    // far above zero. For a counter that goes down, the signs are reversed.
    let is_against = |number: i64| if is_up { signed(number) <= -far } else { signed(number) >= far };
    let is_ahead = |number: i64| if is_up { signed(number) >= far } else { signed(number) <= -far };
    let is_known = counter.has_known_turns();
    if is_known && right.is_near() {
        return None;
    }
    let (fault, is_likely) = match counter.goes_on {
        Comparison::Ne if right.compares_signed() || right.never_passes_half() => return None,
        Comparison::Ne => (Fault::Equality, is_large || counter.bound.is_some()),
        Comparison::Lt(Sign::Unsigned) if counter.step == 1 => return None,
        Comparison::Gt(Sign::Unsigned) if counter.step == -1 => return None,
        order if order.is_signed_order() => {
            if order == Comparison::Lt(Sign::Signed)
                && counter.step == 1
                && counter.start.is_some_and(|at| signed(at) >= 0)
            {
                return None;
            }
            let is_far = counter.start.is_some_and(is_against) || counter.bound.is_some_and(is_ahead);
            (Fault::Signed, is_known || is_large || is_far)
        }
        _ => {
            let most = u64::MAX >> (64 - bits);
            let wraps = |bound: i64| (bound.cast_unsigned() & most) > most - counter.step.unsigned_abs().min(most);
            (Fault::Unsigned, is_known || is_large || (is_up && counter.bound.is_some_and(wraps)))
        }
    };
    // A 64-bit counter does not reach the ends of its type by small steps.
    (is_likely || bits == 32).then_some((fault, is_likely))
}

/// Returns the number of significant bits of a float: from the leading one to the last one of its fraction.
fn significant_bits(float: u64, bits: u32) -> u32 {
    let fraction_bits = if bits == 32 { 23 } else { 52 };
    let fraction = float & ((1 << fraction_bits) - 1);
    if fraction == 0 { 1 } else { 1 + fraction_bits - fraction.trailing_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the faults of a loop, bb1, that counts %0 and contains `body`; %1 is unknown.
    fn faults(start: &str, body: &str) -> Vec<(Fault, bool)> {
        let names = [
            "lt.s32/rrr",
            "lt.s32/rri",
            "ne.b32/rrr",
            "ne.s32/rrr",
            "ne.b32/rri",
            "lt.u32/rrr",
            "le.u32/rri",
            "lt.f32/rrr",
            "lt.s64/rrr",
        ];
        let opcodes: String = names.iter().map(|name| format!("opcode \"setp.{name}\"\n")).collect();
        let text = format!(
            "mfv 1\nfunction \"k\"\nkernel\nopcode LOAD\nopcode MOV_B32_i constant\nopcode \"add.s32/rri\"\n\
             opcode \"add.f32/rri\"\nopcode \"add.s64/rri\"\n{opcodes}opcode \"@bra/l\"\nopcode \"ret/\"\n\
             regs %0 B32 B32 B64 B64 B1\nbb0: frequency 1.0 depth 0 -> bb1\n  %0 = {start}\n  %1 = LOAD\n  %2 = LOAD\n  %3 = LOAD\n\
             bb1: frequency 9.0 depth 1 -> bb1 bb2\n{body}  \"@bra/l\" bb1, %4 :: terminator\n\
             bb2: frequency 1.0 depth 0\n  \"ret/\" :: terminator\nend\n"
        );
        let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let classification = Classification::by_name(function.opcodes());
        wrong_loops((&function, &classification)).iter().map(|wrong| (wrong.fault, wrong.is_likely)).collect()
    }

    /// Returns the faults of a loop that counts by `step` and continues by a comparison.
    fn integer(start: &str, step: i64, comparison: &str) -> Vec<(Fault, bool)> {
        faults(start, &format!("  %0 = \"add.s32/rri\" %0, {step}\n  %4 = \"setp.{comparison}\n"))
    }

    /// Comparisons by an order of signed numbers are wrong for numbers that are far apart. A large step or a number far
    /// from zero makes such numbers likely.
    #[test]
    fn signed_orders() {
        let to_any = "lt.s32/rrr\" %0, %1";
        assert_eq!(integer("MOV_B32_i 0", 1, to_any), []);
        assert_eq!(integer("LOAD", 1, to_any), [(Fault::Signed, false)]);
        assert_eq!(integer("LOAD", 1 << 16, to_any), [(Fault::Signed, false)]);
        assert_eq!(integer("LOAD", 1 << 24, to_any), [(Fault::Signed, true)]);
        assert_eq!(integer("MOV_B32_i -2000000000", 1, to_any), [(Fault::Signed, true)]);
        assert_eq!(integer("LOAD", 4, "lt.s32/rri\" %0, 2147483000"), [(Fault::Signed, true)]);
        assert_eq!(integer("MOV_B32_i -5", 1, "lt.s32/rri\" %0, 100"), []);
        assert_eq!(integer("MOV_B32_i -2000000000", 4096, "lt.s32/rri\" %0, 2000000000"), [(Fault::Signed, true)]);
        let wide = |step: i64| {
            faults("LOAD", &format!("  %2 = \"add.s64/rri\" %2, {step}\n  %4 = \"setp.lt.s64/rrr\" %2, %3\n"))
        };
        assert_eq!((wide(1 << 24), wide(1 << 60)), (vec![], vec![(Fault::Signed, true)]));
    }

    /// If the counter is compared for inequality, or by an order of unsigned numbers, the loop is wrong only near the
    /// middle of the number range, or if the counter wraps.
    #[test]
    fn other_comparisons() {
        assert_eq!(integer("LOAD", 1, "ne.s32/rrr\" %0, %1"), []);
        assert_eq!(integer("LOAD", 1, "ne.b32/rrr\" %0, %1"), [(Fault::Equality, false)]);
        assert_eq!(integer("LOAD", -1, "ne.b32/rri\" %0, 0"), []);
        assert_eq!(integer("LOAD", 1, "ne.b32/rri\" %0, 2147483649"), [(Fault::Equality, true)]);
        assert_eq!(integer("LOAD", 1, "lt.u32/rrr\" %0, %1"), []);
        assert_eq!(integer("LOAD", 3, "lt.u32/rrr\" %0, %1"), [(Fault::Unsigned, false)]);
        assert_eq!(integer("LOAD", 3, "le.u32/rri\" %0, -2"), [(Fault::Unsigned, true)]);
    }

    /// One tenth is rounded in each iteration, one half is exact.
    #[test]
    fn floats() {
        let by = |step: f32| {
            let body =
                format!("  %0 = \"add.f32/rri\" %0, float {:#x}\n  %4 = \"setp.lt.f32/rrr\" %0, %1\n", step.to_bits());
            faults("LOAD", &body)
        };
        assert_eq!(by(0.1), [(Fault::Rounded, true)]);
        assert_eq!(by(0.5), [(Fault::Rounded, false)]);
    }
}
