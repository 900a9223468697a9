//! Words of global memory that threads write in no order: what each thread writes is kept apart.
//!
//! What such a word holds at the end says nothing of a program. What each thread wrote there last does, whatever the
//! order was, as long as nobody reads the word.

use rustc_hash::FxHashMap;

use super::write::{Write, Written};

/// What threads wrote last, by their numbers and the addresses of words.
#[derive(Debug, Default)]
pub(super) struct UnorderedWrites {
    words: FxHashMap<(u64, u64), (u32, u8, Write)>,
}

impl UnorderedWrites {
    /// A thread writes bytes of a word, as bits.
    pub(super) fn write(&mut self, address: u64, value: u32, bytes: u8, write: Write) {
        let word = self.words.entry((write.thread, address)).or_insert((0, 0, write));
        let written = (0..4).filter(|byte| bytes >> byte & 1 == 1).fold(0, |mask, byte| mask | 0xff << (8 * byte));
        *word = ((word.0 & !written) | (value & written), word.1 | bytes, write);
    }

    /// How many words of threads there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// All of them, by thread and address.
    pub(super) fn written(&self) -> Vec<Written> {
        let words = self.words.iter().map(|(&(_, address), &(value, bytes, write))| (address, value, bytes, write));
        let mut found: Vec<Written> = words.collect();
        found.sort_unstable_by_key(|&(address, _, _, write)| (write.thread, address));
        found
    }
}
