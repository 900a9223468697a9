//! A warp that repeats what it did, by Brent's method.
//!
//! The state of a warp is kept at the first, second, fourth, eighth check, and so on, and each check compares the state with
//! the kept one. If both are equal, nothing changed that threads share, and each thread that can run ran in between, then
//! the threads go the same way for ever: all that they read is as it was.

use std::borrow::Cow;

use super::frame::Frame;
use super::pending::Copies;
use crate::emulate::memory::Flat;

/// All that decides which way the threads of a warp go, but for what they share with others.
#[derive(Debug)]
pub(super) struct State<'a> {
    /// The threads that live, those that wait, and those that wait for others of the warp.
    pub(super) masks: [u32; 3],
    pub(super) pc: [u32; 32],
    pub(super) frame: [u32; 32],
    pub(super) frames: Cow<'a, [Option<Box<Frame>>]>,
    pub(super) local: Cow<'a, [Flat]>,
    pub(super) copies: Cow<'a, [Copies]>,
}

impl State<'_> {
    /// Whether another state is the same. `differs` is the frame and the row that differed last time: that of a counter
    /// differs again, and no other is looked at.
    fn is(&self, now: &State<'_>, differs: &mut [usize; 2]) -> bool {
        let is_there = (self.masks, self.pc, self.frame) == (now.masks, now.pc, now.frame)
            && self.frames.len() == now.frames.len();
        let row = |state: &State<'_>| state.frames.get(differs[0])?.as_ref()?.values.get(differs[1]).copied();
        if !is_there || row(self) != row(now) {
            return false;
        }
        for (number, (kept, now)) in self.frames.iter().zip(now.frames.iter()).enumerate() {
            if let (Some(kept), Some(now)) = (kept, now)
                && let Some(row) = kept.values.iter().zip(&now.values).position(|(kept, now)| kept != now)
            {
                *differs = [number, row];
                return false;
            }
        }
        self.frames == now.frames && self.local == now.local && self.copies == now.copies
    }

    fn kept(&self) -> State<'static> {
        State {
            masks: self.masks,
            pc: self.pc,
            frame: self.frame,
            frames: Cow::Owned(self.frames.to_vec()),
            local: Cow::Owned(self.local.to_vec()),
            copies: Cow::Owned(self.copies.to_vec()),
        }
    }
}

/// What is known of a warp's states.
#[derive(Debug, Default)]
pub(super) struct Cycle {
    kept: Option<Box<State<'static>>>,
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

    /// Looks at the state of the warp.
    pub(super) fn check(&mut self, now: &State<'_>, changes: u64) {
        let [live, blocked, _] = now.masks;
        if self.kept.is_none() || self.changes != changes {
            *self = Self { changes, keep_at: 1, ..Self::default() };
        } else if !self.repeats
            && live & !blocked & !self.ran == 0
            && let Some(kept) = &self.kept
        {
            self.repeats = kept.is(now, &mut self.differs);
        }
        self.checks += 1;
        if self.checks == self.keep_at && !self.repeats {
            self.kept = Some(Box::new(now.kept()));
            self.keep_at *= 2;
            self.ran = 0;
        }
    }
}
