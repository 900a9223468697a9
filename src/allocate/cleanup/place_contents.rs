//! Contents of places: at one point of the code, the places that hold the value of each live range.
//!
//! A fact states that a place holds the current value of a live range. A fact is known only if it holds on every path
//! to the point. After copies, several live ranges may have one value, and several places may hold it.

use super::overlay::Overlay;
use super::places::Place;
use super::steps::{Step, Steps};
use crate::allocate::problem::LiveRange;
use crate::index::{EntityIndex, IndexVec};

/// A place that holds the value of a live range, with the number of copies and reloads by which the value arrived
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fact {
    pub(super) place: Place,
    pub(super) range: LiveRange,
    pub(super) copies: u8,
}

/// Larger numbers of copies count as this one, so that the analysis terminates in loops.
const MOST_COPIES: u8 = 3;

/// Facts at one point.
#[derive(Debug)]
pub(super) struct PlaceContents {
    /// By place: the live ranges whose values start at it, each with its number of copies.
    at: Vec<Vec<(LiveRange, u8)>>,
    /// By live range: the places that hold its value.
    of: IndexVec<LiveRange, Vec<Place>>,
    /// Places that have held a value since facts were loaded.
    touched: Vec<Place>,
}

impl PlaceContents {
    pub(super) fn new(steps: &Steps<'_>) -> Self {
        let of = IndexVec::filled(Vec::new(), steps.problem.ranges().len());
        Self { at: vec![Vec::new(); steps.places.len()], of, touched: Vec::new() }
    }

    /// Replaces the contents by a list of facts.
    pub(super) fn load(&mut self, facts: &[Fact]) {
        for place in self.touched.drain(..) {
            for (range, _) in self.at[place.index()].drain(..) {
                self.of[range].clear();
            }
        }
        for &Fact { place, range, copies } in facts {
            self.hold(range, place, copies);
        }
    }

    /// Returns the facts, by place and live range.
    pub(super) fn facts(&mut self) -> Vec<Fact> {
        self.touched.sort_unstable();
        self.touched.dedup();
        let mut facts = Vec::new();
        for &place in &self.touched {
            let first = facts.len();
            let here = self.at[place.index()].iter();
            facts.extend(here.map(|&(range, copies)| Fact { place, range, copies }));
            facts[first..].sort_unstable();
        }
        facts
    }

    /// Returns the number of copies by which the value of a live range reached a place. `None` if the place does not
    /// hold it.
    pub(super) fn copies(&self, range: LiveRange, place: Place) -> Option<u8> {
        self.at[place.index()].iter().find(|(contents, _)| *contents == range).map(|&(_, copies)| copies)
    }

    /// Returns the places that hold the value of a live range, in no order.
    pub(super) fn places(&self, range: LiveRange) -> &[Place] {
        &self.of[range]
    }

    /// Applies the effect of a step, with the edits so far.
    pub(super) fn run(&mut self, steps: &Steps<'_>, step: Step, overlay: &Overlay) {
        match step {
            Step::Link { to, .. } => {
                let home = steps.home(to);
                self.forget(to);
                if !steps.is_spilled(to) {
                    self.destroy(steps, home, steps.width(to));
                }
                self.hold(to, home, 0);
            }
            Step::Reload { range, access } => {
                let is_left_out = overlay.is_removed(steps.access(range, access).inst);
                if overlay.read(access).is_none() && !is_left_out {
                    let units = steps.units(range, access);
                    self.destroy(steps, units, steps.width(range));
                    self.hold(range, units, 1);
                }
            }
            Step::Read { .. } | Step::ReadInPlace { .. } => {}
            Step::Write { range, access } => self.write(steps, (range, access), overlay),
            Step::Take { range } => self.destroy(steps, steps.home(range), steps.width(range)),
            Step::Resume { range } => {
                let home = steps.home(range);
                if self.copies(range, home).is_none() {
                    self.destroy(steps, home, steps.width(range));
                    self.hold(range, home, 0);
                }
            }
        }
    }

