//! The forecast of a kernel.

use super::separate_compilation::LinkConflict;
use super::unknown_callees::UnknownCall;
use crate::forecast::footprint::promotion::UnpromotedVariable;
use crate::forecast::live::curve::Curve;
use crate::forecast::live::peak::Peak;
use crate::forecast::model::features::Features;
use crate::target::machine::{Architecture, Ignored, Launch, Occupancy, RegisterShortage};

/// What a forecast is for.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The processor.
    pub architecture: &'static Architecture,
    /// No kernel may have more registers, 24 to 255; smaller limits are taken as 24, as ptxas does. Its `-maxrregcount`
    /// does nothing to kernels with bounds; this holds for all, and raises no kernel's own limit.
    pub max_registers: Option<u32>,
}

/// What ptxas is expected to make of a kernel.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// The kernel.
    pub name: String,
    /// General registers of a thread, 1 to 255.
    pub registers: u32,
    /// The fewest and the most registers that ptxas is likely to take: of five kernels like it, four take no fewer than
    /// the one and no more than the other. Where [`is_at_least`](Self::is_at_least), callees may need more.
    pub likely_registers: (u32, u32),
    /// Why it may take more: what the kernel calls and is not there to be seen.
    pub unknown_calls: Vec<UnknownCall>,
    /// The kernel has bounds, and does not link with a function that it calls and that is compiled by itself.
    pub link_conflict: Option<LinkConflict>,
    /// Predicates that are live at once, at most those that there are.
    pub predicates: u32,
    /// Words live at once that ptxas keeps once for a warp, at most the uniform registers that there are.
    pub uniform_registers: u32,
    /// Bytes that a thread stores to spill slots, in the code.
    pub spill_store_bytes: u32,
    /// Bytes that it loads from them.
    pub spill_load_bytes: u32,
    /// The fewest and the most bytes that ptxas is likely to store there and load, together, if it spills: of five
    /// kernels like it that spill, four are in between. None where it is not expected to spill.
    pub likely_spill_bytes: (u32, u32),
    /// Bytes of stack that the code itself asks for and ptxas does not keep in registers.
    pub stack_bytes: u64,
    /// Bytes that its code stores there.
    pub stack_store_bytes: u64,
    /// Bytes that its code loads from there.
    pub stack_load_bytes: u64,
    /// Why there is a stack; not where only the figures were asked for.
    pub in_memory: Option<UnpromotedVariable>,
    /// Bytes of stack that the functions on its deepest chain of calls ask for beside it.
    pub callee_stack_bytes: u64,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u64,
    /// Bytes of shared memory that the launch adds; 0 until [`launch_with`](Self::launch_with) says so.
    pub dynamic_shared_bytes: u32,
    /// The most registers that the kernel may have, by its bounds and the limit.
    pub register_limit: u32,
    /// The kernel, or what it may call, asks for more or fewer registers while it runs: `setmaxnreg`.
    pub is_repartitioned: bool,
    /// The kernel itself asks, not only what it may call.
    pub repartitions_itself: bool,
    /// The request of the kernel that waits for registers for ever, with its line.
    pub register_shortage: Option<(RegisterShortage, u32)>,
    /// What the kernel's bounds say and ptxas does not do.
    pub ignored: Vec<Ignored>,
    /// Threads of a block, if the kernel says how many.
    pub threads: Option<u32>,
    /// Blocks that an SM must hold, if the kernel asks for that.
    pub min_blocks: Option<u32>,
    /// The kernel's own limit on registers: `.maxnreg`.
    pub max_registers: Option<u32>,
    /// The limit that the kernel gets because of the forecast: see [`limit`](Self::limit).
    pub limited_to: Option<u32>,
    /// What an SM holds of it.
    pub occupancy: Occupancy,
    /// The most registers with which an SM holds more warps.
    pub next_step: Option<u32>,
    /// The function that holds the most words: the kernel, or one that it calls. Curve and peak are of that one.
    pub holder: String,
    /// How many words are live along the code; no steps where only the figures were asked for.
    pub curve: Curve,
    /// Where the most words are live.
    pub peak: Peak,
    /// What the model was told.
    pub features: Features,
}

impl Forecast {
    /// The kernel calls what is not there to be seen: it may take more.
    pub fn is_at_least(&self) -> bool {
        !self.unknown_calls.is_empty()
    }

    /// The signs ahead of figures that [callees may raise](Self::is_at_least), as registers, and of those that they may lower, as warps.
    /// Nothing stands ahead of an exact figure.
    pub fn bound_signs(&self) -> (&'static str, &'static str) {
        if self.is_at_least() { ("≥", "≤") } else { ("", "") }
    }

    /// Bytes that a thread moves to spill slots and from them, in the code.
    pub fn spill_bytes(&self) -> u32 {
        self.spill_store_bytes + self.spill_load_bytes
    }

    /// Bytes of shared memory of a block, those of the launch included.
    pub fn block_shared_bytes(&self) -> u64 {
        self.shared_bytes + u64::from(self.dynamic_shared_bytes)
    }

    /// What an SM is asked to hold.
    pub fn launch(&self) -> Launch {
        let dynamic_shared = self.dynamic_shared_bytes;
        Launch { dynamic_shared, ..launch(self.registers, self.threads, self.shared_bytes) }
    }

    /// Has the launch add so many bytes of shared memory to what the kernel declares, and says anew what an SM holds.
    pub fn launch_with(&mut self, dynamic_shared_bytes: u32, architecture: &Architecture) {
        self.dynamic_shared_bytes = dynamic_shared_bytes;
        let launch = self.launch();
        (self.occupancy, self.next_step) = (architecture.occupancy(&launch), architecture.next_step(&launch));
    }
}

/// A launch without dynamic shared memory.
pub(super) fn launch(registers: u32, threads: Option<u32>, shared_bytes: u64) -> Launch {
    Launch { threads, static_shared: shared_bytes as u32, ..Launch::new(registers) }
}
