//! The reasons for which instructions waited.

/// A reason that keeps a warp from issuing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The stall count of the previous instruction.
    Stall,
    /// Data from global memory.
    Global,
    /// Data from local memory.
    Local,
    /// Data from shared memory.
    Shared,
    /// Another unit without a fixed latency: approximate functions, shuffles, constants.
    Other,
    /// The other warps of the block.
    Barrier,
    /// A unit that is not free.
    Unit,
    /// The memory queue.
    Queue,
    /// The issue of another warp.
    Turn,
    /// The fetch of the instruction.
    Fetch,
}

impl Reason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Stall,
        Self::Global,
        Self::Local,
        Self::Shared,
        Self::Other,
        Self::Barrier,
        Self::Unit,
        Self::Queue,
        Self::Turn,
        Self::Fetch,
    ];

    /// Returns the reason as a noun phrase that follows "it waits for".
    pub fn name(self) -> &'static str {
        match self {
            Self::Stall => "fixed latency",
            Self::Global => "global memory",
            Self::Local => "local memory",
            Self::Shared => "shared memory",
            Self::Other => "special unit",
            Self::Barrier => "barrier",
            Self::Unit => "busy unit",
            Self::Queue => "memory queue",
            Self::Turn => "issue of other warps",
            Self::Fetch => "instruction fetch",
        }
    }
}

/// The activity of an SM's warps at an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCounts {
    /// How often a warp issued it.
    pub issued: u64,
    /// The cycles that warps waited before it, by reason.
    pub cycles: [u64; Reason::ALL.len()],
}

impl StallCounts {
    /// Returns the sum of the cycles.
    pub fn total(&self) -> u64 {
        self.issued + self.cycles.iter().sum::<u64>()
    }

    /// Adds the counts of another instruction.
    pub fn add(&mut self, other: &Self) {
        self.issued += other.issued;
        self.cycles.iter_mut().zip(other.cycles).for_each(|(own, other)| *own += other);
    }

    /// Returns the reason with the most cycles.
    pub fn most(&self) -> Reason {
        let most =
            Reason::ALL.into_iter().max_by_key(|&reason| (self.cycles[reason as usize], std::cmp::Reverse(reason)));
        most.unwrap_or(Reason::Stall)
    }
}
