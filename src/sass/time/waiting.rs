//! Which instruction waited for what.

/// What keeps a warp from issuing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The stall count of the instruction ahead.
    Stall,
    /// Data of global memory.
    Global,
    /// Data of local memory.
    Local,
    /// Data of shared memory.
    Shared,
    /// Another unit without a fixed latency: approximate functions, shuffles, constants.
    Other,
    /// The other warps of the block.
    Barrier,
    /// A unit that has no room.
    Unit,
    /// The queue of memory.
    Queue,
    /// Another warp was chosen.
    Turn,
    /// The instruction is not there yet.
    Fetch,
}

impl Reason {
    /// All, in the order of their numbers.
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

    /// As a part of a sentence: it waits for ...
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
            Self::Turn => "turn of other warps",
            Self::Fetch => "instruction fetch",
        }
    }
}

/// What the warps of an SM did at an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCounts {
    /// How often a warp issued it.
    pub issued: u64,
    /// Cycles that warps waited ahead of it, by reason.
    pub cycles: [u64; Reason::ALL.len()],
}

impl StallCounts {
    /// All cycles of warps.
    pub fn total(&self) -> u64 {
        self.issued + self.cycles.iter().sum::<u64>()
    }

    /// Adds another instruction's.
    pub fn add(&mut self, other: &Self) {
        self.issued += other.issued;
        self.cycles.iter_mut().zip(other.cycles).for_each(|(own, other)| *own += other);
    }

    /// The reason that took most cycles.
    pub fn most(&self) -> Reason {
        let most =
            Reason::ALL.into_iter().max_by_key(|&reason| (self.cycles[reason as usize], std::cmp::Reverse(reason)));
        most.unwrap_or(Reason::Stall)
    }
}
