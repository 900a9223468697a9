//! How many blocks of a kernel an SM holds at once, and what keeps it from holding more.

use std::fmt;

use bitflags::bitflags;

use super::{
    Architecture, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, REGISTER_GRANULARITY, REGISTERS, SUB_PARTITIONS, WARP_SIZE,
};

/// The size of a block where nobody knows it: four warps, one for each sub-partition.
pub const DEFAULT_THREADS: u32 = 128;

bitflags! {
    /// What keeps an SM from holding more blocks; the values are those of `cudaOccLimitingFactor`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Limits: u32 {
        /// The warps that an SM can hold, or a block of more threads than there may be.
        const WARPS = 1;
        /// Registers.
        const REGISTERS = 2;
        /// Shared memory.
        const SHARED_MEMORY = 4;
        /// The blocks that an SM can hold.
        const BLOCKS = 8;
        /// Barriers of blocks.
        const BARRIERS = 16;
    }
}

impl fmt::Display for Limits {
    /// The names of what limits the occupancy, all of them where several do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::REGISTERS, "registers"),
            (Self::SHARED_MEMORY, "shared memory"),
            (Self::WARPS, "warps"),
            (Self::BLOCKS, "blocks"),
            (Self::BARRIERS, "barriers"),
        ];
        let mut separator = "";
        for (_, name) in names.into_iter().filter(|&(limit, _)| self.contains(limit)) {
            write!(f, "{separator}{name}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// What a kernel takes, and how it is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Registers of a thread.
    pub registers: u32,
    /// Threads of a block. `None` stands for [`DEFAULT_THREADS`].
    pub threads: Option<u32>,
    /// Bytes of shared memory that the kernel declares.
    pub static_shared: u32,
    /// Bytes of shared memory that the launch adds; the kernel is taken to have asked for as many as it needs.
    pub dynamic_shared: u32,
    /// Barriers of a block, 0 to 16. NVIDIA's runtime takes it as 1 for every kernel.
    pub barriers: u32,
    /// How much of the SM's memory is to be shared memory at least, in percent; more than 100 is 100. `None` is the
    /// driver's default, all of it. A block that needs more gets more.
    pub carve_out: Option<u32>,
}

impl Launch {
    /// A kernel with so many registers, without shared memory, its blocks of a size that nobody knows.
    pub fn new(registers: u32) -> Self {
        Self { registers, threads: None, static_shared: 0, dynamic_shared: 0, barriers: 1, carve_out: None }
    }

    /// The same launch with other registers.
    #[must_use]
    pub fn with_registers(self, registers: u32) -> Self {
        Self { registers, ..self }
    }

    /// The same launch with blocks of so many threads.
    #[must_use]
    pub fn with_threads(self, threads: u32) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads.unwrap_or(DEFAULT_THREADS).div_ceil(WARP_SIZE)
    }
}

/// How many blocks each resource alone would let an SM hold; `None` where it sets no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockLimits {
    /// By warps; 0 for a block of more threads than there may be, or none.
    pub warps: u32,
    /// By the blocks themselves.
    pub blocks: u32,
    /// By registers; 0 where a thread has too many, or a block.
    pub registers: Option<u32>,
    /// By shared memory; 0 where a block has more than there is.
    pub shared_memory: Option<u32>,
    /// By barriers.
    pub barriers: Option<u32>,
}

/// How many blocks of a kernel an SM holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occupancy {
    /// Blocks; 0 where the kernel cannot be launched so.
    pub blocks: u32,
    /// Warps of these blocks.
    pub warps: u32,
    /// What keeps it from more: every resource whose limit is reached. Where barriers are reached before all others,
    /// those that would be reached next are named, too, as NVIDIA's header does it.
    pub limits: Limits,
    /// What each resource alone would allow.
    pub block_limits: BlockLimits,
    /// Registers that a block is given, `u32::MAX` where that is less.
    pub registers_per_block: u32,
    /// Bytes of shared memory that a block is given, what the driver takes included, `u32::MAX` where that is less.
    pub shared_per_block: u32,
}

