//! A warp that repeats what it did, by Brent's method.
//!
//! The state of a warp is kept at the first, second, fourth, eighth check, and so on, and each check compares the state with
//! the kept one. If both are equal, nothing changed that threads share, and each thread that can run ran in between, then
//! the threads go the same way for ever: all that they read is as it was.

use super::frame::Frame;
use super::pending::Copies;
use super::warp::Warp;
use crate::emulate::memory::Flat;

/// All that decides which way the threads of a warp go, but for what they share with others.
#[derive(Debug)]
struct State {
    masks: [u32; 3],
    pc: [u32; 32],
    frame: [u32; 32],
    frames: Vec<Option<Box<Frame>>>,
    local: Vec<Flat>,
    copies: Vec<Copies>,
}

impl State {
    fn of(warp: &Warp) -> Self {
        let Warp { live, blocked, gathering, pc, frame, .. } = *warp;
        let (frames, local, copies) = (warp.frames.clone(), warp.local.clone(), warp.copies.clone());
        Self { masks: [live, blocked, gathering], pc, frame, frames, local, copies }
    }

    /// Whether a warp is in this state. `differs` is the frame and the row that differed last time: that of a counter
    /// differs again, and no other is looked at.
    fn is_of(&self, warp: &Warp, differs: &mut [usize; 2]) -> bool {
        let is_there = self.masks == [warp.live, warp.blocked, warp.gathering]
            && (&self.pc, &self.frame) == (&warp.pc, &warp.frame)
            && self.frames.len() == warp.frames.len();
        let row = |frames: &[Option<Box<Frame>>]| frames.get(differs[0])?.as_ref()?.values.get(differs[1]).copied();
        if !is_there || row(&self.frames) != row(&warp.frames) {
            return false;
        }
        for (number, (kept, now)) in self.frames.iter().zip(&warp.frames).enumerate() {
            if let (Some(kept), Some(now)) = (kept, now)
                && let Some(row) = kept.values.iter().zip(&now.values).position(|(kept, now)| kept != now)
            {
                *differs = [number, row];
                return false;
            }
        }
        self.frames == warp.frames && self.local == warp.local && self.copies == warp.copies
    }
}

/// What is known of a warp's states.
#[derive(Debug, Default)]
pub(super) struct Cycle {
    kept: Option<Box<State>>,
    /// The threads that ran since the state was kept.
    pub(super) ran: u32,
    /// How often the state was looked at, and when it is kept next.
    checks: u64,
    keep_at: u64,
    differs: [usize; 2],
    /// The number of changes of what threads share as all of this was found.
    changes: u64,
    repeats: bool,
}

impl Cycle {
    /// Whether the warp repeats what it did, as long as nothing changes that threads share.
    pub(super) fn repeats(&self, changes: u64) -> bool {
        self.repeats && self.changes == changes
    }
}

/// Looks at the state of a warp.
pub(super) fn check(warp: &mut Warp, changes: u64) {
    let mut cycle = std::mem::take(&mut warp.cycle);
    if cycle.kept.is_none() || cycle.changes != changes {
        cycle = Cycle { changes, keep_at: 1, ..Cycle::default() };
    } else if !cycle.repeats
        && warp.live & !warp.blocked & !cycle.ran == 0
        && let Some(kept) = &cycle.kept
    {
        cycle.repeats = kept.is_of(warp, &mut cycle.differs);
    }
    cycle.checks += 1;
    if cycle.checks == cycle.keep_at && !cycle.repeats {
        cycle.kept = Some(Box::new(State::of(warp)));
        cycle.keep_at *= 2;
        cycle.ran = 0;
    }
    warp.cycle = cycle;
}
