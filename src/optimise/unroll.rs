//! The loops that LLVM unrolls, and their unroll factors, if a kernel chooses them.
//!
//! A loop is decided directly before LLVM's pass that unrolls loops fully. The inner loops that LLVM unrolls are
//! already unrolled at that point, so the size of an iteration is known.

#[cfg(test)]
mod tests;

use crate::config::Unroll;

/// Size up to which NVIDIA's compiler obeys a pragma, in LLVM's estimate
/// (docs/notebook/2026-11-27-how-nvidias-compiler-unrolls.md).
const MOST_OF_NVIDIA: u64 = 32 * 1024;

/// Size up to which LLVM obeys a pragma.
const MOST_OF_LLVM: u64 = 16 * 1024 - 1;

/// Unroll factor of NVIDIA's compiler for a loop that ends at the lesser of two bounds. The unrolled iterations may
/// have at most LLVM's own limit for full unrolling at -O3, in LLVM's estimate
/// (docs/notebook/2026-11-29-loops-of-unseen-packages.md).
const TURNS_TO_LESSER: u32 = 4;
const MOST_TO_LESSER: u64 = 300;

/// Request of a loop's metadata to LLVM's unroller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnrollMetadata {
    /// No request.
    Nothing,
    /// To unroll the loop.
    Unrolling,
    /// Not to unroll the loop, or not to choose automatically.
    Restraint,
}

/// The facts about a loop on which a choice depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The loop stays unchanged.
    Nothing,
    /// Only the metadata.
    Asked,
    /// The trip count of each exit, and the inner loops.
    Nest,
    /// The trip count, and whether the loop walks the stack.
    Stack,
    /// Whether the loop ends at the lesser of two bounds.
    Bounds,
}

/// A loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The loop around it, by its earlier position in the nest; `None` for the first.
    pub parent: Option<usize>,
    /// The unroll factor that its metadata requests.
    pub count: Option<u32>,
    /// Instructions of an iteration, including the comparison and the branch at its end, in LLVM's estimate; `None` if
    /// LLVM cannot unroll the loop.
    pub size: Option<u64>,
    /// Additional weight of matrix products, to which LLVM gives a weight of one: the number of their operands and
    /// results.
    pub matrices: u64,
}

/// Facts about a loop.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The loop, followed by its inner loops.
    pub nest: &'a [Loop],
    /// Trip count at each exit, or an upper bound of it; 0 if unknown.
    pub exits: &'a [u32],
    /// Trip count; 0 if unknown.
    pub turns: u32,
    /// The part of an iteration's size that is the comparison and the branch at its end.
    pub end: u64,
    /// Whether the loop accesses a stack variable at an address that changes between iterations.
    pub walks_stack: bool,
    /// Whether the loop is innermost, and its trip count is the lesser of two numbers, of which one is unknown.
    pub ends_at_lesser: bool,
    /// Whether LLVM may unroll the loop with a remainder. It may not if all threads of a warp must take part in the
    /// loop.
    pub may_leave_rest: bool,
    /// Whether the loop has convergent operations without convergence control tokens (LLVM's
    /// `ConvergenceKind::Uncontrolled`).
    pub is_uncontrolled: bool,
}

/// Decision about a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stays unchanged.
    Leave,
    /// It is not unrolled.
    Disable,
    /// It is fully unrolled.
    Full,
    /// It is unrolled by this factor.
    Count(u32),
}

/// Returns the facts that a decision needs. No other facts need to be computed.
pub fn reads(choice: Unroll, asked: UnrollMetadata) -> Reads {
    match (choice, asked) {
        (Unroll::Asked, UnrollMetadata::Nothing) => Reads::Asked,
        (Unroll::Cut, UnrollMetadata::Unrolling) => Reads::Nest,
        (Unroll::Cut, UnrollMetadata::Nothing) => Reads::Bounds,
        (Unroll::Stack, UnrollMetadata::Nothing) => Reads::Stack,
        _ => Reads::Nothing,
    }
}

/// Decides about a loop in a function with this choice.
pub fn decide(choice: Unroll, asked: UnrollMetadata, facts: &Facts<'_>) -> Mark {
    match reads(choice, asked) {
        Reads::Nothing => Mark::Leave,
        Reads::Asked => Mark::Disable,
        Reads::Nest => as_nvidia(facts),
        Reads::Stack => over_stack(facts),
        Reads::Bounds => to_lesser(facts),
    }
}

impl Loop {
    /// Returns the instructions of an iteration without its end.
    fn turn(&self, end: u64) -> Option<u64> {
        Some(self.size?.saturating_sub(end))
    }
}

