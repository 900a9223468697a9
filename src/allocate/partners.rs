//! Places that would save a copy.
//!
//! A copy needs no code if both of its live ranges have one place. A lane of a tuple needs no code if the member is at
//! the lane's units. A member without a place takes suggestions from its tuples. If a tuple has no place yet, the
//! tuple's other members make the suggestion. A tuple takes suggestions from its members in the same way. So the
//! members of one row come together in any order of placement.

use super::occupied::Occupied;
use super::problem::{ClassData, LiveRange, Problem};
use crate::analysis::Grouping;

/// A live range that saves a copy if this live range is `offset` units after it.
#[derive(Clone, Copy, Debug)]
struct Partner {
    range: LiveRange,
    offset: i32,
    frequency: f32,
}

/// Weight of a suggestion by a partner's partner, relative to the weight of a partner's own suggestion.
const AT_SECOND_HAND: f32 = 0.5;

/// Longest row in which every member searches for a place for the whole row. In longer rows, only the first member and
/// the tuple search, because the other members would get the same result.
const SHORT_ROW: usize = 16;

/// The other sides of each live range's copies and links, most frequent first, and of its lanes.
#[derive(Debug)]
pub(super) struct Partners<'a> {
    problem: &'a Problem,
    alike: Grouping<LiveRange, LiveRange>,
    lanes: Grouping<LiveRange, Partner>,
}

impl<'a> Partners<'a> {
    /// Collects the partners. O(copies · log copies + lanes).
    pub(super) fn new(problem: &'a Problem) -> Self {
        let mut sides: Vec<(LiveRange, LiveRange, f32)> = Vec::new();
        for copy in problem.copies() {
            sides.push((copy.to, copy.from, copy.frequency));
            sides.push((copy.from, copy.to, copy.frequency));
        }
        for link in problem.links().iter().filter(|link| link.to != link.from) {
            sides.push((link.to, link.from, link.frequency));
            sides.push((link.from, link.to, link.frequency));
        }
        sides.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
        let alike = sides.iter().map(|&(range, partner, _)| (range, partner));
        Self { alike: Grouping::new(problem.ranges().len(), alike), ..Self::of_lanes(problem) }
    }

    /// Collects only the partners by lanes.
    pub(super) fn of_lanes(problem: &'a Problem) -> Self {
        let sides = problem.lanes().iter().flat_map(|lane| {
            let (offset, frequency) = (lane.offset as i32, lane.frequency);
            let of_member = Partner { range: lane.tuple, offset, frequency };
            [(lane.member, of_member), (lane.tuple, Partner { range: lane.member, offset: -offset, frequency })]
        });
        let lanes = Grouping::new(problem.ranges().len(), sides);
        Self { problem, alike: Grouping::default(), lanes }
    }

    /// Computes the places at which a live range would save a copy, from the places of its partners. The best place
    /// comes first. O(lanes of the live range and of their other sides).
    pub(super) fn places(&self, range: LiveRange, unit: impl Fn(LiveRange) -> Option<u32>, out: &mut Vec<u32>) {
        let width = self.problem.class(range).width;
        let alike = self.alike.of(range).iter().filter(|&&other| self.problem.class(other).width == width);
        out.extend(alike.filter_map(|&other| unit(other)));
        if self.lanes.of(range).is_empty() {
            return;
        }
        let mut votes: Vec<(u32, f32)> = Vec::new();
        for partner in self.lanes.of(range) {
            let by = |unit: u32, offset: i32| unit.checked_add_signed(offset);
            if let Some(place) = unit(partner.range).and_then(|unit| by(unit, partner.offset)) {
                votes.push((place, partner.frequency));
                continue;
            }
            // Members of one row that have places mostly agree, so the first of them is enough.
            let mut seconds = self.lanes.of(partner.range).iter().filter(|second| second.range != range);
            let placed = seconds.find_map(|second| Some((unit(second.range)?, second)));
            let Some((unit, second)) = placed else { continue };
            let place = by(unit, second.offset).filter(|&place| self.is_place_of(partner.range, place));
            if let Some(place) = place.and_then(|place| by(place, partner.offset)) {
                votes.push((place, AT_SECOND_HAND * partner.frequency.min(second.frequency)));
            }
        }
        votes.sort_unstable_by_key(|&(place, _)| place);
        let votes = votes.chunk_by(|a, b| a.0 == b.0);
        let mut sums: Vec<(u32, f32)> =
            votes.map(|same| (same[0].0, same.iter().map(|&(_, votes)| votes).sum())).collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        out.extend(sums.iter().map(|&(place, _)| place));
    }

    /// Finds places for the most frequent row of a live range. All members of the row are then in their lanes. `None`
    /// in each of these cases: the live range is in no row, the row fits nowhere, one of its members already has a
    /// place, or another member of a long row does the search. Each place is checked for its member alone, so two
    /// members may get overlapping places. `occupied` computes the units that are taken while a member is live. O(lanes
    /// · (places + cost of `occupied`)).
    pub(super) fn row(
        &self,
        range: LiveRange,
        limit: u32,
        unit: impl Fn(LiveRange) -> Option<u32>,
        mut occupied: impl FnMut(LiveRange, &mut Occupied),
    ) -> Option<Vec<(LiveRange, u32)>> {
        let own = *self.lanes.of(range).iter().max_by(|a, b| a.frequency.total_cmp(&b.frequency))?;
        let tuple = if self.is_tuple(range) { range } else { own.range };
        let lanes = self.lanes.of(tuple);
        let speaks =
            range == tuple || lanes.len() <= SHORT_ROW || lanes.first().is_some_and(|lane| lane.range == range);
        if !speaks {
            return None;
        }
        if unit(tuple).is_some() || lanes.iter().any(|lane| unit(lane.range).is_some()) {
            return None;
        }
        let row = std::iter::once((tuple, 0)).chain(lanes.iter().map(|lane| (lane.range, -lane.offset)));
        let mut taken = Vec::with_capacity(lanes.len() + 1);
        for (range, offset) in row.clone() {
            let mut held = Occupied::default();
            occupied(range, &mut held);
            taken.push((self.problem.class(range), offset, held));
        }
        let class = self.problem.class(tuple);
        let mut places = (0..).step_by(class.align as usize).take_while(|place| place + class.width <= limit);
        let place = places.find(|&place| {
            let is_free = |&(class, offset, ref held): &(&ClassData, i32, Occupied)| {
                place.checked_add_signed(offset).is_some_and(|unit| held.is_free(class, unit, Some(limit)))
            };
            taken.iter().all(is_free)
        })?;
        Some(row.filter_map(|(range, offset)| Some((range, place.checked_add_signed(offset)?))).collect())
    }

    fn is_tuple(&self, range: LiveRange) -> bool {
        self.problem.accesses(range).is_empty()
    }

    fn is_place_of(&self, range: LiveRange, unit: u32) -> bool {
        unit.is_multiple_of(self.problem.class(range).align)
    }
}
