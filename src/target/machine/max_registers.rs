//! How many registers a thread may have, and how much shared memory a block, so that something fits.
//!
//! All of it rests on one fact: with more of either, never more blocks are resident.

use super::{
    Architecture, BlockLimits, Launch, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, REGISTERS, SUB_PARTITIONS, WARP_SIZE,
};

/// Registers come to a thread in multiples of so many: [`super::REGISTER_GRANULARITY`] over a warp.
const STEP: u32 = super::REGISTER_GRANULARITY / WARP_SIZE;

impl Architecture {
    /// The most registers that a thread may have, at most [`MAX_REGISTERS`], so that a block of so many threads can be
    /// launched; `None` where no block has so many threads, or it has none.
    ///
    /// For w warps, rounded up to a multiple of four: 65,536 / (32 w), rounded down to a multiple of eight.
    pub fn max_registers_for_block(&self, threads: u32) -> Option<u32> {
        (1..=MAX_THREADS_PER_BLOCK).contains(&threads).then(|| registers_for_block(threads))
    }

    /// The most registers that a thread may have, at most [`MAX_REGISTERS`], so that `blocks` blocks of so many threads
    /// are resident: what PTX's `.minnctapersm` asks for. `None` where that is impossible for other reasons than
    /// registers: no block has so many threads, an SM does not hold so many warps or blocks, or one of both is 0.
    ///
    /// Shared memory and barriers are not looked at. ptxas of CUDA 13.0 gives kernels that want more registers this
    /// number, and where there is none it ignores the directive and warns.
    pub fn registers_for_blocks(&self, threads: u32, blocks: u32) -> Option<u32> {
        self.max_registers_for_block(threads).and_then(|_| self.registers_for(threads, blocks))
    }

    /// The same for blocks of any size that an SM holds: ptxas does not mind that no block may be so large.
    pub(super) fn registers_for(&self, threads: u32, blocks: u32) -> Option<u32> {
        let warps = blocks.checked_mul(threads.div_ceil(WARP_SIZE))?;
        if blocks == 0 || blocks > self.max_blocks || warps > self.max_warps {
            return None;
        }
        let resident = fitting(REGISTERS / SUB_PARTITIONS, warps.div_ceil(SUB_PARTITIONS));
        Some(registers_for_block(threads).min(resident))
    }

    /// The most registers with the occupancy that the launch has now: what may be used at no cost. At least as many as
    /// the launch has, and at most [`MAX_REGISTERS`] where it has no more than these.
    pub fn step_edge(&self, launch: &Launch) -> u32 {
        let now = self.warps(launch, launch.registers);
        last(MAX_REGISTERS, |registers| self.warps(launch, registers) >= now).unwrap_or_default().max(launch.registers)
    }

    /// The most registers, fewer than the launch has, with which more warps are resident: what an allocator must come
    /// down to for the next step of occupancy. `None` where registers are not what keeps more warps away.
    /// Constant time.
    pub fn next_step(&self, launch: &Launch) -> Option<u32> {
        let now = self.occupancy(launch);
        let BlockLimits { warps, blocks, shared_memory, barriers, .. } = now.block_limits;
        if [Some(warps), Some(blocks), shared_memory, barriers].into_iter().flatten().any(|limit| limit <= now.blocks) {
            return None;
        }
        let more = (now.blocks + 1) * launch.warps();
        let registers = fitting(REGISTERS / SUB_PARTITIONS, more.div_ceil(SUB_PARTITIONS));
        (1..launch.registers).contains(&registers).then_some(registers)
    }

    /// The most bytes of static shared memory, in multiples of `step` and at most `most`, that the launch may have besides
    /// its own with as many blocks as now.
    pub fn free_shared(&self, launch: &Launch, step: u32, most: u32) -> u32 {
        let blocks = |bytes: u32| {
            self.occupancy(&Launch { static_shared: launch.static_shared.saturating_add(bytes), ..*launch }).blocks
        };
        let now = blocks(0);
        last(most / step, |steps| blocks(steps * step) >= now).unwrap_or_default() * step
    }

    /// The size of shared memory with which an SM holds all blocks of a launch that it can hold: the smallest of
    /// [`carve_outs`](Self::carve_outs) that has room for them. The rest is L1 cache. No document says what the driver
    /// chooses; with a smaller size, an SM would hold fewer blocks.
    pub fn carve_out_for(&self, launch: &Launch) -> u32 {
        let occupancy = self.occupancy(launch);
        self.carve_out(occupancy.blocks.saturating_mul(occupancy.shared_per_block))
    }

    /// The bytes of L1 cache that an SM gives up if a launch has so many more bytes of static shared memory.
    pub fn cache_given_up(&self, launch: &Launch, bytes: u32) -> u32 {
        let with = Launch { static_shared: launch.static_shared.saturating_add(bytes), ..*launch };
        self.carve_out_for(&with).saturating_sub(self.carve_out_for(launch))
    }

    fn warps(&self, launch: &Launch, registers: u32) -> u32 {
        self.occupancy(&launch.with_registers(registers)).warps
    }
}

/// The most registers of a thread so that a block of so many threads, 1 or more, finds room on an SM.
pub(super) fn registers_for_block(threads: u32) -> u32 {
    fitting(REGISTERS, threads.div_ceil(WARP_SIZE).next_multiple_of(SUB_PARTITIONS))
}

/// The most registers of a thread so that so many warps find room in `available` registers.
fn fitting(available: u32, warps: u32) -> u32 {
    (available / (warps * WARP_SIZE) / STEP * STEP).min(MAX_REGISTERS)
}

/// The last of the numbers from 1 to `end` that satisfies a predicate, which, once it fails, fails for all that follow.
/// A binary search.
fn last(end: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut good, mut bad) = (0, end + 1);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if holds(middle) { good = middle } else { bad = middle }
    }
    (good > 0).then_some(good)
}
