//! Which of LLVM's own optimisations a function goes without, and which it gets on top.

use super::value::{Choice, Shape, Value, flags};

flags! {
    /// Optimisations of LLVM's code generator that a function may go without. What each does may cost registers: most
    /// move or merge computations without asking how long their values then live.
    pub struct Skip {
        /// Addresses are separated into a base that is shared and a constant.
        "separate-const-offset-from-gep" => SEPARATE_CONST_OFFSET = 0,
        /// Computations under a condition are done ahead of it.
        "speculative-execution" => SPECULATIVE_EXECUTION = 1,
        /// Multiples of a value are computed from each other.
        "slsr" => SLSR = 2,
        /// Equal values are computed once.
        "gvn" => GVN = 3,
        /// Loads and stores beside each other become one.
        "load-store-vectorizer" => LOAD_STORE_VECTORIZER = 4,
        /// Addresses move to the loads and stores that use them, and other code closer to its use.
        "codegenprepare" => CODE_GEN_PREPARE = 5,
        /// What does not change moves out of loops.
        "early-machinelicm" => MACHINE_LICM = 6,
        /// Equal instructions are done once.
        "machine-cse" => MACHINE_CSE = 7,
        /// Instructions move to the branch that needs their value.
        "machine-sink" => MACHINE_SINK = 8,
        /// Blocks are laid out by how often they run.
        "block-placement" => BLOCK_PLACEMENT = 9,
        /// Addresses in loops are counted up, each by itself.
        "loop-reduce" => LOOP_REDUCE = 10,
        /// Of `loop-reduce` and `machine-sink` what the forecast clearly prefers to be left out of a kernel.
        "auto" => AUTO = 11,
    }
}

impl Skip {
    /// Between what the forecast chooses where that is left to it, the first where it prefers none.
    pub const WAYS: [Self; 4] =
        [Self::empty(), Self::LOOP_REDUCE, Self::MACHINE_SINK, Self::LOOP_REDUCE.union(Self::MACHINE_SINK)];

    /// Those of LLVM IR; the others are of machine code.
    pub const OF_IR: Self = Self::SEPARATE_CONST_OFFSET
        .union(Self::SPECULATIVE_EXECUTION)
        .union(Self::SLSR)
        .union(Self::GVN)
        .union(Self::LOAD_STORE_VECTORIZER)
        .union(Self::CODE_GEN_PREPARE)
        .union(Self::LOOP_REDUCE);

    /// The optimisation that LLVM has under a name; none where it is not one of these.
    pub fn of_pass(name: &str) -> Self {
        Self::parse(name, &Self::SHAPE).unwrap_or_default()
    }
}

flags! {
    /// Optimisations of LLVM on IR that run on a function ahead of the code generator, in this order. LLVM's own
    /// pipelines leave them out, or run them where later ones undo what they do.
    pub struct Add {
        /// Inline assembly that only computes is known to leave memory alone: a load behind it may be one ahead of it.
        "assembly-effects" => ASSEMBLY_EFFECTS = 0,
        /// What both sides of a branch compute is computed ahead of it.
        "gvn-hoist" => GVN_HOIST = 1,
        /// Sums are put in an order in which more of them are equal.
        "reassociate" => REASSOCIATE = 2,
        /// Multiples of a value are computed from each other, ahead of all that looks at addresses.
        "slsr" => SLSR = 3,
        /// Operations beside each other become one on vectors.
        "slp-vectorizer" => SLP_VECTORIZER = 4,
        /// Addresses are separated into a base that is shared and a constant, ahead of all that looks at them.
        "separate-const-offset-from-gep" => SEPARATE_CONST_OFFSET = 5,
        /// Computations move to the branch that needs their value.
        "sink" => SINK = 6,
        /// Branches are nested, and paths that meet have one block for it. Functions with a loop of several entries are
        /// left alone.
        "structurizecfg" => STRUCTURIZE_CFG = 7,
        /// All values go to memory and come back, so that PHIs are made anew.
        "reg2mem" => REG2MEM = 8,
    }
}

impl Add {
    /// What each is to LLVM's parser of pipelines.
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

    /// The pipelines that do it, one behind the other.
    pub fn pipelines(self) -> impl Iterator<Item = &'static str> {
        Self::PIPELINES.into_iter().filter(move |(pass, _)| self.contains(*pass)).map(|(_, pipeline)| pipeline)
    }
}
