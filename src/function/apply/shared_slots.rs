//! Checks the positions of slots that edits create in shared memory.

use std::collections::BTreeMap;

use super::ids::Reason;
use crate::function::{SharedArray, SharedPlace};

/// The most bytes of static shared memory that ptxas permits for a kernel.
const MOST_BYTES: u32 = 48 * 1024;

/// The most threads of a block on any GPU.
const MOST_THREADS: u32 = 1024;

/// The shared array of a function, and the slots in it.
#[derive(Default)]
pub(super) struct SharedSlots {
    array: Option<SharedArray>,
    /// The rows by their offsets.
    rows: BTreeMap<u32, Row>,
}

/// A row of the array: one part for each thread.
struct Row {
    /// Bytes of each thread's part.
    bytes: u32,
    end: u32,
    /// The bytes of each part that belong to slots, as a bit mask.
    used: u32,
}

impl SharedSlots {
    pub(super) fn has_slots(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Returns the number of threads for which the array has room.
    pub(super) fn threads(&self) -> Option<u32> {
        self.array.map(|array| array.threads)
    }

    pub(super) fn set_array(&mut self, array: SharedArray) -> Result<(), Reason> {
        if self.array.is_some() {
            return Err("the function already has an array in shared memory".into());
        }
        if !(1..=MOST_THREADS).contains(&array.threads) || !(1..=MOST_BYTES).contains(&array.bytes) {
            return Err(format!(
                "{} threads and {} bytes: use 1 to {MOST_THREADS} threads and 1 to {MOST_BYTES} bytes",
                array.threads, array.bytes
            ));
        }
        self.array = Some(array);
        Ok(())
    }

    /// Adds a slot. O(log slots).
    pub(super) fn add(&mut self, size: u32, SharedPlace { offset, row }: SharedPlace) -> Result<(), Reason> {
        let Some(array) = self.array else {
            return Err("has no array in shared memory: create the array first".into());
        };
        if !matches!(size, 2 | 4 | 8 | 16) || !offset.is_multiple_of(size) {
            return Err(format!(
                "has {size} bytes at offset {offset}: use 2, 4, 8 or 16 bytes, and a multiple of the size as offset"
            ));
        }
        if row != size && (!matches!(row, 8 | 16) || row < size) {
            return Err(format!("is in a row of {row} bytes: use {size} bytes, or 8 or 16 if that is more"));
        }
        let start = offset / row * row;
        // The row has at most 16 KiB, so the product does not overflow.
        let end = start.saturating_add(row * array.threads);
        if end > array.bytes {
            return Err(format!("ends at {end}, after the end of the array of {} bytes", array.bytes));
        }
        let used = ((1 << size) - 1) << (offset - start);
        if let Some(other) = self.rows.get_mut(&start).filter(|other| other.bytes == row && other.used & used == 0) {
            other.used |= used;
            return Ok(());
        }
        let before = self.rows.range(..=start).next_back();
        if before.is_some_and(|(_, other)| other.end > start) || self.rows.range(start..end).next().is_some() {
            return Err("overlaps another slot".into());
        }
        self.rows.insert(start, Row { bytes: row, end, used });
        Ok(())
    }
}
