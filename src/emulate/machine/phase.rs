//! The phases of an mbarrier.

/// An mbarrier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mbarrier {
    pub(super) expected: i64,
    /// How many are still to arrive in this phase.
    pub(super) pending: i64,
    /// How many bytes are still to come.
    pub(super) bytes: i64,
    pub(super) phase: u64,
    /// What those that arrived have heard of.
    pub(super) clocks: [u32; 32],
}

impl Mbarrier {
    /// Begins the next phase if nothing is missing.
    pub(super) fn advance(&mut self) {
        if self.pending <= 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }

    /// Threads arrive; the phase in which they do.
    pub(super) fn arrive(&mut self, count: i64, clocks: &[u32; 32]) -> u64 {
        let state = self.phase;
        self.clocks.iter_mut().zip(clocks).for_each(|(to, &from)| *to = (*to).max(from));
        self.pending -= count;
        self.advance();
        state
    }
}
