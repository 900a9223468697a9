//! The slots that edits make in shared memory: where each may lie.

use std::collections::BTreeMap;

use super::ids::Reason;
use crate::function::SharedArray;

/// The bytes of static shared memory that ptxas lets a kernel have.
const MOST_BYTES: u32 = 48 * 1024;

/// The most threads of a block on any processor.
const MOST_THREADS: u32 = 1024;

/// The array of a function, and the slots in it.
#[derive(Default)]
pub(super) struct SharedSlots {
    array: Option<SharedArray>,
    /// The end of each slot's row of parts, by its offset.
    rows: BTreeMap<u32, u32>,
}

impl SharedSlots {
    pub(super) fn has_slots(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The threads of a block for which the array has room.
    pub(super) fn threads(&self) -> Option<u32> {
        self.array.map(|array| array.threads)
    }

    pub(super) fn set_array(&mut self, array: SharedArray) -> Result<(), Reason> {
        if self.array.is_some() {
            return Err("the function has an array in shared memory already".into());
        }
        if !(1..=MOST_THREADS).contains(&array.threads) || !(1..=MOST_BYTES).contains(&array.bytes) {
            return Err(format!(
                "{} threads and {} bytes: need 1 to {MOST_THREADS} threads and 1 to {MOST_BYTES} bytes",
                array.threads, array.bytes
            ));
        }
        self.array = Some(array);
        Ok(())
    }

    /// Adds a slot. O(log slots).
    pub(super) fn add(&mut self, size: u32, offset: u32) -> Result<(), Reason> {
        let Some(array) = self.array else {
            return Err("has no array in shared memory: make that first".into());
        };
        if !matches!(size, 2 | 4 | 8) || !offset.is_multiple_of(size) {
            return Err(format!("has {size} bytes at offset {offset}: need 2, 4 or 8, and a multiple of that"));
        }
        // At most 8 KiB, and no sum of two such numbers overflows.
        let end = offset.saturating_add(size * array.threads);
        if end > array.bytes {
            return Err(format!("ends at {end}, behind the array of {} bytes", array.bytes));
        }
        let before = self.rows.range(..=offset).next_back();
        if before.is_some_and(|(_, &other)| other > offset) || self.rows.range(offset..end).next().is_some() {
            return Err("lies where another slot lies".into());
        }
        self.rows.insert(offset, end);
        Ok(())
    }
}
