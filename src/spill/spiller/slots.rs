//! Slots, which values share if they are never live together.

use std::cell::Cell;
use std::cmp::Reverse;

use super::slot_memory::SlotMemory;
use crate::analysis::{IntervalTree, LiveRanges};
use crate::function::{Edit, EditList, Function, SharedArray, SharedPlace, Slot, VReg};
use crate::spill::packing::pack_into_slots;
use crate::spill::plan::SpillSpace;

/// Memory of the slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Bytes of shared memory for each block.
    pub shared: u32,
    /// Bytes of local memory for each thread.
    pub local: u32,
}

/// Most bytes of local memory that a frame with slots may have. NVIDIA's compiler is understood to have the same limit.
pub const FRAME_LIMIT: u64 = 64 * 1024;

/// A slot of the values that are already chosen.
struct AllocatedSlot {
    space: SpillSpace,
    /// Bytes for each thread.
    size: u32,
    /// The intervals in which it holds values, with their registers.
    occupied: IntervalTree<VReg>,
}

/// The slots of the values that are already chosen. A slot holds a value over the live range that the value had before
/// spilling.
pub(in crate::spill) struct Slots<'a> {
    function: &'a Function,
    /// The shared memory for slots, if slots in shared memory are allowed.
    memory: Option<&'a SlotMemory>,
    /// Most bytes of a thread's slots in local memory.
    max_local_bytes: u32,
    slots: Vec<AllocatedSlot>,
    shared_bytes: u32,
    local_bytes: u64,
    /// Whether shared memory had no room for a value that needed a slot.
    is_full: Cell<bool>,
    /// The values in slots, and the slot of each.
    values: Vec<(VReg, usize)>,
}

impl<'a> Slots<'a> {
    pub(in crate::spill) fn new(function: &'a Function, memory: Option<&'a SlotMemory>, max_local_bytes: u32) -> Self {
        let is_full = Cell::new(false);
        let (slots, values) = (Vec::new(), Vec::new());
        Self { function, memory, max_local_bytes, slots, shared_bytes: 0, local_bytes: 0, is_full, values }
    }

    /// Returns the slot that a value would get in a memory: the first slot of its size that has no value live together
    /// with it, or a new slot; `None` if there is no room. O(slots · segments · log values in a slot).
    pub(in crate::spill) fn find(&self, reg: VReg, space: SpillSpace, live: &LiveRanges) -> Option<usize> {
        let size = self.size(reg);
        let is_free = |slot: &AllocatedSlot| !slot.occupied.is_overlapping(live.segments(reg));
        let fits = |slot: &AllocatedSlot| slot.space == space && slot.size == size && is_free(slot);
        let has_room = match (space, self.memory) {
            (SpillSpace::Shared, Some(memory)) => self.shared_bytes + size * memory.threads <= memory.bytes,
            (SpillSpace::Shared, None) | (SpillSpace::Rematerialised, _) => false,
            (SpillSpace::Local, _) => self.local_bytes + u64::from(size) <= u64::from(self.max_local_bytes),
        };
        let slot = self.slots.iter().position(fits).or_else(|| has_room.then_some(self.slots.len()));
        if slot.is_none() && space == SpillSpace::Shared && self.memory.is_some() {
            self.is_full.set(true);
        }
        slot
    }

    /// Puts a value into the slot that [`find`](Self::find) has returned for it.
    pub(in crate::spill) fn put(&mut self, reg: VReg, space: SpillSpace, slot: usize, live: &LiveRanges) {
        if slot == self.slots.len() {
            let size = self.size(reg);
            match (space, self.memory) {
                (SpillSpace::Shared, Some(memory)) => self.shared_bytes += size * memory.threads,
                (SpillSpace::Local, _) => self.local_bytes += u64::from(size),
                _ => {}
            }
            self.slots.push(AllocatedSlot { space, size, occupied: IntervalTree::new() });
        }
        self.slots[slot].occupied.insert(live.segments(reg), reg);
        self.values.push((reg, slot));
    }

    /// Returns the slot of a value.
    pub(in crate::spill) fn of(&self, reg: VReg) -> Option<usize> {
        self.values.iter().find(|value| value.0 == reg).map(|value| value.1)
    }

    /// Whether shared memory had no room for a value that needed a slot, since the slots were last packed.
    pub(in crate::spill) fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// Whether slots in local memory make the frame larger than [its limit](FRAME_LIMIT).
    pub(in crate::spill) fn is_deep(&self) -> bool {
        self.local_bytes > 0 && self.local_bytes + own_frame(self.function) > FRAME_LIMIT
    }

