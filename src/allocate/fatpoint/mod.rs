//! Fat-point: nodes come off a stack, and each takes the place of least cost in a histogram of the file.
//!
//! The engine follows NVIDIA's ptxas, as its code is read, with Chaitin-Briggs's simplify and select in front and no
//! interference graph. Each register file is allocated by itself ([`one_file`]). The [`driver`] runs trials without
//! spilling, and then with it. Copies are merged through a filter ([`coalesce`]), and nodes that must avoid fixed
//! places are found ([`constraints`]). Nodes are classified into six [`lists`] by their [`interference`] and drained to
//! a stack. A [`trial`] pops the stack and scans a [`histogram`] for each node. If there is no place, other nodes are
//! moved to make room ([`retarget`]). Spill [`guidance`] takes candidates from a [`queue`], and walks the [`pressure`]
//! from its fattest point down. The best result is kept ([`record`]).
//!
//! Some parts of ptxas are missing here, because an allocation problem has no such information: opcodes, which make
//! candidates for pre-allocation eligible; modes for PHIs and for spilling to shared memory; predicated copies;
//! barriers; the class for constraints across files. Uniform registers and accumulators are ordinary files, if a
//! problem has them. Of pre-colouring a whole function only the knob is known: here, the fixed live ranges have places
//! from the start. The fix-up of call-saved registers after the allocation has nothing to do, because clobbers of calls
//! are excluded from the start. The consumption of a pair, its place and one more, follows for every node from its
//! width.
//!
//! A register limit is not met if more is live at once than it has. Live ranges without any write count like the
//! others, although it would not matter if they were overwritten.

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
    /// Settings of the allocator.
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

    /// Returns an error ([`ProblemError::LimitNotMet`]) for a register limit that cannot be met, whatever is spilled.
    /// ptxas fails in this case, too; the other engines do not.
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
    /// Finds the smallest register limit above `register_limit` units that can be met, and returns the error with it.
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
