//! The phases of an mbarrier.

/// A box on its way: where it goes in shared memory, and where it lies in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TensorBox {
    pub(super) to: u32,
    pub(super) from: u64,
}

/// An mbarrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Mbarrier {
    pub(super) expected: i64,
    /// How many are still to arrive in this phase.
    pub(super) pending: i64,
    /// How many bytes are still to come.
    pub(super) bytes: i64,
    pub(super) phase: u64,
    /// What those that arrived have heard of.
    pub(super) clocks: [u32; 32],
    /// Boxes of tensors that are on their way, by their places in shared memory.
    pub(super) boxes: Vec<TensorBox>,
    /// How often a thread asked whether the phase is over since the last one arrived, while boxes were on their way.
    pub(super) asked: u32,
}

/// Counts go up to this number in a state.
const COUNTS: i64 = 1 << 20;

impl Mbarrier {
    /// Begins the next phase if nothing is missing.
    pub(super) fn advance(&mut self) {
        if self.pending <= 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }

    /// Whether nothing but boxes of tensors is missing.
    pub(super) fn waits_for_boxes(&self) -> bool {
        self.pending <= 0 && self.bytes > 0 && !self.boxes.is_empty()
    }

    /// What the mbarrier is, as machine code has it: the parity of the phase in the highest bit, below it the threads that are
    /// still to arrive, and in the lower half those of every phase. Counts are what is left to 2^20.
    fn state(&self) -> u64 {
        let count = |count: i64| ((COUNTS - count) & (COUNTS - 1)) as u64;
        (self.phase & 1) << 63 | count(self.pending) << 43 | count(self.expected) << 1
    }

    /// Threads arrive; the state ahead of that.
    pub(super) fn arrive(&mut self, count: i64, clocks: &[u32; 32]) -> u64 {
        let state = self.state();
        self.clocks.iter_mut().zip(clocks).for_each(|(to, &from)| *to = (*to).max(from));
        self.pending -= count;
        self.asked = 0;
        self.advance();
        state
    }
}
