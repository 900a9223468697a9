//! Which loops LLVM unrolls, and how often, where a kernel chooses.
//!
//! A loop is asked about directly ahead of LLVM's pass that unrolls loops wholly. The loops inside it are unrolled by
//! then, as far as they are at all, so that the size of a turn is known.

#[cfg(test)]
mod tests;

use crate::config::Unroll;

/// The size up to which NVIDIA's compiler obeys a pragma, in LLVM's estimate
/// (docs/notebook/2026-11-27-how-nvidias-compiler-unrolls.md).
const MOST_OF_NVIDIA: u64 = 32 * 1024;

/// The size up to which LLVM does.
const MOST_OF_LLVM: u64 = 16 * 1024 - 1;

/// The turns that NVIDIA's compiler unrolls of a loop that ends at the lesser of two bounds, and their size, in LLVM's
/// estimate, up to which we have LLVM do so: LLVM's own for unrolling wholly at -O3
/// (docs/notebook/2026-11-29-loops-of-unseen-packages.md).
const TURNS_TO_LESSER: u32 = 4;
const MOST_TO_LESSER: u64 = 300;

/// What the metadata of a loop asks of LLVM's unroller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnrollMetadata {
    /// Nothing.
    Nothing,
    /// That it unrolls the loop.
    Unrolling,
    /// That it leaves the loop, or does not choose by itself.
    Restraint,
}

/// Which facts of a loop a choice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The loop stays as it is.
    Nothing,
    /// No further ones.
    Asked,
    /// How often each exit lets it run, and the loops inside.
    Nest,
    /// How often it runs, and whether it walks the stack.
    Stack,
    /// Whether it ends at the lesser of two bounds.
    Bounds,
}

/// A loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The loop around it, by its place in the nest, which stands ahead of it; `None` of the first.
    pub parent: Option<usize>,
    /// The number of turns that its metadata asks for.
    pub count: Option<u32>,
    /// The instructions of a turn, its end included, in LLVM's estimate; `None` where LLVM cannot unroll it.
    pub size: Option<u64>,
    /// What products of matrices count for beyond LLVM's one: as many as they have operands and results.
    pub matrices: u64,
}

/// What is known of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The loop, and those inside it behind that.
    pub nest: &'a [Loop],
    /// How often each exit lets the loop run, or at most; 0 where nobody knows.
    pub exits: &'a [u32],
    /// How often the loop runs; 0 where nobody knows.
    pub turns: u32,
    /// How much of the size of a turn is its end: the comparison and the branch.
    pub end: u64,
    /// An access of the loop has an address in a stack variable that differs from turn to turn.
    pub walks_stack: bool,
    /// No loop is inside, and how often it runs is the lesser of two numbers, of which one is not known.
    pub ends_at_lesser: bool,
    /// LLVM may unroll it so that a rest of the turns is left. Not where all threads of a warp must take part.
    pub may_leave_rest: bool,
    /// Threads that part in it meet again where nothing says so.
    pub is_uncontrolled: bool,
}

/// What becomes of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stays as it is.
    Leave,
    /// It is not unrolled.
    Disable,
    /// It is unrolled wholly.
    Full,
    /// So many turns of it become one.
    Count(u32),
}

/// Which facts the decision needs: others need not be found out.
pub fn reads(choice: Unroll, asked: UnrollMetadata) -> Reads {
    match (choice, asked) {
        (Unroll::Asked, UnrollMetadata::Nothing) => Reads::Asked,
        (Unroll::Cut, UnrollMetadata::Unrolling) => Reads::Nest,
        (Unroll::Cut, UnrollMetadata::Nothing) => Reads::Bounds,
        (Unroll::Stack, UnrollMetadata::Nothing) => Reads::Stack,
        _ => Reads::Nothing,
    }
}

/// What becomes of a loop in a function with that choice.
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
    /// The instructions of a turn without those of its end.
    fn turn(&self, end: u64) -> Option<u64> {
        Some(self.size?.saturating_sub(end))
    }
}

impl Facts<'_> {
    /// Whether so many turns of a size fit.
    fn fits(&self, count: u32, turn: u64, most: u64) -> bool {
        u64::from(count).saturating_mul(turn).saturating_add(self.end) <= most
    }

    /// What the loops inside gain when those are unrolled that LLVM unrolls in part: it does so later, and NVIDIA's
    /// compiler has done so already. O(loops).
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

/// Has LLVM unroll a loop that the source wants unrolled as often as NVIDIA's compiler does. The loops inside were seen
/// ahead of it, so that none is left there that LLVM asks again about once it is simplified: it would unroll that in
/// each copy.
fn as_nvidia(facts: &Facts<'_>) -> Mark {
    let Some(outer) = facts.nest.first() else { return Mark::Leave };
    // The exit that is taken first.
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
    // LLVM comes to that itself.
    if count == asked && facts.fits(asked, turn, MOST_OF_LLVM) {
        return Mark::Leave;
    }
    if !facts.may_leave_rest && (turns == 0 || !turns.is_multiple_of(count)) {
        count = if turns == 0 { 1 } else { 1 << turns.trailing_zeros().min(count.trailing_zeros()) };
    }
    if count == 1 { Mark::Disable } else { Mark::Count(count) }
}

/// The turns that NVIDIA's compiler unrolls of a loop of so many turns, or an unknown number, 0, where up to `asked` are
/// asked for; `fits` says whether so many do. As many as asked for; else a power of two that divides all turns, or four
/// or two of an odd number, or two of an unknown one; but as many or none where a loop is left inside.
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

/// Has LLVM unroll a loop wholly that it can unroll so far: of one that it cannot it would warn.
fn over_stack(facts: &Facts<'_>) -> Mark {
    let size = facts.nest.first().and_then(|whole| whole.size);
    let fits = size.is_some_and(|size| size.saturating_mul(facts.turns.into()) <= MOST_OF_LLVM);
    if facts.turns >= 2 && facts.walks_stack && !facts.is_uncontrolled && fits { Mark::Full } else { Mark::Leave }
}

/// Has LLVM unroll a short loop that ends at the lesser of two bounds, as `for (i = 0; i < 32; ++i) { if (y >= height) break; … }`
/// does. LLVM leaves it for the price of its number of turns. NVIDIA's compiler computes that and has a remainder.
fn to_lesser(facts: &Facts<'_>) -> Mark {
    let turn = facts.nest.first().and_then(|whole| whole.turn(facts.end));
    let fits = turn.is_some_and(|turn| facts.fits(TURNS_TO_LESSER, turn, MOST_TO_LESSER));
    if facts.ends_at_lesser && facts.may_leave_rest && fits { Mark::Count(TURNS_TO_LESSER) } else { Mark::Leave }
}
