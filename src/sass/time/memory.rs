//! Memory behind the queue of an SM: shared memory and L1 by passes, L2 and DRAM as a latency and a share of bandwidth.

use super::cache::{Cache, SECTOR};
use super::facts::Access;
use super::processor::Numbers;
use crate::emulate::{AccessOfWarp, AccessSpace};

/// Where the data of a kernel are as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// In L2, as what a kernel ahead of it wrote.
    InL2,
    /// In DRAM.
    InDram,
}

/// When an access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// The sources are read.
    pub(super) read: u64,
    /// The results are there.
    pub(super) there: u64,
}

/// Memory as an SM sees it.
#[derive(Debug)]
pub(super) struct Memory {
    cache: Cache,
    data: Data,
    /// Sectors that came from DRAM already, and are in L2.
    near: Cache,
    /// When the queue, the way to L2 and the share of DRAM's bandwidth are free, in thousandths of a cycle.
    queue_free: u64,
    l2_free: u64,
    dram_free: u64,
    l2_sector: u64,
    dram_sector: u64,
    shared: u64,
    l1: u64,
    l2: u64,
    dram: u64,
    source: u64,
    atomic_shared: u64,
    atomic_l2: u64,
    sectors_a_cycle: u64,
    /// Sectors that went over the way to L2.
    pub(super) moved: u64,
}

/// Bandwidth is kept in these parts of a cycle.
const PARTS: u64 = 1000;

impl Memory {
    /// An SM with so many bytes of shared memory in use.
    pub(super) fn new(numbers: &Numbers, shared_bytes: u64, data: Data) -> Self {
        let parts = |bytes_a_cycle: f64| (SECTOR as f64 / bytes_a_cycle.max(0.01) * PARTS as f64) as u64;
        // An SM's share of L2: what other SMs read is not its own.
        let near = numbers.whole("l2_bytes") / numbers.whole("sms").max(1);
        Self {
            cache: Cache::new(
                numbers.whole("l1_bytes").saturating_sub(shared_bytes).min(numbers.whole("l1.most_bytes")),
            ),
            data,
            near: Cache::new(near),
            queue_free: 0,
            l2_free: 0,
            dram_free: 0,
            l2_sector: parts(numbers.get("l2.bytes")),
            dram_sector: parts(numbers.dram_bytes()),
            shared: numbers.whole("latency.shared"),
            l1: numbers.whole("latency.l1"),
            l2: numbers.whole("latency.l2"),
            dram: numbers.whole("latency.dram"),
            source: numbers.whole("latency.store_source"),
            atomic_shared: numbers.whole("latency.atomic_shared"),
            atomic_l2: numbers.whole("latency.atomic_l2"),
            sectors_a_cycle: (numbers.whole("l1.bytes") / SECTOR).max(1),
            moved: 0,
        }
    }

    /// The cycle from which on the queue takes another instruction.
    pub(super) fn takes(&mut self, at: u64, passes: u64) -> u64 {
        let begin = self.queue_free.max(at);
        self.queue_free = begin + passes;
        begin
    }

    /// How far the queue is behind.
    pub(super) fn behind(&self, at: u64) -> u64 {
        self.queue_free.saturating_sub(at)
    }

    /// An access of a warp that issues at a cycle.
    pub(super) fn access(&mut self, at: u64, kind: Access, access: &AccessOfWarp, space: u64) -> Done {
        let sectors = access.sectors.len() as u64;
        let passes = u64::from(access.passes) + sectors.div_ceil(self.sectors_a_cycle);
        let begin = self.takes(at, passes.max(1));
        let read = begin + passes + self.source;
        let is_shared = access.space == AccessSpace::Shared;
        let near = if kind.is_atomic && is_shared { self.atomic_shared } else { self.shared };
        let mut there = if access.passes > 0 && !kind.is_copy { begin + passes + near } else { 0 };
        for &sector in &access.sectors {
            there = there.max(self.sector(begin, kind, access.space, sector ^ space));
        }
        Done { read, there: there.max(read) }
    }

    fn sector(&mut self, at: u64, kind: Access, memory: AccessSpace, sector: u64) -> u64 {
        if kind.is_atomic {
            return self.to_l2(at, sector, kind.is_store) + self.atomic_l2.saturating_sub(self.l2);
        }
        let is_local = memory == AccessSpace::Local;
        if kind.is_store {
            let left = if is_local { self.cache.put(sector, at, true) } else { 0 };
            // What global memory gets goes on at once; local memory goes on when its line leaves.
            let parts = if is_local { left } else { 1 };
            (0..parts).for_each(|_| _ = self.to_l2(at, sector, true));
            return at;
        }
        if let Some(there) = self.cache.find(sector) {
            return there.max(at + self.l1);
        }
        let there = self.to_l2(at, sector, is_local);
        let left = self.cache.put(sector, there, false);
        (0..left).for_each(|_| _ = self.to_l2(at, sector, true));
        there
    }

    /// A sector that goes to L2 or comes from there, when it is there. What `stays` is not looked for in DRAM.
    fn to_l2(&mut self, at: u64, sector: u64, stays: bool) -> u64 {
        self.moved += 1;
        self.l2_free = self.l2_free.max(at * PARTS) + self.l2_sector;
        let from_l2 = self.l2_free / PARTS + self.l2;
        if stays || self.data == Data::InL2 || self.near.find(sector).is_some() {
            return from_l2;
        }
        self.near.put(sector, at, false);
        self.dram_free = self.dram_free.max(at * PARTS) + self.dram_sector;
        from_l2.max(self.dram_free / PARTS + self.dram)
    }
}
