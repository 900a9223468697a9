//! nvptx-ra improves register use between LLVM and NVIDIA's ptxas.
//!
//! The core (everything but `ffi` and the command-line tool) is safe Rust and does not know LLVM. A machine function
//! comes in as a flat [`function::Function`], and an [`function::EditList`] goes out. Rooms import downwards only.
//! tests/rust/layers.rs lists their layers and enforces them.

pub mod addressing;
pub mod allocate;
pub mod analysis;
pub mod bundle;
pub mod check;
pub mod coalesce;
pub mod config;
mod disjoint_sets;
pub mod emulate;
pub mod error;
#[cfg(feature = "llvm")]
pub mod ffi;
pub mod forecast;
pub mod function;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod index;
pub mod input_kind;
pub mod lab;
pub mod lint;
#[cfg(feature = "tool")]
pub mod logging;
pub mod loops;
pub mod optimise;
pub mod passes;
pub mod printable;
pub mod profile;
pub mod ptx;
pub mod reduce;
pub mod rename;
#[cfg(feature = "tool")]
pub mod sass;
pub mod schedule;
pub mod spill;
pub mod ssa;
pub mod stats;
pub mod switch;
pub mod target;
pub mod tune;

/// The version of this project.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
