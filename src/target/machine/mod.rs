//! The machine model: the resources of a streaming multiprocessor (SM), the blocks of a kernel that are resident at
//! once, and the registers that a thread may have for a given occupancy.
//!
//! [`Architecture::by_name`] finds a processor by LLVM's name. [`Architecture::occupancy`] computes the same numbers as
//! NVIDIA's `cuda_occupancy.h` of CUDA 13.0, which `tests/rust/occupancy.rs` verifies.
//! [`Architecture::max_registers_for_block`] and the functions beside it compute the inverse.
//! [`Architecture::register_limit`] returns the most registers that ptxas gives to a thread; the kernel cannot always
//! be launched with that number. Clusters of blocks are left out: NVIDIA's header does not model them, and ptxas
//! changes no limit because of them.

mod architecture;
pub mod latency;
mod max_registers;
mod occupancy;
mod register_limit;
mod register_pool;
mod repartition;
#[cfg(test)]
mod tests;

/// The cost of one byte stored to or loaded from shared memory, relative to a byte of local memory. On an H200, spilled
/// words in loops of the examples took 0.56 to 0.70 of the time in shared memory that they took in local memory
/// (docs/results.md).
pub const SHARED_COST: f64 = 0.6;

pub use architecture::{
    Architecture, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, PREDICATES, REGISTER_GRANULARITY, REGISTERS, RegisterFile,
    SHARED_PER_BLOCK, SUB_PARTITIONS, WARP_SIZE, processor_number,
};
pub use occupancy::{BlockLimits, DEFAULT_THREADS, Launch, Limits, Occupancy};
pub use register_limit::{CommandLine, Decider, Ignored, MIN_REGISTER_LIMIT, RegisterLimit};
pub use register_pool::{RegisterRequests, RegisterShortage};
pub use repartition::{Circumstances, Entry, Repartition, RepartitionRefusal};
