//! Pending work at a place in the code: results that are not written yet, and sources that are not read yet.

use std::collections::BTreeMap;

use super::guard::Guard;
use crate::sass::control::Control;
use crate::sass::effects::{Place, Unit};

/// The cycles after which every result of a fixed latency is written.
pub(super) const LONGEST: u16 = 64;

/// Pending work of a unit on a register. If several instructions start equal work, only the newest one is recorded,
/// because it ends last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    /// The register.
    pub(super) place: Place,
    /// Whether the register is written. It is read otherwise.
    pub(super) is_write: bool,
    /// The unit that executes the work.
    pub(super) unit: Unit,
    /// The scoreboards, as bits. A wait for any of them is enough.
    pub(super) scoreboards: u8,
    /// The scoreboard of the instruction itself, for a result of an out-of-order unit.
    pub(super) own: Option<u8>,
    /// The condition under which the work executes. `None` after a change of its predicate.
    pub(super) guard: Option<Guard>,
}

/// The origin of pending work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The number of the instruction that started the work. If paths with different instructions join, the lowest
    /// number.
    pub(super) from: u32,
    /// The least number of later instructions that set the same scoreboard.
    pub(super) behind: u8,
}

/// A result of a fixed latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fixed {
    /// The register.
    pub(super) place: Place,
    /// The number of the instruction that writes the register.
    pub(super) from: u32,
    /// The condition under which the register is written. `None` after a change of its predicate.
    pub(super) guard: Option<Guard>,
}

/// All pending work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The least number of cycles since each result of a fixed latency was started.
    pub(super) fixed: BTreeMap<Fixed, u16>,
    /// Pending work of units.
    pub(super) work: BTreeMap<Work, Origin>,
}

/// Returns the scoreboard as a bit.
fn bit(scoreboard: Option<u8>) -> u8 {
    scoreboard.map_or(0, |number| 1 << number)
}

impl Origin {
    fn joined(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), behind: self.behind.min(other.behind) }
    }
}

