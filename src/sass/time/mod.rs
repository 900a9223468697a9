//! The predicted time of a kernel: cycles of one SM, from the warps' traces and from ptxas's control codes.
//!
//! A launch runs on the CPU, and each warp of the blocks on one SM leaves a [trace](crate::emulate::WarpTrace). The
//! [model](simulate) issues these traces as an SM would. It has four partitions that issue at most one instruction per
//! cycle each. It models stall counts, scoreboards, the width of units, and L1, L2 and DRAM with the sectors of the
//! actual accesses. No NVIDIA document describes an SM in this detail. The structure follows published measurements
//! (Huerta et al., *Analyzing Modern NVIDIA GPU cores*, arXiv 2503.20481). The numbers of a processor are in a
//! [file](processor) with their sources.
//!
//! * [`processor`]: the numbers;
//! * [`mod@unit`]: the unit of an instruction, and its interval; [`facts`]: the static knowledge of an instruction;
//! * [`cache`], [`memory`]: present sectors, and the arrival of the others; [`fetch`]: the arrival of instructions;
//! * [`warp`], [`barrier`]: a warp's position in its trace, and its waits;
//! * [`simulate`]: the blocks of an SM; [`waiting`]: the reasons for which instructions waited;
//! * [`bound`]: lower bounds by units, bandwidth and latency, for any order;
//! * [`grid`]: from an SM to a grid; [`prediction`]: the prediction for a kernel; [`verdict`]: a comparison of two
//!   kernels;
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
