//! Data that an allocation's code moves, before and after edits.

use super::CleanupEdit;
use super::overlay::Overlay;
use super::steps::{Step, Steps};
use crate::allocate::allocation::Allocation;
use crate::allocate::placement::moved_bytes;
use crate::allocate::problem::{Problem, write_point};
use crate::function::Inst;
use crate::index::EntityIndex;

/// Data that the code of an allocation moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CodeCosts {
    /// Copies in the code, from one place to another.
    pub copies: u64,
    /// Words that these copies move in one run of the function.
    pub copy_words: f64,
    /// Bytes that are stored and reloaded in one run of the function, counted as in [`Costs`](crate::allocate::Costs).
    pub moved_bytes: f64,
    /// Instructions that are removed, including copies.
    pub removed: u64,
}

/// Computes the data that an allocation's code moves after the given edits. O(steps).
pub fn code_costs(problem: &Problem, allocation: &Allocation, edits: &[CleanupEdit]) -> CodeCosts {
    let mut costs = CodeCosts { moved_bytes: allocation.costs(problem).moved_bytes, ..CodeCosts::default() };
    if problem.flow().blocks().is_empty() {
        return costs;
    }
    let steps = Steps::new(problem, allocation);
    let overlay = Overlay::new(problem, edits);
    for inst in (0..problem.flow().num_insts()).map(Inst::new) {
        let is_removed = overlay.is_removed(inst);
        let is_code = !steps.is_within_place(inst, &overlay);
        costs.removed += u64::from(is_removed && is_code);
        let is_copied = !is_removed && !steps.moves_nothing(inst, &overlay);
        for copy in problem.copies_at(write_point(inst)).iter().filter(|_| is_copied) {
            costs.copies += 1;
            let words = problem.class(copy.to).bytes.div_ceil(4);
            costs.copy_words += f64::from(copy.frequency) * f64::from(words);
        }
        for &step in steps.of(inst) {
            let (range, access, is_left_out) = match step {
                Step::Reload { range, access } => (range, access, overlay.read(access).is_some()),
                Step::Write { range, access } if steps.is_spilled(range) => {
                    (range, access, overlay.is_unstored(access))
                }
                _ => continue,
            };
            if is_removed || is_left_out {
                let data = steps.access(range, access);
                // If the access reads and writes one register, its bytes are those of a reload and a store, and this
                // step is one of the two.
                let times = if data.reads() && data.writes() { 2.0 } else { 1.0 };
                costs.moved_bytes -= moved_bytes(problem, range, data) / times;
            }
        }
    }
    costs
}