    /// Packs the values of each memory into slots anew, unless that takes more memory. Each value goes to the slot that
    /// was occupied until the latest point, so that the other slots are free for longer. Returns whether the values
    /// were packed anew. The slots then have new numbers, which [`of`](Self::of) returns.
    pub(in crate::spill) fn pack(&mut self, live: &LiveRanges) -> bool {
        let mut packed = Slots::new(self.function, self.memory, self.max_local_bytes);
        for (number, &AllocatedSlot { space, size, .. }) in self.slots.iter().enumerate() {
            // All values of slots of this size are packed together, when the first of these slots is visited.
            let of_size = |slot: &AllocatedSlot| slot.space == space && slot.size == size;
            if self.slots[..number].iter().any(of_size) {
                continue;
            }
            let values = self.values.iter().filter(|value| of_size(&self.slots[value.1]));
            let values: Vec<VReg> = values.map(|value| value.0).collect();
            for values in pack_into_slots(&values, live) {
                let slot = packed.slots.len();
                values.into_iter().for_each(|reg| packed.put(reg, space, slot, live));
            }
        }
        let is_possible = packed.shared_bytes <= self.shared_bytes && packed.local_bytes <= self.local_bytes;
        if is_possible {
            *self = packed;
        }
        is_possible
    }

    /// Returns the bytes of a register in memory; 0 for a class that is [never spilled](super::eligible).
    fn size(&self, reg: VReg) -> u32 {
        self.function.class(reg).spilled_bytes().unwrap_or(0)
    }

    /// Creates the slots that are used, in rows. The largest rows come first, so that each row is aligned. The slots of
    /// a row are adjacent. Returns the slot of each holder.
    pub(in crate::spill) fn create(
        &self,
        is_used: &[bool],
        rows: Vec<Vec<usize>>,
        edits: &mut EditList,
    ) -> (Vec<Slot>, Bytes) {
        let mut is_lone = is_used.to_vec();
        rows.iter().flatten().for_each(|&at| is_lone[at] = false);
        let lone = (0..self.slots.len()).filter(|&at| is_lone[at]).map(|at| vec![at]);
        let mut rows: Vec<Vec<usize>> = rows.into_iter().chain(lone).collect();
        let row_bytes = |row: &[usize]| row.iter().map(|&at| self.slots[at].size).sum::<u32>();
        let is_shared = |row: &[usize]| self.slots[row[0]].space == SpillSpace::Shared;
        // Slots in local memory have the lower numbers.
        rows.sort_by_key(|row| (is_shared(row), Reverse(row_bytes(row)), row[0]));
        let mut bytes = Bytes::default();
        let shared_bytes: u32 = rows.iter().filter(|row| is_shared(row)).map(|row| row_bytes(row)).sum();
        if let Some(memory) = self.memory.filter(|_| shared_bytes > 0) {
            bytes.shared = (shared_bytes * memory.threads).next_multiple_of(memory.alignment);
            edits.push(Edit::CreateSharedArray(SharedArray { threads: memory.threads, bytes: bytes.shared }));
        }
        let mut slots = vec![Slot(0); self.slots.len()];
        let mut start = 0;
        for row in &rows {
            let all = row_bytes(row);
            let mut behind = 0;
            for &at in row {
                let size = self.slots[at].size;
                slots[at] = if is_shared(row) {
                    edits.create_slot_of_row(size, SharedPlace { offset: start + behind, row: all })
                } else {
                    bytes.local += size;
                    // Wide accesses to all slots of a row, or to an aligned half of it, must be aligned.
                    let align = [all, all / 2].into_iter().find(|&align| behind % align == 0).unwrap_or(size);
                    edits.create_slot(size.into(), align.into())
                };
                behind += size;
            }
            if let Some(memory) = self.memory.filter(|_| is_shared(row)) {
                start += all * memory.threads;
            }
        }
        (slots, bytes)
    }

    /// Returns the number of slots.
    pub(in crate::spill) fn len(&self) -> usize {
        self.slots.len()
    }
}

/// Returns the bytes of a function's own variables in local memory.
pub fn own_frame(function: &Function) -> u64 {
    (0..function.num_slots()).map(|slot| function.slot(Slot(slot as u32)).size).sum()
}
