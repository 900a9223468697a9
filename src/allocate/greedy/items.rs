//! Items that wait for a place: live ranges, and pieces of spilled live ranges.

use super::super::partners::Partners;
use super::super::problem::{Class, ClassData, LiveRange, Problem};
use crate::analysis::{Point, Segment};
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A live range, under its own number, or a piece of a live range. Pieces are numbered after all live ranges.
    Item, "item"
}

impl Item {
    /// Returns a live range as an item.
    pub(super) fn whole(range: LiveRange) -> Self {
        Self(range.0)
    }
}

/// A piece of a spilled live range: a register for one access.
#[derive(Clone, Copy, Debug)]
struct Piece {
    class: Class,
    segment: Segment,
    access: u32,
}

/// All items.
pub(super) struct Items<'a> {
    problem: &'a Problem,
    pieces: Vec<Piece>,
    /// Cost of evicting an item, for each point at which it is live.
    weight: IndexVec<Item, f32>,
    length: IndexVec<Item, u32>,
    partners: Partners<'a>,
}

impl<'a> Items<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        let length = |range: LiveRange| {
            problem.segments(range).iter().map(|segment| segment.end.0 - segment.start.0).sum::<u32>().max(1)
        };
        let length: IndexVec<Item, u32> = problem.ranges().ids().map(length).collect();
        let weight = |(range, length): (LiveRange, &u32)| problem.ranges()[range].spill_cost / *length as f32;
        let weight = problem.ranges().ids().zip(length.iter()).map(weight).collect();
        Self { problem, pieces: Vec::new(), weight, length, partners: Partners::new(problem) }
    }

    fn piece(&self, item: Item) -> Option<&Piece> {
        self.pieces.get(item.index().checked_sub(self.problem.ranges().len())?)
    }

    #[inline]
    pub(super) fn class(&self, item: Item) -> &'a ClassData {
        let class = match self.piece(item) {
            Some(piece) => piece.class,
            None => self.problem.ranges()[LiveRange(item.0)].class,
        };
        &self.problem.classes()[class]
    }

    #[inline]
    pub(super) fn segments(&self, item: Item) -> &[Segment] {
        match self.piece(item) {
            Some(piece) => std::slice::from_ref(&piece.segment),
            None => self.problem.segments(LiveRange(item.0)),
        }
    }

    /// Returns the number of points at which the item is live.
    pub(super) fn length(&self, item: Item) -> u32 {
        self.length[item]
    }

    /// Returns the first point at which the item is live.
    pub(super) fn start(&self, item: Item) -> Point {
        self.segments(item).first().map_or(Point(0), |segment| segment.start)
    }

    /// Returns the cost of evicting an item; infinite if the item may not be evicted.
    #[inline]
    pub(super) fn weight(&self, item: Item) -> f32 {
        self.weight[item]
    }

    /// Whether the item has its place from the start.
    pub(super) fn is_fixed(&self, item: Item) -> bool {
        self.piece(item).is_none() && self.problem.ranges()[LiveRange(item.0)].fixed.is_some()
    }

    /// Returns the item's live range if it may be spilled.
    pub(super) fn spillable(&self, item: Item) -> Option<LiveRange> {
        let range = LiveRange(item.0);
        (self.piece(item).is_none() && self.problem.ranges()[range].spill_cost.is_finite()).then_some(range)
    }

    /// Returns the places at which an item would save a copy, the best first.
    pub(super) fn places(&self, item: Item, unit: &IndexVec<Item, Option<u32>>) -> Vec<u32> {
        let mut places = Vec::new();
        if self.piece(item).is_none() {
            self.partners.places(LiveRange(item.0), |other| unit[Item::whole(other)], &mut places);
        }
        places
    }

    /// Returns the table of partners; `None` for a piece, because pieces have no partners.
    pub(super) fn partners(&self, item: Item) -> Option<&Partners<'a>> {
        self.piece(item).is_none().then_some(&self.partners)
    }

    /// Makes a piece for each access of a live range. The new items have numbers in the order of the accesses.
    pub(super) fn split_into_pieces(&mut self, range: LiveRange) -> impl Iterator<Item = Item> + use<> {
        let first = self.weight.len();
        let class = self.problem.ranges()[range].class;
        for (number, access) in (self.problem.first_access(range)..).zip(self.problem.accesses(range)) {
            let segment = access.segment();
            self.pieces.push(Piece { class, segment, access: number as u32 });
            self.weight.push(f32::INFINITY);
            self.length.push(segment.end.0 - segment.start.0);
        }
        (first..self.weight.len()).map(Item::new)
    }

    /// Returns all pieces, with the numbers of their accesses.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Item, usize)> + '_ {
        let first = self.problem.ranges().len();
        let number = move |(at, piece): (usize, &Piece)| (Item::new(first + at), piece.access as usize);
        self.pieces.iter().enumerate().map(number)
    }
}
