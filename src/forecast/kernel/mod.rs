//! The forecast of each kernel of a module.
//!
//! The entry is [`forecast_module`](estimate::forecast_module). In the order of its phases:
//! * [`summary`]: the data of a function that are kept until all its possible callees are known;
//! * [`call_graph`], [`unknown_callees`]: features of a kernel together with its callees;
//! * [`register_floors`], [`permutation`], [`occupancy_first`]: bounds and rules beside the model;
//! * [`estimate`]: the [`Forecast`](forecast::Forecast) of a kernel;
//! * [`register_limit`]: the register limit that a kernel gets;
//! * [`slack`](mod@slack): the registers beyond the live words;
//! * [`separate_compilation`]: device functions that do not link with a kernel.

pub(super) mod call_graph;
pub(super) mod estimate;
pub(super) mod forecast;
pub(super) mod occupancy_first;
pub(super) mod permutation;
pub(super) mod register_floors;
mod register_limit;
pub(super) mod separate_compilation;
pub(super) mod slack;
pub(super) mod stack;
pub(super) mod summary;
pub(super) mod unknown_callees;
