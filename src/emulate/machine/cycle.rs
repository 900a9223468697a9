//! Detects a warp that repeats its states, by Brent's method.
//!
//! The state of a warp is kept at the first, second, fourth, eighth check, and so on, and each check compares the
//! current state with the kept one. Two equal states prove an endless loop if no shared state changed and each runnable
//! thread ran in between: the threads then read the same values and follow the same path for ever.

use std::borrow::Cow;

use super::frame::Frame;
use super::pending::Copies;
use crate::emulate::memory::Flat;

/// All state that decides the control flow of a warp's threads, except the state shared with other warps.
#[derive(Debug)]
pub(super) struct State<'a> {
    /// Masks of the live threads, of the waiting threads, and of the threads that wait for others of the warp.
    pub(super) masks: [u32; 3],
    pub(super) pc: [u32; 32],
    pub(super) frame: [u32; 32],
    pub(super) frames: Cow<'a, [Option<Box<Frame>>]>,
    pub(super) local: Cow<'a, [Flat]>,
    pub(super) copies: Cow<'a, [Copies]>,
}

impl State<'_> {
    /// Whether another state is equal. `differs` is the frame and the row that differed last time: a counter usually
    /// differs again, so the comparison begins there.
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

/// The kept state of a warp.
#[derive(Debug, Default)]
pub(super) struct Cycle {
    kept: Option<Box<State<'static>>>,
    /// The threads that ran since the state was kept.
    pub(super) ran: u32,
    /// The number of checks so far, and the check at which the state is kept next.
    checks: u64,
    keep_at: u64,
    differs: [usize; 2],
    /// The number of changes to shared state when the repetition was found.
    changes: u64,
    repeats: bool,
}

impl Cycle {
    /// Whether the warp repeats its states as long as no shared state changes.
    pub(super) fn repeats(&self, changes: u64) -> bool {
        self.repeats && self.changes == changes
    }

    /// Compares the state of the warp with the kept one.
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