impl Facts<'_> {
    /// Whether `count` iterations of `turn` instructions, and the end of the loop, have at most `most` instructions.
    fn fits(&self, count: u32, turn: u64, most: u64) -> bool {
        u64::from(count).saturating_mul(turn).saturating_add(self.end) <= most
    }

    /// Returns the number of instructions that partial unrolling adds to the inner loops. LLVM unrolls inner loops
    /// partially after this decision. NVIDIA's compiler has already done so at this point, so its size limit includes
    /// these instructions. O(loops).
    fn size_to_come(&self) -> u64 {
        let mut inside = vec![0u64; self.nest.len()];
        for (index, inner) in self.nest.iter().enumerate().rev() {
            let Some(parent) = inner.parent.filter(|&parent| parent < index) else { continue };
            let own = inside[index];
            let turn = inner.turn(self.end).unwrap_or(0).saturating_add(inner.matrices).saturating_add(own);
            let further = u64::from(inner.count.unwrap_or(1).max(1) - 1);
            inside[parent] = inside[parent].saturating_add(own).saturating_add(further.saturating_mul(turn));
        }
        inside.first().copied().unwrap_or(0)
    }
}

/// Unrolls a loop with a request in the source by the same factor as NVIDIA's compiler. Inner loops are decided first,
/// so that LLVM does not decide about them again in each simplified copy of the body.
fn as_nvidia(facts: &Facts<'_>) -> Mark {
    let Some(outer) = facts.nest.first() else { return Mark::Leave };
    // The earliest exit determines the trip count.
    let turns = facts.exits.iter().copied().filter(|&turns| turns != 0).min().unwrap_or(0);
    let asked = match outer.count {
        None => turns,
        Some(count) if turns == 0 => count,
        Some(count) => count.min(turns),
    };
    let Some(turn) = outer.turn(facts.end) else { return Mark::Leave };
    if asked < 2 {
        return Mark::Leave;
    }
    let turn_of_nvidia = turn.saturating_add(outer.matrices).saturating_add(facts.size_to_come());
    let is_innermost = facts.nest.len() == 1;
    let fits = |count| facts.fits(count, turn_of_nvidia, MOST_OF_NVIDIA);
    let mut count = turns_of_nvidia(is_innermost, turns, asked, fits);
    // LLVM unrolls the loop by the same factor without a decision.
    if count == asked && facts.fits(asked, turn, MOST_OF_LLVM) {
        return Mark::Leave;
    }
    if !facts.may_leave_rest && (turns == 0 || !turns.is_multiple_of(count)) {
        count = if turns == 0 { 1 } else { 1 << turns.trailing_zeros().min(count.trailing_zeros()) };
    }
    if count == 1 { Mark::Disable } else { Mark::Count(count) }
}

/// Returns the unroll factor of NVIDIA's compiler for a loop with `turns` iterations (0 if unknown), and a request for
/// up to `asked`. `fits` returns whether the unrolled loop with a factor fits. The factor is `asked` if that fits.
/// Otherwise, it is the largest power of two that fits, is less than `asked`, and divides the trip count; for an odd
/// trip count, four or two; for an unknown trip count, two. A loop with inner loops is unrolled by `asked` or not at
/// all.
fn turns_of_nvidia(is_innermost: bool, turns: u32, asked: u32, fits: impl Fn(u32) -> bool) -> u32 {
    if fits(asked) {
        return asked;
    }
    if !is_innermost {
        return 1;
    }
    let mut fewer = match turns {
        0 => 2,
        odd if odd % 2 == 1 => 4,
        even => 1 << even.trailing_zeros(),
    };
    while fewer > 1 && (fewer >= asked || !fits(fewer)) {
        fewer /= 2;
    }
    fewer
}

/// Fully unrolls a loop over a stack variable if the result fits LLVM's limit. For other loops, LLVM would print a
/// warning.
fn over_stack(facts: &Facts<'_>) -> Mark {
    let size = facts.nest.first().and_then(|whole| whole.size);
    let fits = size.is_some_and(|size| size.saturating_mul(facts.turns.into()) <= MOST_OF_LLVM);
    if facts.turns >= 2 && facts.walks_stack && !facts.is_uncontrolled && fits { Mark::Full } else { Mark::Leave }
}

/// Unrolls a short loop that ends at the lesser of two bounds, like `for (i = 0; i < 32; ++i) { if (y >= height) break;
/// … }`. LLVM does not unroll it because computing its trip count is expensive. NVIDIA's compiler computes the trip
/// count and executes a remainder.
fn to_lesser(facts: &Facts<'_>) -> Mark {
    let turn = facts.nest.first().and_then(|whole| whole.turn(facts.end));
    let fits = turn.is_some_and(|turn| facts.fits(TURNS_TO_LESSER, turn, MOST_TO_LESSER));
    if facts.ends_at_lesser && facts.may_leave_rest && fits { Mark::Count(TURNS_TO_LESSER) } else { Mark::Leave }
}