impl State {
    /// Adds the pending work of another path. Returns whether something changed.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let mut is_changed = false;
        for (&key, &cycles) in &other.fixed {
            let mine = self.fixed.entry(key).or_insert(u16::MAX);
            if cycles < *mine {
                (*mine, is_changed) = (cycles, true);
            }
        }
        for (&key, &origin) in &other.work {
            let none = Origin { from: u32::MAX, behind: u8::MAX };
            let mine = self.work.entry(key).or_insert(none);
            let joined = mine.joined(origin);
            if *mine != joined {
                (*mine, is_changed) = (joined, true);
            }
        }
        is_changed
    }

    /// Waits for scoreboards, given as bits.
    pub(super) fn wait(&mut self, scoreboards: u8) {
        if scoreboards != 0 {
            self.work.retain(|work, _| work.scoreboards & scoreboards == 0);
        }
    }

    /// Waits until only the last `newest` instructions of a scoreboard may be pending.
    pub(super) fn wait_but_newest(&mut self, scoreboard: u8, newest: u8) {
        if newest == 0 {
            self.wait(1 << scoreboard);
        } else {
            self.work.retain(|work, origin| work.own != Some(scoreboard) || origin.behind < newest);
        }
    }

    /// Advances by some cycles.
    pub(super) fn pass(&mut self, cycles: u16) {
        self.fixed.retain(|_, since| {
            *since += cycles;
            *since < LONGEST
        });
    }

    /// Returns the pending writes to a register, or the pending reads of it. Work whose condition excludes `guard` is
    /// left out.
    pub(super) fn of_place(
        &self,
        place: Place,
        is_write: bool,
        guard: Option<Guard>,
    ) -> impl Iterator<Item = (Work, u32)> {
        let first = Work { place, is_write, unit: Unit::FIRST, scoreboards: 0, own: None, guard: None };
        let works =
            self.work.range(first..).take_while(move |(work, _)| (work.place, work.is_write) == (place, is_write));
        works.filter(move |(work, _)| !Guard::exclude(work.guard, guard)).map(|(&work, origin)| (work, origin.from))
    }

    /// Returns the pending results of fixed latencies for a register. Results whose condition excludes `guard` are left
    /// out.
    pub(super) fn fixed_of_place(&self, place: Place, guard: Option<Guard>) -> impl Iterator<Item = (u32, u16)> {
        let first = Fixed { place, from: 0, guard: None };
        let fixed = self.fixed.range(first..).take_while(move |(fixed, _)| fixed.place == place);
        fixed.filter(move |(fixed, _)| !Guard::exclude(fixed.guard, guard)).map(|(fixed, &cycles)| (fixed.from, cycles))
    }

    /// Removes the pending work on a register that is overwritten.
    pub(super) fn forget(&mut self, place: Place) {
        self.fixed.retain(|fixed, _| fixed.place != place);
        self.work.retain(|work, _| work.place != place);
    }

    /// Assumes a condition from here on. Work under the opposite condition is removed.
    pub(super) fn assume(&mut self, guard: Guard) {
        self.fixed.retain(|fixed, _| !Guard::exclude(fixed.guard, Some(guard)));
        self.work.retain(|work, _| !Guard::exclude(work.guard, Some(guard)));
    }

    /// Removes conditions on a predicate that changes.
    pub(super) fn change(&mut self, predicate: Place) {
        let is_on = |guard: Option<Guard>| guard.is_some_and(|guard| guard.place == predicate);
        if self.fixed.keys().any(|fixed| is_on(fixed.guard)) {
            for (mut fixed, cycles) in std::mem::take(&mut self.fixed) {
                fixed.guard = fixed.guard.filter(|_| !is_on(fixed.guard));
                let mine = self.fixed.entry(fixed).or_insert(cycles);
                *mine = cycles.min(*mine);
            }
        }
        if self.work.keys().any(|work| is_on(work.guard)) {
            self.map(|mut work, origin| {
                work.guard = work.guard.filter(|_| !is_on(work.guard));
                (work, origin)
            });
        }
    }

    /// Records that a unit accepts an instruction that sets scoreboards.
    pub(super) fn begin(&mut self, unit: Unit, writes: Option<u8>, reads: Option<u8>) {
        if writes.is_none() && reads.is_none() {
            return;
        }
        self.map(|mut work, mut origin| {
            if work.own.is_some() && (work.own == writes || work.own == reads) {
                origin.behind = origin.behind.saturating_add(1);
            }
            // The end of this work implies the end of all earlier work.
            if work.is_write && work.unit == unit && unit.is_in_order() {
                work.scoreboards |= bit(writes);
            }
            if !work.is_write && work.unit.shares_queue(unit) {
                work.scoreboards |= bit(writes) | bit(reads);
            }
            (work, origin)
        });
    }

    fn map(&mut self, each: impl Fn(Work, Origin) -> (Work, Origin)) {
        for (work, origin) in std::mem::take(&mut self.work) {
            let (work, origin) = each(work, origin);
            let mine = self.work.entry(work).or_insert(origin);
            *mine = mine.joined(origin);
        }
    }

    /// Adds work that the instruction `from` started on a register.
    pub(super) fn add(&mut self, work: Work, from: u32) {
        self.work.insert(work, Origin { from, behind: 0 });
    }
}

impl Work {
    /// Creates a read of a register by a unit, which sets scoreboards.
    pub(super) fn read(place: Place, unit: Unit, control: Control, guard: Option<Guard>) -> Self {
        let scoreboards = bit(control.writes) | bit(control.reads);
        Self { place, is_write: false, unit, scoreboards, own: None, guard }
    }

    /// Creates a result of a unit, which sets a scoreboard.
    pub(super) fn write(place: Place, unit: Unit, control: Control, guard: Option<Guard>) -> Self {
        // An atomic operation without a value result writes its success predicate as soon as it has read its sources.
        let is_predicate = matches!(place, Place::Predicate(_));
        let done = control.writes.or(control.reads.filter(|_| is_predicate));
        let own = done.filter(|_| !unit.is_in_order());
        Self { place, is_write: true, unit, scoreboards: bit(done), own, guard }
    }
}
