//! What is known of a kernel once ptxas has assembled it: the report of ptxas, and what its machine code comes to.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What ptxas reports of a kernel.
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
    /// With what the functions that it calls have.
    pub total_stack_bytes: u32,
    /// Static shared memory of a block.
    pub shared_bytes: u32,
    /// How often ptxas says that it has made something of the code slower: products of matrices that it runs one after the
    /// other, which counts a thousand times, or whose registers it waits for.
    pub advice: u32,
}

/// Machine instructions of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sass {
    /// All but NOPs.
    pub instructions: u32,
    /// Those that access local memory.
    pub local: u32,
    /// Those that access other memory, and floating-point sums and products: what a loop is there for.
    pub work: u32,
    /// Bytes moved between registers and fixed places of the stack, each access ten times for each loop around it.
    /// Spilled values move so, and whatever else has a place there.
    pub stack_traffic: u64,
    /// Bytes moved between registers and shared memory, counted alike.
    pub shared_traffic: u64,
}

/// What a look at the machine code of a function found of its spills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spills {
    /// The words of the values that ptxas spills.
    pub words: Vec<SpilledWord>,
    /// The source lines of instructions that compute a product and a sum with it.
    pub fused: BTreeSet<u32>,
}

/// A word of a value that ptxas spills, by the instruction that computes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpilledWord {
    /// The instruction's source line.
    pub line: u32,
    /// Which of the words that the instruction computes.
    pub word: u32,
    /// How many words the instruction computes.
    pub of: u32,
    /// How many words its spills store and load, each ten times for each loop around it.
    pub moves: u32,
    /// The loads of it.
    pub loads: Vec<SpilledLoad>,
}

/// A load of a value that ptxas spilled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpilledLoad {
    /// How often it runs in a run of the function, ten times for each loop around it.
    pub times: u32,
    /// The source lines of the instructions that read what it loads.
    pub readers: BTreeSet<u32>,
}
