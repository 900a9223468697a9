//! How long a kernel takes: cycles of one SM, from what its warps did and from what ptxas says in control codes.
//!
//! A launch runs on the CPU, and each warp of the blocks that one SM holds leaves a [trace](crate::emulate::WarpTrace).
//! The [model](simulate) issues these traces as an SM would: four partitions, each with an instruction a cycle at most;
//! stall counts and scoreboards; units of a width; L1, L2 and memory with the sectors that were really accessed.
//! No NVIDIA document describes an SM so closely. The structure follows what others measured (Huerta et al., *Analyzing
//! Modern NVIDIA GPU cores*, arXiv 2503.20481), and the numbers of a processor are a [file](processor) with their sources.
//!
//! * [`processor`]: the numbers;
//! * [`mod@unit`]: what does an instruction's work, and for how long; [`facts`]: all that the model knows of an instruction;
//! * [`cache`], [`memory`]: which sectors are near, and when the others come; [`fetch`]: the same of instructions;
//! * [`warp`], [`barrier`]: where a warp is in its trace, and what it waits for;
//! * [`simulate`]: the blocks of an SM; [`waiting`]: which instruction waited for what;
//! * [`bound`]: the least that units, bandwidth and latency allow, without any order;
//! * [`grid`]: from an SM to a grid; [`prediction`]: all of it, for a kernel; [`verdict`]: which of two is faster;
//! * [`walk`]: a trace of a kernel that cannot be run.

mod barrier;
pub mod bound;
mod cache;
pub mod facts;
mod fetch;
pub mod grid;
pub mod memory;
pub mod prediction;
pub mod processor;
pub mod simulate;
#[cfg(test)]
mod tests;
pub mod unit;
pub mod verdict;
pub mod waiting;
pub mod walk;
mod warp;
