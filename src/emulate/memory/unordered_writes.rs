//! Words of global memory with racing writes: each thread's writes are kept separately.
//!
//! The final contents of such a word depend on the order of threads. The last write of each thread does not, as long as
//! no thread reads the word.

use rustc_hash::FxHashMap;

use super::write::{Write, Written};

/// The last writes of threads, by thread and word address.
#[derive(Debug, Default)]
pub(super) struct UnorderedWrites {
    words: FxHashMap<(u64, u64), (u32, u8, Write)>,
}

impl UnorderedWrites {
    /// Records that a thread writes bytes of a word; `bytes` is a mask.
    pub(super) fn write(&mut self, address: u64, value: u32, bytes: u8, write: Write) {
        let word = self.words.entry((write.thread, address)).or_insert((0, 0, write));
        let written = (0..4).filter(|byte| bytes >> byte & 1 == 1).fold(0, |mask, byte| mask | 0xff << (8 * byte));
        *word = ((word.0 & !written) | (value & written), word.1 | bytes, write);
    }

    /// Returns the number of recorded words of threads.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns all recorded words, by thread and address.
    pub(super) fn written(&self) -> Vec<Written> {
        let words = self.words.iter().map(|(&(_, address), &(value, bytes, write))| (address, value, bytes, write));
        let mut found: Vec<Written> = words.collect();
        found.sort_unstable_by_key(|&(address, _, _, write)| (write.thread, address));
        found
    }
}
