//! A warp: its position in the trace, and the cycle from which it may issue.

use super::facts::{Facts, Work};
use super::waiting::Reason;
use crate::emulate::{Step, WarpTrace};

/// An instruction's use of a scoreboard: the cycle at which it is cleared, and the reason.
#[derive(Clone, Copy, Debug)]
struct Set {
    until: u64,
    reason: Reason,
}

/// A warp.
#[derive(Debug)]
pub(super) struct Warp<'t> {
    pub(super) trace: &'t WarpTrace,
    /// The index of the block among the blocks of the SM.
    pub(super) block: usize,
    /// Masks for the sector numbers of the warp's accesses to global and to local memory. Each number is XORed with its
    /// mask.
    pub(super) spaces: [u64; 2],
    at: usize,
    scoreboards: [Vec<Set>; 6],
    /// The position of the last store in the trace, and the sectors of the recent stores.
    stored: (usize, Vec<u64>),
    /// The cycle at which all asynchronous copies so far arrive.
    pub(super) open_copies: u64,
    pub(super) waits_at_barrier: bool,
    /// The cycle of the last instruction, and the cycle from which the next one may issue.
    pub(super) issued_at: u64,
    pub(super) next_at: u64,
    pub(super) reason: Reason,
}

impl<'t> Warp<'t> {
    pub(super) fn new(trace: &'t WarpTrace, block: usize, spaces: [u64; 2]) -> Self {
        Self {
            trace,
            block,
            spaces,
            at: 0,
            scoreboards: Default::default(),
            stored: Default::default(),
            open_copies: 0,
            waits_at_barrier: false,
            issued_at: 0,
            next_at: 0,
            reason: Reason::Fetch,
        }
    }

    /// Returns the next instruction.
    pub(super) fn step(&self) -> Option<Step> {
        self.trace.steps.get(self.at).copied()
    }

    /// Returns the sectors of a store that are not merged with earlier stores of the warp. Nearby stores send each
    /// sector to L2 once. O(sectors of the stores).
    pub(super) fn stores(&mut self, sectors: &[u64], most_apart: usize) -> Vec<u64> {
        let (last, stored) = &mut self.stored;
        if self.at > *last + most_apart {
            stored.clear();
        }
        *last = self.at;
        let new: Vec<u64> = sectors.iter().copied().filter(|sector| !stored.contains(sector)).collect();
        stored.extend(&new);
        new
    }

    /// Sets a scoreboard until a cycle.
    pub(super) fn set(&mut self, scoreboard: Option<u8>, until: u64, reason: Reason) {
        if let Some(scoreboard) = scoreboard {
            let sets = &mut self.scoreboards[usize::from(scoreboard) % 6];
            sets.retain(|set| set.until > self.issued_at);
            sets.push(Set { until, reason });
        }
    }

    /// Advances to the next instruction after an issue at a cycle.
    pub(super) fn advance(&mut self, at: u64) {
        self.issued_at = at;
        self.at += 1;
        self.reason = Reason::Stall;
    }

    /// Makes the next instruction wait for its scoreboards.
    pub(super) fn wait(&mut self, facts: &Facts) {
        let (mut until, mut reason) = (self.next_at, self.reason);
        for scoreboard in (0..6).filter(|number| facts.control.waits >> number & 1 == 1) {
            for set in &self.scoreboards[scoreboard] {
                if set.until > until {
                    (until, reason) = (set.until, set.reason);
                }
            }
        }
        if let Work::Waits(scoreboard, left) = facts.work {
            let mut ends: Vec<u64> =
                self.scoreboards[usize::from(scoreboard) % 6].iter().map(|set| set.until).collect();
            ends.sort_unstable();
            let count = ends.len().saturating_sub(left as usize);
            if let Some(&end) = ends[..count].last().filter(|&&end| end > until) {
                (until, reason) = (end, Reason::Global);
            }
        }
        (self.next_at, self.reason) = (until, reason);
    }

    /// Makes the next instruction wait until a cycle.
    pub(super) fn delay(&mut self, until: u64, reason: Reason) {
        if until > self.next_at {
            (self.next_at, self.reason) = (until, reason);
        }
    }
}
