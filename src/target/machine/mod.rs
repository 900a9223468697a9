//! The machine model: what a streaming multiprocessor (SM) has, how many blocks of a kernel it holds at once, and how
//! many registers a thread may have for that.
//!
//! [`Architecture::by_name`] finds a processor by the name that LLVM has for it; [`Architecture::occupancy`] counts as
//! NVIDIA's `cuda_occupancy.h` of CUDA 13.0 does, number by number, which `tests/rust/occupancy.rs` holds it to;
//! [`Architecture::max_registers_for_block`] and its neighbours turn the question round; [`Architecture::register_limit`] says how many
//! registers ptxas lets a thread have, which is not always a number with which the kernel can be launched. Clusters of
//! blocks are left out: that header does not know them, and ptxas lets them change no limit.

mod architecture;
pub mod latency;
mod max_registers;
mod occupancy;
mod register_limit;
mod register_pool;
mod repartition;
#[cfg(test)]
mod tests;

/// What a byte costs that moves to or from shared memory, where one of local memory costs 1. On an H200, a word that loops
/// of the examples move to shared memory took 0.56 to 0.70 of the time of one in local memory (docs/results.md).
pub const SHARED_COST: f64 = 0.6;

pub use architecture::{
    Architecture, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, PREDICATES, REGISTER_GRANULARITY, REGISTERS, RegisterFile,
    SHARED_PER_BLOCK, SUB_PARTITIONS, WARP_SIZE, processor_number,
};
pub use occupancy::{BlockLimits, DEFAULT_THREADS, Launch, Limits, Occupancy};
pub use register_limit::{CommandLine, Decider, Ignored, MIN_REGISTER_LIMIT, RegisterLimit};
pub use register_pool::{RegisterRequests, RegisterShortage};
pub use repartition::{Circumstances, Entry, Repartition, RepartitionRefusal};
