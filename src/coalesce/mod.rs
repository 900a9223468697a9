//! The copy coalescer: merges the two sides of a copy if they can share a register.
//!
//! It follows the structure of NVIDIA's NVPTX coalescer. Candidates are collected, and block-local copies come before
//! global copies. A worklist has a second heap for refused copies, which are retried until nothing changes. This
//! coalescer has three additions. Two live ranges interfere only where they hold different *values* (Budimlić et al.
//! 2002, Boissinot et al. 2009). A copy of a constant becomes the constant. The order of merges follows block
//! frequencies.
//!
//! PTX has no register file, so the aim is the fewest moves, not the lowest pressure. Classes are disjoint in PTX, so
//! only registers of one class are merged. 128-bit registers are left to LLVM.
//!
//! The phases are [`wide_pairs`], and then in each round [`candidates`], live ranges (`analysis`), [`values`],
//! [`worklist`] over [`classes`], and [`constants`]. After the last round, [`rewrite`] turns the decisions into edits.

mod candidates;
mod census;
mod classes;
mod constants;
pub(crate) mod program;
mod report;
pub(crate) mod rewrite;
#[cfg(test)]
mod tests;
mod trace;
mod values;
pub(crate) mod wide_pairs;
mod worklist;

use std::time::Instant;

pub use census::{MoveKind, Tally, census};
pub use report::Report;

use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences, block_frequencies};
use crate::config::Config;
use crate::function::{EditList, Function};
use crate::index::IndexVec;
use crate::target::Classification;
use classes::Classes;
use program::Program;
use values::Values;

/// Most rounds, to bound the compile time. Even without this limit, rounds terminate, because each round except the
/// last must delete or shorten something.
const MAX_ROUNDS: usize = 8;

/// Result of the coalescer for a function.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// Report of each copy.
    pub report: Report,
}

/// Coalesces the copies of a function. The function must have left SSA form: a function with PHIs is unchanged.
///
/// Near-linear in the size of the function: live ranges are computed only for registers of copies, and merging is
/// linear in the segments that are merged.
pub fn coalesce(function: &Function, classification: &Classification, options: &Config) -> Outcome {
    let start = Instant::now();
    let mut program = Program::new(function, classification, options);
    if options.join_liveintervals && !function.has_phis() {
        if options.wide_pairs {
            wide_pairs::forward(&mut program);
        }
        if candidates::any(&program) {
            run_rounds(&mut program);
        }
    }
    let mut outcome = rewrite::outcome(program);
    outcome.report.coalescing = start.elapsed() - outcome.report.analyses;
    outcome
}

/// Runs rounds over the remaining copies, until a round deletes and shortens nothing, or the limit of rounds is
/// reached.
fn run_rounds(program: &mut Program<'_>) {
    let function = program.function;
    let start = Instant::now();
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let frequencies = block_frequencies(function, &cfg, &dominators);
    program.report.analyses += start.elapsed();
    let mut changed = true;
    while changed && program.report.rounds < MAX_ROUNDS {
        constants::replace_copies_of_pure_sources(program);
        let candidates = candidates::collect(program, &frequencies);
        if candidates.is_empty() {
            break;
        }
        program.report.rounds += 1;
        let start = Instant::now();
        let wanted = candidates::registers(&candidates);
        let mut is_wanted = IndexVec::filled(false, function.num_regs());
        wanted.iter().for_each(|&reg| is_wanted[reg] = true);
        let occurrences = Occurrences::renamed(function, &|inst, operand| {
            program.register(inst, operand).filter(|&reg| is_wanted[reg])
        });
        let ranges = LiveRanges::new(function, &cfg, &dominators, &occurrences, &wanted);
        program.report.analyses += start.elapsed();
        trace::round(program, &candidates, &ranges, &wanted);
        let values = Values::new(program, &ranges, &candidates);
        let mut classes = Classes::new(program, &ranges, &values, &wanted);
        let refused = worklist::drain(program, &mut classes, candidates);
        changed = constants::replace_refused(program, &ranges, &values, &refused)
            | classes.delete_redundant_definitions(program, &ranges, &values, &wanted);
        classes.settle_debug_values(program, &occurrences, &ranges, &values, &wanted);
        program.report.refused = worklist::standing(program, &refused);
    }
}
