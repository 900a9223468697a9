//! Cycles until the result of an instruction can be read. They are approximate, because only their ratios matter.
//!
//! NVIDIA documents two latencies: the CUDA C++ Programming Guide gives 4 cycles for most arithmetic from compute
//! capability 7.0 on, and hundreds of cycles for memory outside the chip. Others are measured. Table 3 of doi
//! 10.1016/j.ultsonch.2023.106546 has the same values for V100, A100 and H100: arithmetic 4, shared memory 20, L2 cache
//! 200, global memory 400. Therefore all architectures share one number here.

/// Arithmetic.
pub const ARITHMETIC: u32 = 4;
/// A hit in the constant cache, which holds the parameters of a kernel. Not documented: assumed to be between
/// arithmetic and shared memory.
pub const CONSTANT_LOAD: u32 = 10;
/// A load from shared memory, including a bank conflict or the queue.
pub const SHARED_LOAD: u32 = 30;
/// Shuffles, votes, barriers: they use the same path as loads from shared memory.
pub const EXCHANGE: u32 = 30;
/// A load from global, local or any other memory, of data that is in no cache.
pub const GLOBAL_LOAD: u32 = 400;
