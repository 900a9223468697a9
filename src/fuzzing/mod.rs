//! Generators and oracles that the fuzz targets and the tests share.
//!
//! Each `check_…` is the body of one fuzz target in `tests/fuzz`: it draws an input from bytes, and panics if a
//! property does not hold. The ordinary test run gives each a second of random bytes.

mod allocate;
mod coalesce;
pub mod control_flow;
mod coverage;
mod cssa;
mod draft;
mod edited;
#[cfg(feature = "fuzzing")]
mod experiments;
mod forecast;
mod generate;
mod graph;
mod interpret;
#[cfg(feature = "fuzzing")]
pub mod interval_tree;
mod kept_values;
pub mod liveness;
mod lower;
mod memory;
#[cfg(feature = "fuzzing")]
mod mutants;
mod opcodes;
mod optimum;
mod order;
mod parallel_copy;
mod ptx;
#[cfg(feature = "fuzzing")]
pub mod ptxas;
mod remat;
mod rename;
mod schedule;
mod spoiled_slots;
#[cfg(test)]
mod tests;
mod text;
mod trace;
pub mod uniformity;
mod value;
#[cfg(test)]
mod view;

#[cfg(test)]
pub(crate) use allocate::{Sizes, problem};
pub use allocate::{check_allocate, check_exact, check_fatpoint, check_problem_text};
pub use coalesce::check_coalesce;
#[cfg(test)]
pub(crate) use coverage::explore;
pub(crate) use coverage::reached;
pub use cssa::check_cssa;
pub(crate) use edited::edited;
#[cfg(feature = "fuzzing")]
pub use experiments::{Experiment, experiments};
pub use forecast::check_forecast;
pub use generate::{Options, lowered_function, ssa_function};
pub use interpret::{Limits, interpret};
pub use kept_values::check_kept_values;
pub use lower::check_lowering;
pub use memory::Seen;
#[cfg(feature = "fuzzing")]
pub use mutants::{Fault, Mutant, mutants};
pub use opcodes::opcode_table;
pub use optimum::check_optimum;
pub use order::check_order;
pub use parallel_copy::check_parallel_copy;
pub use ptx::{check_loop_shape, check_ptx_changed, check_ptx_passes, check_ptx_text, check_shared_addresses};
pub use remat::check_remat;
pub use rename::check_rename;
pub use schedule::check_schedule;
pub use text::{check_round_trip, check_text};
pub use trace::{End, Event, Mismatch, Trace, check_same_effects, check_same_meaning};
pub use value::Bits;
#[cfg(test)]
pub(crate) use view::view;
