//! The necessary copies of a function: a lower bound for any coalescer, and a solution that may leave fewer copies than
//! this project's coalescer.
//!
//! This is a yardstick for `nvptx-ra optimum` and the tests. No part of it runs in a compilation.
//!
//! # The model
//! Aggressive coalescing (Bouchez, Darte and Rastello, "On the complexity of register coalescing", CGO 2007) with
//! interference by value. Registers are partitioned into classes; each class becomes one register.
//! * Packs and unpacks that undo each other are removed first.
//! * A copy of a constant costs nothing, because it can be replaced by the constant. Unreachable copies, and copies
//!   whose value is never used, cost nothing either.
//! * Two registers cannot share a class if both are live at one point with different values. [`value_numbering`] finds
//!   equal values: copies, equal constants, and control-flow merges of equal values.
//! * Any other copy is saved if its target's class already holds the copied value. This means that a member of the
//!   class is live at the copy with that value. This member may be the source or a third register.
//!
//! Registers are not split, live ranges are not lengthened, code is not moved, and only constants are rematerialised. A
//! compiler without these restrictions may need fewer copies. Registers of 128 bits are left out, because the coalescer
//! leaves them out.
//!
//! # Why the bound holds
//! The optimum of the problem that is built here is a lower bound, because this problem has more freedom than a
//! coalescer:
//! * A saved copy does not read its source, so the source's live range may end earlier. If a third register might save
//!   a copy, conflicts are computed without this copy's read. Copies that are useless without these reads are not
//!   counted.
//! * The registers that hold a copied value are searched in the live ranges of the unchanged function. These live
//!   ranges include the reads of useless copies, because a coalescer may visit a copy before it deletes the useless
//!   ones.
//!
//! Solutions are searched in this problem, and in the problem with all reads. A solution counts only if the symbolic
//! checker proves its edits.

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

/// Copies of a function that must stay, by number and by executions. For copies of constants, there is only a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Optimum {
    /// Number of copies of constants.
    pub constants: u64,
    /// Other copies of the unchanged function.
    pub copies: Tally,
    /// Copies that the coalescer leaves.
    pub left: Tally,
    /// Fewest copies of a proven solution: the coalescer's or one found here. The number and the executions may come
    /// from different solutions.
    pub best: Tally,
    /// No solution within the model leaves fewer.
    pub necessary: Tally,
    /// The figures by the loop depth of the copies.
    pub by_depth: Vec<AtDepth>,
}

/// Copies at one loop depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtDepth {
    /// Copies of the unchanged function, without copies of constants and dead copies, which cost nothing.
    pub copies: u64,
    /// Copies that the coalescer leaves.
    pub left: u64,
    /// No solution within the model leaves fewer at this depth, whatever it leaves at other depths.
    pub necessary: u64,
}

/// Bounds the number of copies that must stay in a function that has left SSA form. Each connected component of the
/// problem is solved exactly if at most `steps` branchings are enough. Otherwise its optimum is only bounded.
///
/// Cost: at worst quadratic in the number of registers that copies connect, times `steps`.
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
            // All weights are 1, so the bound is a whole number up to rounding errors.
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

/// Counts the copies by loop depth. For the bound of a depth, only the copies of this depth have a weight.
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

/// Returns the copies that remain after a solution's edits. `None` if the checker does not prove the edits.
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

/// Counts the copies of a function that the coalescer may change.
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
