//! The model: what ptxas usually makes of a function, fitted to what it made of real kernels.
//!
//! The entry is [`Answers::forecast`]. In the order of its phases:
//! * [`features`]: what the model knows of a function, a row for each feature;
//! * [`table`]: a fitted model, and its text as `make calibrate` writes it;
//! * [`trees`]: the forecast of a model, a sum that regression trees correct;
//! * [`likely_interval`]: how far from the forecast four of five kernels are.

pub(super) mod features;
pub(super) mod likely_interval;
#[allow(dead_code, reason = "the build script reads tables, and tests do")]
pub(super) mod table;
pub(super) mod trees;
