//! A block: its shared memory and barriers.

use std::collections::BTreeMap;

use super::phase::Mbarrier;
use super::pool::Pool;
use crate::emulate::memory::{Flat, Shadow};
use crate::emulate::program::BarrierMode;

/// Threads that wait at a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) warp: usize,
    pub(super) lanes: u32,
    /// Frame and row of the result.
    pub(super) result: Option<(u32, u32)>,
}

/// A barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Barrier {
    /// The threads of each warp that have arrived.
    pub(super) arrived: [u32; 32],
    pub(super) waiting: Vec<Waiting>,
    /// How many threads must arrive, if an instruction gave the number.
    pub(super) count: Option<u32>,
    pub(super) mode: Option<BarrierMode>,
    /// The number of true predicates, and of all predicates.
    pub(super) is_true: u32,
    pub(super) votes: u32,
    /// The joined clocks of the threads that arrived.
    pub(super) clocks: [u32; 32],
}

/// A block.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) number: u32,
    pub(super) place: [u32; 3],
    pub(super) shared: Flat,
    pub(super) shadows: Vec<Shadow>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) mbarriers: BTreeMap<u32, Mbarrier>,
    /// The allocated columns of tensor memory: first column and count.
    pub(super) tensor: Vec<(u32, u32)>,
    /// The blocks that this block has met at atomic operations, as bits.
    pub(super) met: Vec<u64>,
    /// The threads of each warp that have not ended.
    pub(super) live: [u32; 32],
    /// The register pool, if the number of registers is known and threads ask for more or fewer.
    pub(super) pool: Option<Pool>,
}

impl Block {
    pub(super) fn new(number: u32, grid: [u32; 3]) -> Self {
        let place = [number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]];
        Self { number, place, barriers: vec![Barrier::default(); 16], ..Self::default() }
    }

    /// Frees the memory that only running threads need.
    pub(super) fn finish(&mut self) {
        self.shared = Flat::default();
        self.shadows = Vec::new();
        self.barriers = Vec::new();
        self.mbarriers.clear();
    }
}
