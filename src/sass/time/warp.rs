//! A warp: where it is in its trace, and from when on it may issue.

use super::facts::{Facts, Work};
use super::waiting::Reason;
use crate::emulate::{Step, WarpTrace};

/// Until when a scoreboard is set by one instruction, and what for.
#[derive(Clone, Copy, Debug)]
struct Set {
    until: u64,
    reason: Reason,
}

/// A warp.
#[derive(Debug)]
pub(super) struct Warp<'t> {
    pub(super) trace: &'t WarpTrace,
    /// The block among those of the SM.
    pub(super) block: usize,
    /// What the numbers of its sectors of global and of local memory are changed by.
    pub(super) spaces: [u64; 2],
    at: usize,
    scoreboards: [Vec<Set>; 6],
    /// The sectors of the last stores, and the place in the trace of the last one.
    stored: (usize, Vec<u64>),
    /// When copies of no group and those of each group are there.
    pub(super) open_copies: u64,
    pub(super) waits_at_barrier: bool,
    /// The cycle of the last instruction, and from when on the next one may issue.
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

    /// The instruction that comes next.
    pub(super) fn step(&self) -> Option<Step> {
        self.trace.steps.get(self.at).copied()
    }

    /// The sectors of a store that earlier ones of the warp do not take with them: of stores close behind each other, a
    /// sector goes to L2 once. O(sectors of the stores).
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

    /// Goes on to the next instruction behind one that issued at a cycle.
    pub(super) fn advance(&mut self, at: u64) {
        self.issued_at = at;
        self.at += 1;
        self.reason = Reason::Stall;
    }

    /// Has the next instruction wait for the scoreboards that it names.
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

    /// Has the next instruction wait until a cycle.
    pub(super) fn delay(&mut self, until: u64, reason: Reason) {
        if until > self.next_at {
            (self.next_at, self.reason) = (until, reason);
        }
    }
}
