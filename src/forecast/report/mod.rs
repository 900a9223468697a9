//! Output of a forecast for people and tools.
//!
//! * [`figures`]: a list of figures with names and labels, [`Forecast::figures`](super::Forecast::figures);
//! * [`local_memory`]: stack and spills, under the names of ptxas's statistics.

pub(super) mod figures;
pub(super) mod local_memory;
