//! Yardsticks that no user's compilation runs: how far the engines and the coalescer are from the best that exists.
//!
//! * `exact_allocation`: the cheapest allocation of a small problem, and a lower bound of larger ones, for tests alone; its
//!   entry is `exact_allocation::Solver`.
//! * [`coalescing_optimum`]: a lower bound of the copies that any coalescer must leave; its entry is
//!   [`coalescing_optimum::optimum`].

pub mod coalescing_optimum;
#[cfg(any(test, feature = "fuzzing"))]
pub mod exact_allocation;
