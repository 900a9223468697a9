//! How a forecast is told to people and to tools.
//!
//! * [`figures`]: a list of figures with names and labels, [`Forecast::figures`](super::Forecast::figures);
//! * [`local_memory`]: stack and spills in the terms of ptxas's statistics.

pub(super) mod figures;
pub(super) mod local_memory;
