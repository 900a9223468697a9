//! The forecast of a kernel.

use super::separate_compilation::LinkConflict;
use super::unknown_callees::UnknownCall;
use crate::forecast::footprint::promotion::UnpromotedVariable;
use crate::forecast::live::curve::Curve;
use crate::forecast::live::peak::Peak;
use crate::forecast::model::features::Features;
use crate::target::machine::{Architecture, Ignored, Launch, Occupancy, RegisterShortage};

/// Conditions of a forecast.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Processor.
    pub architecture: &'static Architecture,
    /// Register limit of all kernels, 24 to 255. Smaller limits count as 24, as in ptxas. ptxas's `-maxrregcount` does
    /// not apply to kernels with bounds; this limit applies to all kernels and never raises a kernel's own limit.
    pub max_registers: Option<u32>,
}

/// Forecast of ptxas's results for a kernel.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Name of the kernel.
    pub name: String,
    /// General registers of a thread, 1 to 255.
    pub registers: u32,
    /// Fewest and most registers that ptxas is likely to take: an 80 % interval. If [`is_at_least`](Self::is_at_least),
    /// callees may need more.
    pub likely_registers: (u32, u32),
    /// Calls of unknown functions, because of which the kernel may take more registers.
    pub unknown_calls: Vec<UnknownCall>,
    /// Callee whose separate compilation does not link with the kernel's bounds.
    pub link_conflict: Option<LinkConflict>,
    /// Predicates that are live at once, at most the predicate registers.
    pub predicates: u32,
    /// Words live at once in uniform registers, at most the uniform registers.
    pub uniform_registers: u32,
    /// Bytes that a thread stores to spill slots, if each instruction executes once.
    pub spill_store_bytes: u32,
    /// Bytes that a thread loads from spill slots, if each instruction executes once.
    pub spill_load_bytes: u32,
    /// Fewest and most bytes that ptxas is likely to store to spill slots and load from them, together: an 80 %
    /// interval among kernels that spill. 0 to 0 if no spill is expected.
    pub likely_spill_bytes: (u32, u32),
    /// Bytes of stack variables that ptxas does not promote to registers.
    pub stack_bytes: u64,
    /// Bytes that the code stores to these variables.
    pub stack_store_bytes: u64,
    /// Bytes that the code loads from these variables.
    pub stack_load_bytes: u64,
    /// Why there are such variables. `None` also if only the figures were requested.
    pub in_memory: Option<UnpromotedVariable>,
    /// Bytes of stack variables of the callees on the deepest chain of calls.
    pub callee_stack_bytes: u64,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u64,
    /// Bytes of shared memory that the launch adds; 0 until [`launch_with`](Self::launch_with) sets them.
    pub dynamic_shared_bytes: u32,
    /// Most registers that the kernel may have, by its bounds and the limit.
    pub register_limit: u32,
    /// Whether the kernel or a possible callee requests or releases registers at run time (`setmaxnreg`).
    pub is_repartitioned: bool,
    /// Whether the kernel itself requests or releases registers, not only a possible callee.
    pub repartitions_itself: bool,
    /// Request of the kernel that waits for registers for ever, with its line.
    pub register_shortage: Option<(RegisterShortage, u32)>,
    /// Bounds of the kernel that ptxas ignores.
    pub ignored: Vec<Ignored>,
    /// Threads of a block, if the kernel gives them.
    pub threads: Option<u32>,
    /// Blocks that an SM must hold, if the kernel gives them.
    pub min_blocks: Option<u32>,
    /// The kernel's own register limit: `.maxnreg`.
    pub max_registers: Option<u32>,
    /// Limit that the kernel gets because of the forecast: see [`limit`](Self::limit).
    pub limited_to: Option<u32>,
    /// Occupancy of the kernel.
    pub occupancy: Occupancy,
    /// Most registers with which an SM holds more warps.
    pub next_step: Option<u32>,
    /// Function with the most live words: the kernel or a callee. Curve and peak describe this function.
    pub holder: String,
    /// Live words along the code; without steps if only the figures were requested.
    pub curve: Curve,
    /// Place with the most live words.
    pub peak: Peak,
    /// Inputs of the model.
    pub features: Features,
}

impl Forecast {
    /// Whether the kernel has unknown callees, because of which it may take more registers.
    pub fn is_at_least(&self) -> bool {
        !self.unknown_calls.is_empty()
    }

    /// Returns two signs: the first precedes figures that [callees may raise](Self::is_at_least), such as registers,
    /// and the second precedes figures that callees may lower, such as warps. Exact figures have no sign.
    pub fn bound_signs(&self) -> (&'static str, &'static str) {
        if self.is_at_least() { ("≥", "≤") } else { ("", "") }
    }

    /// Returns the bytes that a thread stores to spill slots and loads from them, if each instruction executes once.
    pub fn spill_bytes(&self) -> u32 {
        self.spill_store_bytes + self.spill_load_bytes
    }

    /// Returns the bytes of shared memory of a block, including those of the launch.
    pub fn block_shared_bytes(&self) -> u64 {
        self.shared_bytes + u64::from(self.dynamic_shared_bytes)
    }

    /// Returns the launch, as far as it determines the occupancy.
    pub fn launch(&self) -> Launch {
        let dynamic_shared = self.dynamic_shared_bytes;
        Launch { dynamic_shared, ..launch(self.registers, self.threads, self.shared_bytes) }
    }

    /// Adds the launch's dynamic shared memory, and computes the occupancy again.
    pub fn launch_with(&mut self, dynamic_shared_bytes: u32, architecture: &Architecture) {
        self.dynamic_shared_bytes = dynamic_shared_bytes;
        let launch = self.launch();
        (self.occupancy, self.next_step) = (architecture.occupancy(&launch), architecture.next_step(&launch));
    }
}

/// Returns a launch without dynamic shared memory.
pub(super) fn launch(registers: u32, threads: Option<u32>, shared_bytes: u64) -> Launch {
    Launch { threads, static_shared: shared_bytes as u32, ..Launch::new(registers) }
}
