//! Spilling and rematerialisation of values for which there are too few registers.
//!
//! All spilling takes the same route: the analyses of the function ([`spiller::Facts`]), an [`engine`] (an allocator of
//! [`allocate`](crate::allocate), or the cost model of [`spiller`]), the [`plan`] with its clean-up, slots and combined
//! accesses ([`neighbours`]), and [`edits`]. [`mod@spill_values`] shows this route. [`lower`] turns edits into
//! instructions.
//!
//! Two other transformations do not need a plan: rematerialisation ([`remat`]), and predicates as bits of general
//! registers ([`bits`]).

pub(crate) mod bits;
mod edits;
mod engine;
pub(crate) mod groups;
pub(crate) mod insertion_point;
pub mod lower;
mod neighbours;
pub(crate) mod packing;
mod plan;
pub mod remat;
pub(crate) mod single_definition;
mod spill_values;
pub mod spiller;
#[cfg(test)]
mod tests;

pub use engine::{Engine, EngineResult};
pub use plan::SpillSpace;
pub use spill_values::{Outcome, SpillSummary, spill_values};
