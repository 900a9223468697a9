//! The model: registers and spills of a function, fitted to measurements of real kernels.
//!
//! The entry is [`ModelCache::forecast`](trees::ModelCache::forecast). In the order of its phases:
//! * [`features`]: the inputs of the model, a row for each feature;
//! * [`table`]: a fitted model, and the text form that `make calibrate` writes;
//! * [`trees`]: the evaluation of a model, a weighted sum that regression trees correct;
//! * [`likely_interval`]: the 80 % interval around a forecast.

pub(super) mod features;
pub(super) mod likely_interval;
#[allow(dead_code, reason = "the build script reads tables, and tests do")]
pub(super) mod table;
pub(super) mod trees;
