//! Forecasts of a module's kernels.

use serde::{Deserialize, Serialize};

use super::Counts;

/// Forecasts of the kernels of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModuleFigures {
    /// The target architecture.
    pub target: String,
    /// The kernels, in the module's order.
    pub kernels: Vec<KernelFigures>,
    /// Nanoseconds by phase of the module's forecast, without the time for the summaries of functions.
    pub time_ns: Counts,
}

/// Forecast of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelFigures {
    /// The kernel's name.
    pub function: String,
    /// General registers of each thread.
    pub registers: u32,
    /// Ends of the interval that is likely to contain the number of registers.
    pub likely_registers: (u32, u32),
    /// Whether the kernel may take more registers, because it calls functions that are not available.
    pub at_least: bool,
    /// Bytes that a thread stores to spill slots, counted statically.
    pub spill_store_bytes: u32,
    /// Bytes that a thread loads from spill slots.
    pub spill_load_bytes: u32,
    /// Bytes of static shared memory for each block.
    pub shared_bytes: u64,
    /// Warps that are resident on an SM.
    pub occupancy_warps: u32,
    /// The resource that limits occupancy.
    pub limited_by: String,
    /// Highest register count at which more warps would be resident; `None` if there is no such count.
    pub next_step_registers: Option<u32>,
    /// The register limit that the kernel got in order to reach that occupancy.
    pub limited_to: Option<u32>,
}
