//! Layout of slots: in the array in local memory, in rows of the array in shared memory, or in registers that hold
//! bits.

use crate::function::{BitPlace, Edit, EditList, SharedArray, Slot};
use crate::index::EntityIndex;

/// Location of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Offset in bytes in the array in local memory.
    Local(u64),
    /// Offset in bytes from the thread's part of the rows, and the bytes of a row for each thread.
    Shared { offset: u32, row: u32 },
    /// A bit of one of the registers that hold predicates.
    Bit(BitPlace),
}

/// The target of an address register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AddressOf {
    /// The thread's part of the rows that have this many bytes for each thread, in shared memory.
    Row(u32),
    /// The array in local memory.
    Local,
}

/// Possible numbers of bytes of a row for each thread.
pub(crate) const ROWS: [u32; 4] = [2, 4, 8, 16];

/// The slots that edits create.
#[derive(Debug)]
pub(crate) struct Places {
    /// Number of the first slot.
    first: usize,
    places: Vec<Place>,
    /// Bytes of the array in local memory.
    pub(crate) local_bytes: u64,
    pub(crate) local_align: u64,
    /// The array in shared memory.
    pub(crate) array: Option<SharedArray>,
    /// Number of registers that hold predicates.
    pub(crate) words: u32,
}

impl Places {
    /// Lays out the slots of edits to a function that has `first` slots of its own.
    pub(crate) fn new(first: usize, edits: &EditList) -> Self {
        let mut slots = Self { first, places: Vec::new(), local_bytes: 0, local_align: 1, array: None, words: 0 };
        for edit in edits.edits() {
            match *edit {
                Edit::CreateSlot { size, align, .. } => {
                    // An access is aligned to its size, which is at most the slot's size.
                    let align = align.max(1 << size.max(1).ilog2().min(4));
                    let offset = slots.local_bytes.next_multiple_of(align);
                    slots.places.push(Place::Local(offset));
                    slots.local_bytes = offset + size;
                    slots.local_align = slots.local_align.max(align);
                }
                Edit::CreateSharedArray(array) => slots.array = Some(array),
                Edit::CreateSharedSlot { offset, row, .. } => slots.places.push(Place::Shared { offset, row }),
                Edit::CreateBitSlot { place, .. } => {
                    slots.places.push(Place::Bit(place));
                    slots.words = slots.words.max(place.word + 1);
                }
                _ => {}
            }
        }
        slots
    }

    /// Returns the location of each slot, in their order.
    pub(crate) fn all(&self) -> impl Iterator<Item = Place> {
        self.places.iter().copied()
    }

    /// Returns the location of a slot; `None` if the edits do not create the slot.
    pub(crate) fn of(&self, slot: Slot) -> Option<Place> {
        slot.index().checked_sub(self.first).and_then(|number| self.places.get(number)).copied()
    }
}
