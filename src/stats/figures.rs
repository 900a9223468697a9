//! What the kernels of a module are forecast to need.

use serde::{Deserialize, Serialize};

use super::Counts;

/// What ptxas is expected to make of the kernels of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModuleFigures {
    /// The processor that the code is for.
    pub target: String,
    /// The kernels, in the module's order.
    pub kernels: Vec<KernelFigures>,
    /// Nanoseconds by phase, without what was spent on each function.
    pub time_ns: Counts,
}

/// What ptxas is expected to make of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelFigures {
    /// The kernel.
    pub function: String,
    /// General registers of a thread.
    pub registers: u32,
    /// The fewest and the most that ptxas is likely to take.
    pub likely_registers: (u32, u32),
    /// It calls what was not there to be seen: it may take more.
    pub at_least: bool,
    /// Bytes that a thread stores to spill slots, in the code.
    pub spill_store_bytes: u32,
    /// Bytes that it loads from them.
    pub spill_load_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u64,
    /// Warps that an SM holds at once.
    pub occupancy_warps: u32,
    /// What keeps it from more.
    pub limited_by: String,
    /// The most registers with which it holds more, if any do.
    pub next_step_registers: Option<u32>,
    /// The limit on registers that it got because of that.
    pub limited_to: Option<u32>,
}
