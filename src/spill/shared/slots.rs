//! Slots: values that are never live together share one.

use super::room::Room;
use crate::analysis::{IntervalTree, LiveRanges};
use crate::function::{Function, VReg};

/// The row of a slot: one part for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Bytes of a part.
    pub(super) size: u32,
    /// Where thread 0's part lies.
    pub(super) offset: u32,
}

/// The rows of the array, in the order of their offsets.
pub(super) struct Layout {
    pub(super) rows: Vec<Row>,
    /// Bytes of the array.
    pub(super) bytes: u32,
}

/// The slots of what is chosen so far. A slot holds a value as long as the value was live before.
pub(super) struct Slots<'a> {
    function: &'a Function,
    room: &'a Room,
    /// Bytes of a part, and when the slot holds the values of which registers.
    slots: Vec<(u32, IntervalTree<VReg>)>,
    bytes: u32,
}

impl<'a> Slots<'a> {
    pub(super) fn new(function: &'a Function, room: &'a Room) -> Self {
        Self { function, room, slots: Vec::new(), bytes: 0 }
    }

    /// The slot that a value would get: the first of its size in which no value is live together with it, or a new one;
    /// `None` if there is no room. O(slots · segments · log
    /// values in a slot).
    pub(super) fn find(&self, reg: VReg, live: &LiveRanges) -> Option<usize> {
        let size = 4 * self.function.class(reg).words();
        let is_free = |held: &IntervalTree<VReg>| !held.is_overlapping(live.segments(reg));
        let shared = self.slots.iter().position(|(of, held)| *of == size && is_free(held));
        let has_room = self.bytes + size * self.room.threads <= self.room.bytes;
        shared.or_else(|| has_room.then_some(self.slots.len()))
    }

    /// Puts a value into the slot that [`find`](Self::find) has found for it.
    pub(super) fn put(&mut self, reg: VReg, slot: usize, live: &LiveRanges) {
        if slot == self.slots.len() {
            let size = 4 * self.function.class(reg).words();
            self.bytes += size * self.room.threads;
            self.slots.push((size, IntervalTree::new()));
        }
        self.slots[slot].1.insert(live.segments(reg), reg);
    }

    /// Where the slots lie, those of 8 bytes first, so that each is aligned; and the row of each slot.
    pub(super) fn layout(&self) -> (Layout, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        order.sort_by_key(|&slot| std::cmp::Reverse(self.slots[slot].0));
        let mut row_of = vec![0; self.slots.len()];
        let (mut rows, mut offset) = (Vec::with_capacity(order.len()), 0);
        for (row, &slot) in order.iter().enumerate() {
            row_of[slot] = row;
            let size = self.slots[slot].0;
            rows.push(Row { size, offset });
            offset += size * self.room.threads;
        }
        (Layout { rows, bytes: offset.next_multiple_of(self.room.alignment) }, row_of)
    }
}
