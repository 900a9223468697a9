//! Slots: values that are never live together share one.

use std::cell::Cell;
use std::cmp::Reverse;

use super::slot_memory::SlotMemory;
use crate::analysis::{IntervalTree, LiveRanges};
use crate::function::{Edit, EditList, Function, SharedArray, SharedPlace, Slot, VReg};
use crate::spill::packing::pack_into_slots;
use crate::spill::plan::SpillSpace;

/// The memory that slots take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of local memory of a thread.
    pub local: u32,
}

/// The most bytes of local memory that a frame with slots may have, as NVIDIA's compiler is read to have it.
pub const FRAME_LIMIT: u64 = 64 * 1024;

/// A slot of the values chosen so far.
struct AllocatedSlot {
    space: SpillSpace,
    /// Bytes of a thread.
    size: u32,
    /// When it holds the values of which registers.
    occupied: IntervalTree<VReg>,
}

/// The slots of what is chosen so far. A slot holds a value as long as the value was live before.
pub(in crate::spill) struct Slots<'a> {
    function: &'a Function,
    /// The shared memory for slots, if there may be any.
    memory: Option<&'a SlotMemory>,
    /// The most bytes of a thread's slots in local memory.
    max_local_bytes: u32,
    slots: Vec<AllocatedSlot>,
    shared_bytes: u32,
    local_bytes: u64,
    /// Shared memory had no room for a value that asked for a slot.
    is_full: Cell<bool>,
    /// The values in slots, and the holder of each.
    values: Vec<(VReg, usize)>,
}

impl<'a> Slots<'a> {
    pub(in crate::spill) fn new(function: &'a Function, memory: Option<&'a SlotMemory>, max_local_bytes: u32) -> Self {
        let is_full = Cell::new(false);
        let (slots, values) = (Vec::new(), Vec::new());
        Self { function, memory, max_local_bytes, slots, shared_bytes: 0, local_bytes: 0, is_full, values }
    }

    /// The slot that a value would get in a memory: the first of its size in which no value is live together with it, or
    /// a new one; `None` if there is no room. O(slots · segments · log values in a slot).
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

    /// Puts a value into the slot that [`find`](Self::find) has found for it in a memory.
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

    /// The slot of a value that was put into one.
    pub(in crate::spill) fn of(&self, reg: VReg) -> Option<usize> {
        self.values.iter().find(|value| value.0 == reg).map(|value| value.1)
    }

    /// Whether shared memory had no room for a value that asked for a slot, since the slots were last shared anew.
    pub(in crate::spill) fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// Whether slots in local memory make the frame larger than [it may be](FRAME_LIMIT).
    pub(in crate::spill) fn is_deep(&self) -> bool {
        self.local_bytes > 0 && self.local_bytes + own_frame(self.function) > FRAME_LIMIT
    }

    /// Shares the slots of each memory anew among their values, each where its slot is busy anyway just before, so that
    /// others are free for longer; unless that takes more slots. Says whether it does so. The numbers of slots change:
    /// ask [`of`](Self::of) for them.
    pub(in crate::spill) fn pack(&mut self, live: &LiveRanges) -> bool {
        let mut packed = Slots::new(self.function, self.memory, self.max_local_bytes);
        for (number, &AllocatedSlot { space, size, .. }) in self.slots.iter().enumerate() {
            // The slots of a size are packed together, where the first of them is met.
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

    /// Bytes of a register in memory; none of a class that is [never moved](super::eligible).
    fn size(&self, reg: VReg) -> u32 {
        self.function.class(reg).spilled_bytes().unwrap_or(0)
    }

    /// Makes the slots of holders that are used, the largest rows first, so that each is aligned. Those of `rows` lie beside
    /// each other. Returns the slot of each holder.
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
                    // An access that reaches all of them is aligned, and one that reaches half of four.
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

    /// How many slots there are.
    pub(in crate::spill) fn len(&self) -> usize {
        self.slots.len()
    }
}

/// The bytes of a function's own variables in local memory.
pub fn own_frame(function: &Function) -> u64 {
    (0..function.num_slots()).map(|slot| function.slot(Slot(slot as u32)).size).sum()
}
