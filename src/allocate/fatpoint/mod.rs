//! Fat-point: nodes come off a stack, and each takes the place of least cost in a histogram of the file.
//!
//! As NVIDIA's ptxas is read to do it, with Chaitin-Briggs's simplify and select in front and no interference graph.
//! Each register file by itself ([`one_file`]), the [`driver`] makes trials without spilling, and then with it: copies
//! are merged through a filter ([`coalesce`]), what keeps clear of fixed places is told ([`constraints`]),
//! nodes are classified into six [`lists`] by their [`interference`] and drained to a stack, and a [`trial`] pops it,
//! scanning a [`histogram`] for each node. Where there is no place, others are moved to make room ([`retarget`]). Spill
//! [`guidance`] takes from a [`queue`], and walks the [`pressure`] from its fattest point down. The best result is kept ([`record`]).
//!
//! What ptxas is read to have and this has not, because an allocation problem does not tell it: opcodes, which make
//! candidates for pre-allocation eligible; modes for PHIs and for spilling to shared memory; predicated copies;
//! barriers; the class for constraints across files. Uniform registers and accumulators are files like others, where
//! a problem has them. Of pre-colouring a whole function only the knob is known: here it is what is fixed from the
//! start. The fix-up of call-saved registers behind the allocation finds nothing to do, for what a call clobbers is
//! excluded from the start, and what a pair consumes, its place and one more, is what every node does by its width.
//!
//! A register limit is not met where more is live at once than it has. What is written nowhere counts like the rest, although
//! nobody could tell if it were overwritten.

mod coalesce;
mod constraints;
mod context;
mod driver;
mod guidance;
mod histogram;
mod interference;
mod knobs;
mod least;
mod lists;
mod nodes;
mod one_file;
mod pair;
mod pressure;
mod queue;
mod record;
mod retarget;
#[cfg(test)]
mod tests;
mod trial;

use super::Allocator;
use super::allocation::{Allocation, AllocationStatistics};
use super::preset::Preset;
use super::problem::{File, Problem, ProblemError};
use driver::allocate_file;
pub use knobs::Knobs;
use least::{floor, least_limit};
use one_file::OneFile;

/// The fat-point allocator.
#[derive(Clone, Debug)]
pub struct Fatpoint {
    /// What can be set.
    pub knobs: Knobs,
}

impl Default for Fatpoint {
    fn default() -> Self {
        Self { knobs: Preset::HW.fatpoint }
    }
}

impl Allocator for Fatpoint {
    fn name(&self) -> &'static str {
        "fatpoint"
    }

    /// A register limit that cannot be met, whatever is spilled, is an error ([`ProblemError::LimitNotMet`]): ptxas fails
    /// there, and so does this, unlike the other engines.
    ///
    /// O(nodes · (units + segments · log moments)) for each trial; each attempt with spilling makes at least one.
    fn allocate(&self, problem: &Problem) -> Result<Allocation, ProblemError> {
        problem.validate()?;
        let mut allocation = Allocation::blank(problem);
        let mut statistics = AllocationStatistics::default();
        for (file, data) in problem.files().iter_enumerated() {
            let own = OneFile::new(problem, file, data.register_limit);
            if own.is_empty() {
                continue;
            }
            let found = allocate_file(&own.problem, file, &self.knobs, &mut statistics);
            if found.costs(&own.problem).over_limit > 0 {
                return Err(self.limit_not_met(problem, file, data.register_limit.unwrap_or(0)));
            }
            own.enter(&found, problem, &mut allocation);
        }
        allocation.number_slots(problem);
        allocation.statistics = statistics;
        Ok(allocation)
    }
}

impl Fatpoint {
    /// Finds the smallest register limit above `register_limit` units that can be met, and says so.
    fn limit_not_met(&self, problem: &Problem, file: File, register_limit: u32) -> ProblemError {
        let data = &problem.files()[file];
        let units = data.units_per_register.max(1);
        let is_met = |registers: &u32| {
            let own = OneFile::new(problem, file, Some(registers.saturating_mul(units)));
            let found = allocate_file(&own.problem, file, &self.knobs, &mut AllocationStatistics::default());
            found.costs(&own.problem).over_limit == 0
        };
        let floor = floor(&OneFile::new(problem, file, None).problem).div_ceil(units);
        let least = least_limit(floor.max(register_limit / units + 1), is_met);
        ProblemError::LimitNotMet { file: data.name.clone(), register_limit: register_limit / units, least }
    }
}
