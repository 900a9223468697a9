//! The phases of an mbarrier.

/// A tensor box in transit: its address in shared memory, and its address in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TensorBox {
    pub(super) to: u32,
    pub(super) from: u64,
}

/// An mbarrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Mbarrier {
    pub(super) expected: i64,
    /// The number of arrivals that this phase still expects.
    pub(super) pending: i64,
    /// The number of bytes that this phase still expects.
    pub(super) bytes: i64,
    pub(super) phase: u64,
    /// The joined clocks of the threads that arrived.
    pub(super) clocks: [u32; 32],
    /// Tensor boxes in transit, by their address in shared memory.
    pub(super) boxes: Vec<TensorBox>,
    /// How often threads have tested the phase since the last arrival, with boxes in transit.
    pub(super) asked: u32,
}

/// Modulus of the counts in a state.
const COUNTS: i64 = 1 << 20;

impl Mbarrier {
    /// Begins the next phase if no arrival and no byte is missing.
    pub(super) fn advance(&mut self) {
        if self.pending <= 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }

    /// Whether only tensor boxes are missing.
    pub(super) fn waits_for_boxes(&self) -> bool {
        self.pending <= 0 && self.bytes > 0 && !self.boxes.is_empty()
    }

    /// Returns the state as in machine code: the parity of the phase in the highest bit, below it the arrivals still
    /// expected, and in the lower half the arrivals of every phase. Counts are stored as their distance to 2^20.
    fn state(&self) -> u64 {
        let count = |count: i64| ((COUNTS - count) & (COUNTS - 1)) as u64;
        (self.phase & 1) << 63 | count(self.pending) << 43 | count(self.expected) << 1
    }

    /// Counts arrivals and returns the state before them.
    pub(super) fn arrive(&mut self, count: i64, clocks: &[u32; 32]) -> u64 {
        let state = self.state();
        self.clocks.iter_mut().zip(clocks).for_each(|(to, &from)| *to = (*to).max(from));
        self.pending -= count;
        self.asked = 0;
        self.advance();
        state
    }
}
