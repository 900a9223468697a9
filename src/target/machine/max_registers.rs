//! The most registers of a thread, and the most shared memory of a block, for a required number of resident blocks.
//!
//! All searches here rely on one property: more registers or more shared memory never increase the number of resident
//! blocks.

use super::{
    Architecture, BlockLimits, Launch, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, REGISTERS, SUB_PARTITIONS, WARP_SIZE,
};

/// The granularity of a thread's registers: [`super::REGISTER_GRANULARITY`] divided by the threads of a warp.
const STEP: u32 = super::REGISTER_GRANULARITY / WARP_SIZE;

impl Architecture {
    /// Returns the most registers of a thread, at most [`MAX_REGISTERS`], with which a block of `threads` threads can
    /// be launched. `None` if no block can have this number of threads, or for 0 threads.
    ///
    /// For w warps, rounded up to a multiple of four: 65,536 / (32 w), rounded down to a multiple of eight.
    pub fn max_registers_for_block(&self, threads: u32) -> Option<u32> {
        (1..=MAX_THREADS_PER_BLOCK).contains(&threads).then(|| registers_for_block(threads))
    }

    /// Returns the most registers of a thread, at most [`MAX_REGISTERS`], with which `blocks` blocks of `threads`
    /// threads are resident, as PTX's `.minnctapersm` requests. `None` if this is impossible for reasons other than
    /// registers: no block can have this number of threads, an SM cannot hold this number of warps or blocks, or one of
    /// the two arguments is 0.
    ///
    /// Shared memory and barriers are ignored. ptxas of CUDA 13.0 limits kernels that need more registers to this
    /// number. If there is no such number, ptxas ignores the directive and warns.
    pub fn registers_for_blocks(&self, threads: u32, blocks: u32) -> Option<u32> {
        self.max_registers_for_block(threads).and_then(|_| self.registers_for(threads, blocks))
    }

    /// Returns the result of [`Self::registers_for_blocks`], but also accepts blocks that are too large to launch, if
    /// an SM holds them. ptxas accepts such blocks, too.
    pub(super) fn registers_for(&self, threads: u32, blocks: u32) -> Option<u32> {
        let warps = blocks.checked_mul(threads.div_ceil(WARP_SIZE))?;
        if blocks == 0 || blocks > self.max_blocks || warps > self.max_warps {
            return None;
        }
        let resident = fitting(REGISTERS / SUB_PARTITIONS, warps.div_ceil(SUB_PARTITIONS));
        Some(registers_for_block(threads).min(resident))
    }

    /// Returns the most registers with the occupancy of the launch: registers up to this number cost no occupancy. The
    /// result is at least the launch's own registers, and at most [`MAX_REGISTERS`] unless the launch has more.
    pub fn step_edge(&self, launch: &Launch) -> u32 {
        let now = self.warps(launch, launch.registers);
        last(MAX_REGISTERS, |registers| self.warps(launch, registers) >= now).unwrap_or_default().max(launch.registers)
    }

    /// Returns the most registers, fewer than the launch has, with which more warps are resident: the register limit of
    /// the next occupancy step. `None` if something other than registers prevents more warps. Constant time.
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

    /// Returns the most additional bytes of static shared memory, in multiples of `step` and at most `most`, with which
    /// the same number of blocks is resident.
    pub fn free_shared(&self, launch: &Launch, step: u32, most: u32) -> u32 {
        let blocks = |bytes: u32| {
            self.occupancy(&Launch { static_shared: launch.static_shared.saturating_add(bytes), ..*launch }).blocks
        };
        let now = blocks(0);
        last(most / step, |steps| blocks(steps * step) >= now).unwrap_or_default() * step
    }

    /// Returns the size of shared memory with which an SM holds all blocks of a launch that it can hold: the smallest
    /// sufficient size of [`carve_outs`](Self::carve_outs). The rest is L1 cache. No document describes the driver's
    /// choice; with a smaller size, an SM would hold fewer blocks.
    pub fn carve_out_for(&self, launch: &Launch) -> u32 {
        let occupancy = self.occupancy(launch);
        self.carve_out(occupancy.blocks.saturating_mul(occupancy.shared_per_block))
    }

    /// Returns the bytes of L1 cache that an SM loses if a launch has `bytes` more bytes of static shared memory.
    pub fn cache_given_up(&self, launch: &Launch, bytes: u32) -> u32 {
        let with = Launch { static_shared: launch.static_shared.saturating_add(bytes), ..*launch };
        self.carve_out_for(&with).saturating_sub(self.carve_out_for(launch))
    }

    fn warps(&self, launch: &Launch, registers: u32) -> u32 {
        self.occupancy(&launch.with_registers(registers)).warps
    }
}

/// Returns the most registers of a thread with which a block of `threads` threads, 1 or more, fits on an SM.
pub(super) fn registers_for_block(threads: u32) -> u32 {
    fitting(REGISTERS, threads.div_ceil(WARP_SIZE).next_multiple_of(SUB_PARTITIONS))
}

/// Returns the most registers of a thread with which `warps` warps fit into `available` registers.
fn fitting(available: u32, warps: u32) -> u32 {
    (available / (warps * WARP_SIZE) / STEP * STEP).min(MAX_REGISTERS)
}

/// Returns the last number from 1 to `end` that satisfies a predicate. If the predicate fails for a number, it must
/// fail for all larger numbers. A binary search.
fn last(end: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut good, mut bad) = (0, end + 1);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if holds(middle) { good = middle } else { bad = middle }
    }
    (good > 0).then_some(good)
}
