//! How many copies of a function are necessary: a bound for any coalescer, and a solution that may do better than ours.
//!
//! Nothing of the compiler's path comes here; it is a yardstick, for `nvptx-ra optimum` and the tests.
//!
//! # The model
//! Aggressive coalescing (Bouchez, Darte and Rastello, "On the complexity of register coalescing", CGO 2007) with
//! interference by value. Registers are partitioned into classes of one register each.
//! * Packs and unpacks that undo each other are gone already.
//! * A copy of a constant costs nothing: it can be the constant. Neither does one that nobody reads in the end, or to
//!   which control never comes.
//! * Two registers cannot share a class if both are live at one point with different values. Which values are the same
//!   is in [`value_numbering`]: copies, equal constants, and meetings of equal values.
//! * Any other copy is gone if its target's class holds the copied value already: it has a member that is live at the
//!   copy with that value, the source or a third register.
//!
//! Registers are not split, live ranges not lengthened, code is not moved, and nothing but constants is computed again:
//! with these, fewer copies may do. Registers of 128 bits are left out, as the coalescer leaves them out.
//!
//! # What makes the bound hold
//! A copy that goes no longer reads its source, whose live range then may end earlier. So the live ranges that conflict
//! here are without reads by copies that a third register might save, and copies that nobody else reads then are not
//! counted. What holds a copied value is sought in the live ranges of the function as it is, with the reads of useless
//! copies: a coalescer may come to a copy before it deletes those. That is more freedom than there is: the optimum of
//! this problem is a lower bound. Solutions, of this problem and of the one with all reads, count only where the
//! symbolic checker proves the edits that they amount to.

mod bound;
mod problem;
mod registers;
mod search;
#[cfg(test)]
mod tests;
mod useless_definitions;
mod value_numbering;

use crate::check::check;
use crate::coalesce::program::Program;
use crate::coalesce::rewrite;
use crate::coalesce::{Tally, coalesce};
use crate::config::Config;
use crate::function::Function;
use crate::target::Classification;
use registers::{Conflicts, Registers};
use search::Solution;

/// How many copies of a function must stay, by number and by how often they run. Copies of constants are left out, but
/// for the number of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Optimum {
    /// Copies of constants.
    pub constants: u64,
    /// The other copies of the function as it is.
    pub copies: Tally,
    /// What the coalescer leaves.
    pub left: Tally,
    /// The fewest that a proven solution leaves: the coalescer's or the one found here. The two figures may be those of
    /// different solutions.
    pub best: Tally,
    /// No solution within the model leaves fewer.
    pub necessary: Tally,
    /// The same by the depth of the loop that the copies stand in.
    pub by_depth: Vec<AtDepth>,
}

/// The copies at one depth of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtDepth {
    /// Copies of the function as it is, but those that cost nothing: of constants, and dead ones.
    pub copies: u64,
    /// What the coalescer leaves.
    pub left: u64,
    /// No solution within the model leaves fewer here, whatever it leaves elsewhere.
    pub necessary: u64,
}

/// Bounds the copies that must stay in a function that has left SSA. Each connected part of the problem is solved
/// exactly if that takes at most `steps` branchings, and bounded otherwise.
///
/// Cost: quadratic at worst in the registers that copies connect, and `steps` times that.
pub fn optimum(function: &Function, classification: &Classification, options: &Config, steps: usize) -> Optimum {
    let outcome = coalesce(function, classification, options);
    let copies = |function: &Function| copies(function, classification);
    let coalesced = outcome.edits.apply(function).map(|applied| applied.function);
    let left = coalesced.as_ref().map(copies).unwrap_or_default();
    let mut result = Optimum { left, best: left, ..Optimum::default() };
    for conflicts in [Conflicts::AtLeast, Conflicts::AtMost] {
        let mut counts = Optimum::default();
        let registers = Registers::new(&mut Program::new(function, classification, options), conflicts, &mut counts);
        let by_number = registers.solve(|_| 1.0, steps);
        let by_runs = registers.solve(|copy| function.frequency(copy.block), steps);
        if conflicts == Conflicts::AtLeast {
            // The bound by number is a sum of ones.
            let necessary = Tally { count: by_number.lower.round() as u64, executed: by_runs.lower };
            let coalesced = Program::new(coalesced.as_ref().unwrap_or(function), classification, options);
            let by_depth = by_depth(function, &coalesced, &registers, steps);
            result = Optimum { necessary, left, best: left, by_depth, ..counts };
        }
        let improves = [by_number.cost < left.count as f64, by_runs.cost < left.executed];
        for (solution, _) in [&by_number, &by_runs].into_iter().zip(improves).filter(|&(_, improves)| improves) {
            if let Some(found) = realise(Program::new(function, classification, options), &registers, solution) {
                result.best.count = result.best.count.min(found.count);
                result.best.executed = result.best.executed.min(found.executed);
            }
        }
        if result.best == result.necessary {
            break;
        }
    }
    result
}

/// The copies by the depth of loops; the bound of each depth is that of a problem in which no others count.
fn by_depth(function: &Function, coalesced: &Program<'_>, registers: &Registers, steps: usize) -> Vec<AtDepth> {
    let deepest = function.blocks().map(|block| function.loop_depth(block)).max().unwrap_or(0);
    let mut depths = vec![AtDepth::default(); deepest as usize + 1];
    for copy in &registers.copies {
        depths[function.loop_depth(copy.block) as usize].copies += 1;
    }
    for (block, ..) in coalesced.copies() {
        depths[coalesced.function.loop_depth(block) as usize].left += 1;
    }
    for (depth, at) in depths.iter_mut().enumerate().filter(|(_, at)| at.copies != 0) {
        let weight = |block| f64::from(u8::from(function.loop_depth(block) as usize == depth));
        at.necessary = registers.solve(|copy| weight(copy.block), steps).lower.round() as u64;
    }
    depths
}

/// The copies that a solution leaves, if the checker proves the edits that make it.
fn realise(mut program: Program<'_>, registers: &Registers, solution: &Solution) -> Option<Tally> {
    let (function, classification) = (program.function, program.classification);
    Registers::new(&mut program, Conflicts::AtMost, &mut Optimum::default());
    for class in &solution.classes {
        for &member in &class[1..] {
            let (a, b) = (program.find(class[0]), program.find(member));
            program.merge(a, b);
        }
    }
    for copy in &registers.copies {
        let class = program.find(copy.dst);
        if copy.sources.iter().any(|&source| program.find(source) == class) {
            program.delete(copy.inst);
        }
    }
    let edits = rewrite::outcome(program).edits;
    check(function, &edits).ok()?;
    Some(copies(&edits.apply(function).ok()?.function, classification))
}

/// The copies of a function that the coalescer may touch.
fn copies(function: &Function, classification: &Classification) -> Tally {
    let options = Config::default();
    let program = Program::new(function, classification, &options);
    let mut tally = Tally::default();
    for (block, ..) in program.copies() {
        tally.count += 1;
        tally.executed += function.frequency(block);
    }
    tally
}
