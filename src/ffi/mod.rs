//! The crossing between C++ and the core.

pub mod codegen;
mod logging;

pub use logging::start_logging;
