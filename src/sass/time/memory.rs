//! Memory after the queue of an SM. Shared memory and L1 are modelled by passes, L2 and DRAM by a latency and a share
//! of bandwidth.

use super::cache::{Cache, SECTOR};
use super::facts::Access;
use super::processor::Numbers;
use crate::emulate::{AccessOfWarp, AccessSpace};

/// The location of a kernel's data at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// L2, like the output of a previous kernel.
    InL2,
    /// DRAM.
    InDram,
}

/// The completion of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AccessCompletion {
    /// The cycle at which the sources are read.
    pub(super) read: u64,
    /// The cycle at which the results arrive.
    pub(super) there: u64,
}

/// The memory of one SM.
#[derive(Debug)]
pub(super) struct Memory {
    cache: Cache,
    data: Data,
    /// The sectors from DRAM that are in L2.
    near: Cache,
    /// The cycle from which the queue is free.
    queue_free: u64,
    /// The times from which the path to L2 and the share of DRAM bandwidth are free, in thousandths of a cycle.
    l2_free: u64,
    dram_free: u64,
    l2_sector: u64,
    l2_written: u64,
    dram_sector: u64,
    shared: u64,
    l1: u64,
    l2: u64,
    dram: u64,
    source: u64,
    atomic_shared: u64,
    atomic_l2: u64,
    sectors_a_cycle: u64,
    /// The delay of the paths to L2 and to DRAM, in cycles, above which the queue blocks.
    most_behind: [u64; 2],
    /// The sectors on the path to L2, and on the path to or from DRAM.
    pub(super) moved: [u64; 2],
}

/// The parts of a cycle in which bandwidth is counted.
const PARTS: u64 = 1000;

impl Memory {
    /// Creates the memory of an SM with shared memory in use.
    pub(super) fn new(numbers: &Numbers, shared_bytes: u64, data: Data) -> Self {
        let parts = |bytes_a_cycle: f64| (SECTOR as f64 / bytes_a_cycle.max(0.01) * PARTS as f64) as u64;
        // The SM's share of L2. Data that other SMs read is not included.
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
            l2_written: parts(numbers.get("l2.write_bytes")),
            dram_sector: parts(numbers.dram_bytes()),
            shared: numbers.whole("latency.shared"),
            l1: numbers.whole("latency.l1"),
            l2: numbers.whole("latency.l2"),
            dram: numbers.whole("latency.dram"),
            source: numbers.whole("latency.store_source"),
            atomic_shared: numbers.whole("latency.atomic_shared"),
            atomic_l2: numbers.whole("latency.atomic_l2"),
            sectors_a_cycle: (numbers.whole("l1.bytes") / SECTOR).max(1),
            most_behind: {
                let misses = numbers.whole("l1.misses_in_flight");
                let l2 = misses * parts(numbers.get("l2.bytes")) / PARTS;
                [l2, l2 + numbers.whole("latency.dram")]
            },
            moved: [0; 2],
        }
    }

    /// Returns the cycle from which the queue accepts another instruction.
    pub(super) fn takes(&mut self, at: u64, passes: u64) -> u64 {
        let begin = self.queue_free.max(at);
        self.queue_free = begin + passes;
        begin
    }

    /// Returns the delay of the queue, or of a path that blocks the queue, in cycles.
    pub(super) fn behind(&self, at: u64) -> u64 {
        let ways = [self.l2_free, self.dram_free].map(|free| free / PARTS);
        let late = ways.iter().zip(self.most_behind).map(|(free, most)| free.saturating_sub(at + most)).max();
        self.queue_free.saturating_sub(at).max(late.unwrap_or_default())
    }

    /// Returns the cycle at which all pending accesses have arrived.
    pub(super) fn quiet_at(&self) -> u64 {
        self.queue_free.max(self.l2_free / PARTS).max(self.dram_free / PARTS)
    }

    /// Simulates an access that a warp issues at a cycle.
    ///
    /// `sectors` are the sectors of the access that are not merged with other accesses.
    pub(super) fn access(
        &mut self,
        at: u64,
        kind: Access,
        access: &AccessOfWarp,
        sectors: &[u64],
        space: u64,
    ) -> AccessCompletion {
        let passes = u64::from(access.passes) + (access.sectors.len() as u64).div_ceil(self.sectors_a_cycle);
        let begin = self.takes(at, passes.max(1));
        let read = begin + passes + self.source;
        let is_shared = access.space == AccessSpace::Shared;
        let near = if kind.is_atomic && is_shared { self.atomic_shared } else { self.shared };
        let mut there = if access.passes > 0 && !kind.is_copy { begin + passes + near } else { 0 };
        for &sector in sectors {
            there = there.max(self.sector(begin, kind, access.space, sector ^ space));
        }
        AccessCompletion { read, there: there.max(read) }
    }

    fn sector(&mut self, at: u64, kind: Access, memory: AccessSpace, sector: u64) -> u64 {
        if kind.is_atomic {
            return self.move_to_l2(at, sector, kind.is_store) + self.atomic_l2.saturating_sub(self.l2);
        }
        let is_local = memory == AccessSpace::Local;
        if kind.is_store {
            // Stores go through to L2. L1 keeps stores to local memory.
            if is_local {
                self.cache.put(sector, at);
            }
            self.move_to_l2(at, sector, true);
            return at;
        }
        if let Some(there) = self.cache.find(sector) {
            return there.max(at + self.l1);
        }
        let there = self.move_to_l2(at, sector, false);
        self.cache.put(sector, there);
        there
    }

    /// Moves a sector to or from L2. Returns the cycle of its arrival. A sector that is written completely is not read
    /// from DRAM, and is written back later.
    fn move_to_l2(&mut self, at: u64, sector: u64, is_written: bool) -> u64 {
        self.moved[0] += 1;
        let sectors = if is_written { self.l2_written } else { self.l2_sector };
        self.l2_free = self.l2_free.max(at * PARTS) + sectors;
        let from_l2 = self.l2_free / PARTS + self.l2;
        if self.data == Data::InL2 {
            return from_l2;
        }
        let is_near = self.near.find(sector).is_some();
        let left = self.near.put_written(sector, at, is_written);
        let moved = left + u64::from(!is_near && !is_written);
        self.moved[1] += moved;
        if moved > 0 {
            self.dram_free = self.dram_free.max(at * PARTS) + moved * self.dram_sector;
        }
        if is_near || is_written {
            return from_l2;
        }
        from_l2.max(self.dram_free / PARTS + self.dram)
    }
}
