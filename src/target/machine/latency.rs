//! How many cycles pass until a result can be read: roughly, for what counts is their ratio.
//!
//! NVIDIA documents two of them: the CUDA C++ Programming Guide says that most arithmetic takes 4 cycles from compute
//! capability 7.0 on, and that memory off the chip takes hundreds. Others are measured. Table 3 of doi
//! 10.1016/j.ultsonch.2023.106546 has, for V100, A100 and H100 alike: arithmetic 4, shared memory 20, L2 cache 200,
//! global memory 400. So there is one number for all architectures here.

/// Arithmetic.
pub const ARITHMETIC: u32 = 4;
/// A load that the constant cache holds: the parameters of a kernel stand there. Not documented: taken to lie between
/// arithmetic and shared memory.
pub const CONSTANT_LOAD: u32 = 10;
/// A load of shared memory, with a bank conflict or the queue in front of it.
pub const SHARED_LOAD: u32 = 30;
/// Shuffles, votes, barriers: they go where loads of shared memory go.
pub const EXCHANGE: u32 = 30;
/// A load of global, local or any other memory, by nobody loaded before.
pub const GLOBAL_LOAD: u32 = 400;