impl Architecture {
    /// How many blocks of a kernel an SM holds at once, as `cudaOccMaxActiveBlocksPerMultiprocessor` of CUDA 13.0 has
    /// it for a kernel that may have as much dynamic shared memory as it takes and no virtual resources. Constant time.
    ///
    /// A launch that cannot be is no error: it has 0 blocks, and `limits` says why. That includes blocks of no thread,
    /// which that function refuses.
    pub fn occupancy(&self, launch: &Launch) -> Occupancy {
        let (registers, registers_per_block) = self.blocks_by_registers(launch);
        let (shared_memory, shared_per_block) = self.blocks_by_shared_memory(launch);
        let barriers = self.block_barriers.filter(|_| launch.barriers > 0).map(|available| available / launch.barriers);
        let limits = BlockLimits {
            warps: self.blocks_by_warps(launch),
            blocks: self.max_blocks,
            registers,
            shared_memory,
            barriers,
        };
        let reached = |blocks: u32, all: &[(Limits, Option<u32>)]| -> Limits {
            all.iter().filter(|(_, limit)| *limit == Some(blocks)).map(|(name, _)| *name).collect()
        };
        let others = [
            (Limits::WARPS, Some(limits.warps)),
            (Limits::REGISTERS, registers),
            (Limits::SHARED_MEMORY, shared_memory),
            (Limits::BLOCKS, Some(limits.blocks)),
        ];
        let without_barriers = others.iter().filter_map(|(_, limit)| *limit).min().unwrap_or_default();
        let blocks = barriers.map_or(without_barriers, |barriers| barriers.min(without_barriers));
        Occupancy {
            blocks,
            warps: blocks * if blocks > 0 { launch.warps() } else { 0 },
            limits: reached(without_barriers, &others) | reached(blocks, &[(Limits::BARRIERS, barriers)]),
            block_limits: limits,
            registers_per_block,
            shared_per_block,
        }
    }

    fn blocks_by_warps(&self, launch: &Launch) -> u32 {
        match launch.threads.unwrap_or(DEFAULT_THREADS) {
            1..=MAX_THREADS_PER_BLOCK => self.max_warps / launch.warps(),
            _ => 0,
        }
    }

    /// By registers, and how many of these a block is given.
    fn blocks_by_registers(&self, launch: &Launch) -> (Option<u32>, u32) {
        let granularity = u64::from(REGISTER_GRANULARITY);
        let warps = u64::from(launch.warps());
        let per_warp = (u64::from(launch.registers) * u64::from(WARP_SIZE)).next_multiple_of(granularity);
        let per_block = saturated(per_warp.saturating_mul(warps));
        if per_warp == 0 || warps == 0 {
            return (None, per_block);
        }
        // The header allows one register more than an instruction can name. It also checks a launch as if a block took
        // of all sub-partitions alike; where that is too much the count below is 0 as well.
        if launch.registers > MAX_REGISTERS + 1 {
            return (Some(0), per_block);
        }
        let per_sub_partition = u64::from(REGISTERS / SUB_PARTITIONS) / per_warp;
        (Some(saturated(per_sub_partition * u64::from(SUB_PARTITIONS) / warps)), per_block)
    }

    /// By shared memory, and how many bytes of it a block is given.
    fn blocks_by_shared_memory(&self, launch: &Launch) -> (Option<u32>, u32) {
        let used = [launch.static_shared, launch.dynamic_shared, self.reserved_shared].map(u64::from);
        let per_block = saturated(used.iter().sum::<u64>().next_multiple_of(u64::from(self.shared_granularity)));
        if per_block == 0 {
            return (None, 0);
        }
        if per_block > self.shared() {
            return (Some(0), per_block);
        }
        // In bytes before it is rounded, so that the size is the one that the driver takes.
        let preferred = self.shared() * launch.carve_out.unwrap_or(100).min(100) / 100;
        (Some(self.carve_out(preferred.max(per_block)) / per_block), per_block)
    }
}

/// The number, or the largest that there is.
fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
