//! Fat-point: nodes come off a stack, and each takes the place of least cost in a histogram of the file.
//!
//! The engine follows NVIDIA's ptxas, as its code is read. It orders nodes like Chaitin-Briggs's simplify and select,
//! but without an interference graph. Each register file is allocated by itself ([`one_file`]). The [`driver`] first
//! runs trials without spilling, and then attempts with spilling. Copies are merged through a filter ([`coalesce`]),
//! and nodes that must avoid fixed places are found ([`constraints`]). Nodes are classified into six [`lists`] by their
//! [`interference`] and drained to a stack. A [`trial`] pops the stack and scans a [`histogram`] for each node. If a
//! node finds no place, other nodes are moved to make room ([`retarget`]). Spill [`guidance`] takes candidates from a
//! [`queue`], and walks the [`pressure`] from its fattest point down. The best result is kept ([`record`]).
//!
//! Some parts of ptxas are missing here, because an allocation problem has no such information: opcodes, which make
//! candidates for pre-allocation eligible; modes for PHIs and for spilling to shared memory; predicated copies;
//! barriers; and the class for constraints across files. Uniform registers and accumulators are ordinary files, if a
//! problem has them.
//!
//! Other parts of ptxas need no code of their own. Of its pre-colouring of a whole function, only the knob is known;
//! here, the fixed live ranges have places from the start. ptxas fixes up call-saved registers after the allocation;
//! here, clobbers of calls are excluded from the start. In ptxas, a pair consumes its place and one more; here, the
//! width of a node gives the places that it consumes.
//!
//! A register limit is not met if more units are live at once than it has. Live ranges without any write count like the
//! others, although they could be overwritten without harm.

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

    /// Returns an error ([`ProblemError::LimitNotMet`]) if a register limit cannot be met, whatever is spilled. ptxas
    /// also fails in this case. The other engines exceed the limit.
    ///
    /// O(nodes · (units + segments · log moments)) for each trial. Each attempt with spilling has at least one trial.
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
    /// Finds the smallest register limit above `register_limit` units that can be met, and returns the error that
    /// reports it.
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
