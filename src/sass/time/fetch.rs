//! Instruction fetch: a small cache for each partition, and a larger cache for the SM.

use super::cache::Cache;
use super::processor::Numbers;

/// The instructions of a line of 128 bytes.
const LINE: u32 = 8;
/// The sectors of a line in the caches.
const SECTORS: u64 = 4;

/// The instruction caches.
#[derive(Debug)]
pub(super) struct Fetch {
    near: Vec<Cache>,
    far: Cache,
    near_miss: u64,
    far_miss: u64,
    /// The lines that are prefetched after a missing line.
    ahead: u64,
}

impl Fetch {
    pub(super) fn new(numbers: &Numbers, partitions: usize) -> Self {
        Self {
            near: vec![Cache::new(numbers.whole("icache.l0_bytes")); partitions],
            far: Cache::new(numbers.whole("icache.l1_bytes")),
            near_miss: numbers.whole("icache.l0_miss"),
            far_miss: numbers.whole("icache.l1_miss"),
            ahead: numbers.whole("icache.prefetch_lines"),
        }
    }

    /// Returns the cycle at which an instruction arrives if a warp of a partition requests the instruction at cycle
    /// `at`. `previous` is the warp's previous instruction.
    pub(super) fn wanted(&mut self, partition: usize, at: u64, previous: Option<u64>, number: u64) -> u64 {
        let line = number / u64::from(LINE);
        if previous.is_some_and(|previous| previous / u64::from(LINE) == line) {
            return at;
        }
        if let Some(there) = self.near[partition].find(line * SECTORS) {
            return there.max(at);
        }
        let mut comes = at;
        for (distance, line) in (line..=line + self.ahead).enumerate() {
            let sector = line * SECTORS;
            if self.near[partition].find(sector).is_some() {
                continue;
            }
            let miss = if self.far.find(sector).is_some() { self.near_miss } else { self.far_miss };
            self.far.put(sector, at);
            let there = at + miss + distance as u64;
            self.near[partition].put(sector, there);
            if distance == 0 {
                comes = there;
            }
        }
        comes
    }
}
