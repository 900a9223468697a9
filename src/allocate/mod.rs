//! Allocation: a register of the hardware, or a place in memory, for every live range.
//!
//! Several engines solve one [`Problem`]. [`briggs`] colours an interference graph. [`greedy`] assigns live ranges to
//! interval trees and evicts live ranges. [`fatpoint`] takes live ranges off a stack and scans a histogram of places.
//! Tests compare the engines with `lab::exact_allocation`, which solves small problems optimally. [`check_allocation`]
//! proves the results from the problem alone.
//!
//! An allocation shows how many registers a function needs, and which live ranges it must spill to fit fewer registers.
//! The names of registers in PTX are a separate colouring problem (`crate::rename`). Neither problem uses the colours
//! of the other.

pub(crate) mod allocation;
mod availability;
pub mod briggs;
mod check;
pub mod cleanup;
mod cost;
mod eligibility;
pub mod fatpoint;
pub mod greedy;
mod indexed_heap;
mod interference_graph;
mod lanes;
mod links;
#[cfg(test)]
mod machine;
pub(crate) mod occupied;
mod partners;
pub(crate) mod placement;
mod preset;
mod problem;
mod registers;
mod rounds;
pub mod split;
pub(crate) mod sweep;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tuple_tests;
mod used_fraction;

pub use allocation::{Allocation, AllocationStatistics, Costs};
pub use check::{AllocationError, check_allocation};
pub use cost::{Accessed, CostModel, Usage};
pub use eligibility::Eligibility;
pub use interference_graph::{GraphStatistics, InterferenceGraph};
pub use placement::{Placement, SpillSlot};
pub use preset::{Coalescing, Preset};
pub use problem::{
    Access, AccessKind, Class, ClassData, ClassTable, CopyInst, Crossing, File, FileData, Flow, FlowBlock, Lane, Link,
    LiveRange, LoopData, Problem, ProblemBuilder, ProblemError, ProblemParseError, RangeData, clobber_point,
    lane_point, read_point, tuple_point, write_point,
};
pub use used_fraction::UsedFraction;

/// An allocator.
pub trait Allocator {
    /// Returns the allocator's name, as options spell it.
    fn name(&self) -> &'static str;

    /// Places every live range of a problem. Live ranges are spilled as needed. An error means that the problem is
    /// invalid, or that the engine cannot meet its register limit.
    fn allocate(&self, problem: &Problem) -> Result<Allocation, ProblemError>;
}