    fn write(&mut self, steps: &Steps<'_>, (range, access): (LiveRange, usize), overlay: &Overlay) {
        let (units, width) = (steps.units(range, access), steps.width(range));
        let is_removed = overlay.is_removed(steps.access(range, access).inst);
        self.forget(range);
        let Some((from, read)) = steps.copied_from(range, access, overlay) else {
            if !is_removed {
                self.destroy(steps, units, width);
                self.hold(range, units, 0);
            }
            return self.store(steps, (range, access), overlay);
        };
        let stays = is_removed || read == units;
        let places: Vec<(Place, u8)> = self.units_of(steps, from).collect();
        // All live ranges that have the copied value.
        let mut alike: Vec<LiveRange> = Vec::new();
        if !stays {
            alike.extend(places.iter().flat_map(|&(place, _)| &self.at[place.index()]).map(|&(other, _)| other));
            alike.retain(|&other| steps.width(other) == width);
            self.destroy(steps, units, width);
            let copies = places.iter().map(|&(_, copies)| copies).min().map_or(0, |copies| copies + 1);
            alike.iter().for_each(|&other| self.hold(other, units, copies));
            self.hold(range, units, copies);
        }
        for (place, copies) in places {
            if self.copies(from, place).is_some() {
                self.hold(range, place, copies);
            }
        }
        self.store(steps, (range, access), overlay);
    }

    /// Returns the units that hold the value of a live range, each with its number of copies.
    fn units_of<'a>(&'a self, steps: &'a Steps<'_>, range: LiveRange) -> impl Iterator<Item = (Place, u8)> + 'a {
        let file = steps.problem.file(range);
        let units = self.of[range].iter().filter(move |&&place| steps.places.unit_of(file, place).is_some());
        units.filter_map(move |&place| Some((place, self.copies(range, place)?)))
    }

    fn store(&mut self, steps: &Steps<'_>, (range, access): (LiveRange, usize), overlay: &Overlay) {
        let is_removed = overlay.is_removed(steps.access(range, access).inst);
        if steps.is_spilled(range) && !is_removed && !overlay.is_unstored(access) {
            self.hold(range, steps.home(range), 0);
        }
    }

    /// Records that a place holds the value of a live range.
    pub(super) fn hold(&mut self, range: LiveRange, place: Place, copies: u8) {
        let copies = copies.min(MOST_COPIES);
        match self.at[place.index()].iter_mut().find(|(contents, _)| *contents == range) {
            Some((_, known)) => *known = copies.min(*known),
            None => {
                if self.at[place.index()].is_empty() {
                    self.touched.push(place);
                }
                self.at[place.index()].push((range, copies));
                self.of[range].push(place);
            }
        }
    }

    /// Removes all facts of a live range, because the live range has a new value.
    fn forget(&mut self, range: LiveRange) {
        for place in std::mem::take(&mut self.of[range]) {
            self.at[place.index()].retain(|(contents, _)| *contents != range);
        }
    }

    /// Removes all facts of these units, because the units are overwritten.
    fn destroy(&mut self, steps: &Steps<'_>, first: Place, width: u32) {
        let from = (first.0 + 1).saturating_sub(steps.places.widest);
        for place in (from..first.0 + width).map(Place) {
            let Self { at, of, .. } = self;
            at[place.index()].retain(|&(contents, _)| {
                let stays = place.0 + steps.width(contents) <= first.0;
                if !stays {
                    of[contents].retain(|&other| other != place);
                }
                stays
            });
        }
    }
}

/// Returns the facts that are in both lists, with the larger number of copies. O(facts).
pub(super) fn meet(a: &[Fact], b: &[Fact]) -> Vec<Fact> {
    let (mut met, mut rest) = (Vec::new(), b.iter().peekable());
    for fact in a {
        let key = (fact.place, fact.range);
        while rest.next_if(|other| (other.place, other.range) < key).is_some() {}
        if let Some(other) = rest.peek().filter(|other| (other.place, other.range) == key) {
            met.push(Fact { copies: fact.copies.max(other.copies), ..*fact });
        }
    }
    met
}
