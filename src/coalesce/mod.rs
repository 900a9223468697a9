//! The copy coalescer: merges the two sides of copies that need not be two registers.
//!
//! It follows the structure of NVIDIA's NVPTX coalescer (candidates, block-local copies before global ones, a worklist
//! with a second heap for the refused, retried until nothing changes) and goes beyond it in three ways: two live ranges
//! interfere only where they hold different *values* (Budimlić et al. 2002, Boissinot et al. 2009); a copy of a
//! constant becomes the constant; and the order of merging follows block frequencies.
//!
//! PTX has no register file: the aim is the fewest moves, not the lowest pressure. Classes are disjoint in PTX, so only
//! registers of one class merge; 128-bit registers are left to LLVM.
//!
//! Phase order of a round, each a file of this room:
//! [`wide_pairs`] (first round), [`candidates`], live ranges (`analysis`), [`values`], [`worklist`] over [`classes`],
//! [`constants`], and, once no round changes anything, [`rewrite`] into edits.

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

/// Rounds end by themselves, because each must delete or shorten something; the cap bounds compile time.
const MAX_ROUNDS: usize = 8;

/// What the coalescer did to a function.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// Why, by copy.
    pub report: Report,
}

/// Coalesces the copies of a function. The function must have left SSA: with PHIs it is left alone.
///
/// Near-linear in the size of the function: live ranges are built only for registers that copies name, and merging is
/// linear in the segments merged.
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

/// Rounds, each over the copies that are left, until one deletes and shortens nothing.
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
