//! Options for LLVM's own optimisations: which are skipped, which are added, and how inlining and unrolling are
//! bounded.

use super::value::{Choice, Shape, Value, choices, flags};

choices! {
    /// Calls that LLVM inlines.
    pub enum Inline {
        /// As LLVM decides.
        "llvm" => Llvm,
        /// As LLVM decides, and all calls that pass the address of a stack variable of the kernel.
        "stack" => Stack,
        /// All calls.
        "all" => All,
        /// Only calls of functions within LLVM's usual size limit, which is an eleventh of the limit for NVPTX.
        "less" => Less,
    }
}

choices! {
    /// Loops that LLVM unrolls.
    pub enum Unroll {
        /// As LLVM decides.
        "llvm" => Llvm,
        /// Only loops for which the source requests it.
        "asked" => Asked,
        /// As LLVM decides, but loops with a pragma get as many bodies as in NVIDIA's compiler.
        "cut" => Cut,
        /// As LLVM decides, and all loops over arrays on the stack.
        "stack" => Stack,
    }
}

flags! {
    /// Optimisations of LLVM's code generator that can be skipped for a function. Each may cost registers: most move or
    /// merge computations without regard to the live ranges.
    pub struct SkipPasses {
        /// Addresses are separated into a shared base and a constant.
        "separate-const-offset-from-gep" => SEPARATE_CONST_OFFSET = 0,
        /// Conditional computations move before their branch.
        "speculative-execution" => SPECULATIVE_EXECUTION = 1,
        /// Multiples of a value are computed from each other.
        "slsr" => SLSR = 2,
        /// Equal values are computed once.
        "gvn" => GVN = 3,
        /// Neighbouring loads and stores become wide accesses.
        "load-store-vectorizer" => LOAD_STORE_VECTORIZER = 4,
        /// Addresses are computed at each load and store, and other code moves closer to its use.
        "codegenprepare" => CODE_GEN_PREPARE = 5,
        /// Loop-invariant code moves out of loops.
        "early-machinelicm" => MACHINE_LICM = 6,
        /// Equal machine instructions run once.
        "machine-cse" => MACHINE_CSE = 7,
        /// Instructions move to the branch that needs their value.
        "machine-sink" => MACHINE_SINK = 8,
        /// Blocks are laid out by their frequency.
        "block-placement" => BLOCK_PLACEMENT = 9,
        /// Each address in a loop has its own register, which the loop increments.
        "loop-reduce" => LOOP_REDUCE = 10,
    }
}

impl SkipPasses {
    /// Passes on LLVM IR; the others are passes on machine code.
    pub const OF_IR: Self = Self::SEPARATE_CONST_OFFSET
        .union(Self::SPECULATIVE_EXECUTION)
        .union(Self::SLSR)
        .union(Self::GVN)
        .union(Self::LOAD_STORE_VECTORIZER)
        .union(Self::CODE_GEN_PREPARE)
        .union(Self::LOOP_REDUCE);

    /// Returns the optimisation that LLVM's pass gate calls `name`; empty for other passes. The gate gets the titles of
    /// loop passes.
    pub fn of_pass(name: &str) -> Self {
        match name {
            "Loop Strength Reduction" => Self::LOOP_REDUCE,
            _ => Self::parse(name, &Self::SHAPE).unwrap_or_default(),
        }
    }
}

flags! {
    /// Optimisations of LLVM IR that run on a function before the code generator, in this order. LLVM's own pipelines
    /// omit them, or run them before others that undo their effect.
    pub struct AddPasses {
        /// Inline assembly that only computes does not prevent loads from moving or being merged.
        "assembly-effects" => ASSEMBLY_EFFECTS = 0,
        /// Computations on both sides of a branch move before it.
        "gvn-hoist" => GVN_HOIST = 1,
        /// Sums are reordered so that more of them are equal.
        "reassociate" => REASSOCIATE = 2,
        /// Multiples of a value are computed from each other, earlier than in LLVM's pipeline.
        "slsr" => SLSR = 3,
        /// Neighbouring scalar operations become vector operations.
        "slp-vectorizer" => SLP_VECTORIZER = 4,
        /// Addresses are separated into a shared base and a constant, earlier than in LLVM's pipeline.
        "separate-const-offset-from-gep" => SEPARATE_CONST_OFFSET = 5,
        /// Computations move to the branch that needs their value.
        "sink" => SINK = 6,
        /// Control flow is structured: branches are nested. Functions that have a loop with several entries stay as
        /// they are.
        "structurizecfg" => STRUCTURIZE_CFG = 7,
        /// All values pass through memory, so that PHIs are rebuilt.
        "reg2mem" => REG2MEM = 8,
    }
}

impl AddPasses {
    /// Names in LLVM's pipeline parser.
    const PIPELINES: [(Self, &'static str); 9] = [
        (Self::ASSEMBLY_EFFECTS, "nvptx-assembly-effects"),
        (Self::GVN_HOIST, "gvn-hoist"),
        (Self::REASSOCIATE, "reassociate"),
        (Self::SLSR, "slsr"),
        (Self::SLP_VECTORIZER, "slp-vectorizer"),
        (Self::SEPARATE_CONST_OFFSET, "separate-const-offset-from-gep"),
        (Self::SINK, "sink"),
        (Self::STRUCTURIZE_CFG, "nvptx-structurize-reducible"),
        (Self::REG2MEM, "reg2mem,mem2reg"),
    ];

    /// Yields the pipelines, in order.
    pub fn pipelines(self) -> impl Iterator<Item = &'static str> {
        Self::PIPELINES.into_iter().filter(move |(pass, _)| self.contains(*pass)).map(|(_, pipeline)| pipeline)
    }
}
