//! Generators and oracles that the fuzz targets and the tests share.

pub mod control_flow;
#[cfg(feature = "fuzzing")]
pub mod interval_tree;
pub mod liveness;
