//! What is known of a kernel after ptxas has assembled it: ptxas's report, and counts of its machine code.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// ptxas's report of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PtxasReport {
    /// General registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores to spill slots, in the code.
    pub spill_store_bytes: u32,
    /// Bytes that a thread loads from spill slots, in the code.
    pub spill_load_bytes: u32,
    /// Bytes of the kernel's own stack frame.
    pub stack_bytes: u32,
    /// Bytes of the kernel's stack frame and the frames of the functions that it calls.
    pub total_stack_bytes: u32,
    /// Static shared memory of a block.
    pub shared_bytes: u32,
    /// Performance warnings of ptxas: matrix products that it serialises, each of which counts as a thousand, or matrix
    /// products whose registers it waits for.
    pub advice: u32,
}

/// Counts of a kernel's machine instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sass {
    /// All instructions except NOPs.
    pub instructions: u32,
    /// Instructions that access local memory.
    pub local: u32,
    /// Instructions that access other memory, and floating-point sums and products. They are the useful work of a loop.
    pub work: u32,
    /// Bytes moved between registers and fixed stack slots, each access times ten for each enclosing loop. The slots
    /// hold spilled values and all other data with a fixed place on the stack.
    pub stack_traffic: u64,
    /// Bytes moved between registers and shared memory, with the same weights.
    pub shared_traffic: u64,
}

/// The spills in the machine code of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spills {
    /// The words of the values that ptxas spills.
    pub words: Vec<SpilledWord>,
    /// Source lines of the instructions that compute a product and a sum with a spilled value.
    pub fused: BTreeSet<u32>,
}

/// A word of a value that ptxas spills, identified by the instruction that computes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpilledWord {
    /// The instruction's source line.
    pub line: u32,
    /// The index of this word among the words that the instruction computes.
    pub word: u32,
    /// The number of words that the instruction computes.
    pub of: u32,
    /// Words that its spills store and load, each times ten for each enclosing loop.
    pub moves: u32,
    /// Its loads.
    pub loads: Vec<SpilledLoad>,
}

/// A load of a value that ptxas spilled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpilledLoad {
    /// Executions of the load in a run of the function, times ten for each enclosing loop.
    pub times: u32,
    /// Source lines of the instructions that read the loaded value.
    pub readers: BTreeSet<u32>,
}
