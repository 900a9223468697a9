//! Allocation: a register of the hardware for every live range, or a place in memory.
//!
//! One [`Problem`], and several engines that solve it: [`briggs`] colours an interference graph, [`greedy`] assigns
//! live ranges to interval trees and evicts, [`fatpoint`] takes them off a stack and scans a histogram of places,
//! and `lab::exact_allocation`, which tests hold them against, solves small problems to the end. [`check_allocation`] proves
//! what they answer, knowing the problem alone.
//!
//! The answer says how many registers a function needs, and what it must spill where there are fewer. The names in PTX
//! are another colouring problem (`crate::rename`), and colours never cross from one to the other.

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
    /// Its name, as options spell it.
    fn name(&self) -> &'static str;

    /// Places every live range of a problem. An error says what no allocator could do; whatever can be placed by
    /// spilling is.
    fn allocate(&self, problem: &Problem) -> Result<Allocation, ProblemError>;
}
