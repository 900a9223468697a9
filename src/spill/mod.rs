//! What to do about values that have no register.
//!
//! One road for all that decide: what is known of the function ([`spiller::Facts`]), an [`engine`] (an allocator of
//! [`allocate`](crate::allocate), or the price list of [`spiller`]), the [`plan`] with its clean-up, slots and
//! [`neighbours`] among them, [`edits`]; [`mod@spill_values`] shows it. What edits become in the code is in [`lower`].
//!
//! Two more ways need no plan: computing values again ([`remat`]), and keeping predicates as bits of general registers
//! ([`bits`]).

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
