//! Yardsticks that no compilation runs. They measure how far the engines and the coalescer are from the optimum.
//!
//! * `exact_allocation`: the cheapest allocation of a small problem, and a lower bound for larger problems, for tests
//!   only. Its entry is `exact_allocation::Solver`.
//! * [`coalescing_optimum`]: a lower bound on the number of copies that any coalescer must leave. Its entry is
//!   [`coalescing_optimum::optimum`].

pub mod coalescing_optimum;
#[cfg(any(test, feature = "fuzzing"))]
pub mod exact_allocation;
