//! The blocks of a kernel that are resident on an SM at once, and the resources that limit them.

use std::fmt;

use bitflags::bitflags;

use super::{
    Architecture, MAX_REGISTERS, MAX_THREADS_PER_BLOCK, REGISTER_GRANULARITY, REGISTERS, SUB_PARTITIONS, WARP_SIZE,
};

/// The size of a block if it is unknown: four warps, one for each sub-partition.
pub const DEFAULT_THREADS: u32 = 128;

bitflags! {
    /// The resources that prevent more resident blocks. The values are those of `cudaOccLimitingFactor`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Limits: u32 {
        /// The warps of an SM, or a block with too many threads.
        const WARPS = 1;
        /// Registers.
        const REGISTERS = 2;
        /// Shared memory.
        const SHARED_MEMORY = 4;
        /// The blocks of an SM.
        const BLOCKS = 8;
        /// Block barriers.
        const BARRIERS = 16;
    }
}

impl fmt::Display for Limits {
    /// Writes the names of all limiting resources.
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

/// The resources of a kernel, and its launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Registers of each thread.
    pub registers: u32,
    /// Threads of each block. `None` stands for [`DEFAULT_THREADS`].
    pub threads: Option<u32>,
    /// Bytes of shared memory that the kernel declares.
    pub static_shared: u32,
    /// Bytes of dynamic shared memory. The kernel is assumed to have opted in to the bytes that it needs.
    pub dynamic_shared: u32,
    /// Barriers of each block, 0 to 16. NVIDIA's runtime assumes 1 for every kernel.
    pub barriers: u32,
    /// The preferred share of shared memory in percent of the most that an SM can have; values above 100 count as 100.
    /// `None` is the driver's default of 100. A block that needs more receives more.
    pub carve_out: Option<u32>,
}

impl Launch {
    /// Creates a launch with a register count, without shared memory, and with blocks of unknown size.
    pub fn new(registers: u32) -> Self {
        Self { registers, threads: None, static_shared: 0, dynamic_shared: 0, barriers: 1, carve_out: None }
    }

    /// Returns the same launch with another register count.
    #[must_use]
    pub fn with_registers(self, registers: u32) -> Self {
        Self { registers, ..self }
    }

    /// Returns the same launch with blocks of `threads` threads.
    #[must_use]
    pub fn with_threads(self, threads: u32) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Returns the warps of each block.
    pub fn warps(&self) -> u32 {
        self.threads.unwrap_or(DEFAULT_THREADS).div_ceil(WARP_SIZE)
    }
}

/// The blocks that each resource alone would allow on an SM. `None` if the resource sets no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockLimits {
    /// By warps; 0 for a block with 0 or too many threads.
    pub warps: u32,
    /// By the limit on blocks.
    pub blocks: u32,
    /// By registers; 0 if a thread or a block has too many.
    pub registers: Option<u32>,
    /// By shared memory; 0 if a block needs more than an SM has.
    pub shared_memory: Option<u32>,
    /// By barriers.
    pub barriers: Option<u32>,
}

/// The occupancy of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occupancy {
    /// Resident blocks; 0 if the kernel cannot be launched.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
    /// All resources whose limit is reached. If barriers are the tightest limit, the next limits are included, too, as
    /// in NVIDIA's header.
    pub limits: Limits,
    /// The blocks that each resource alone would allow.
    pub block_limits: BlockLimits,
    /// Registers allocated to each block; saturates at `u32::MAX`.
    pub registers_per_block: u32,
    /// Bytes of shared memory allocated to each block, including the driver's; saturates at `u32::MAX`.
    pub shared_per_block: u32,
}

impl Architecture {
    /// Computes the resident blocks of a kernel, as `cudaOccMaxActiveBlocksPerMultiprocessor` of CUDA 13.0 does for a
    /// kernel that has opted in to its dynamic shared memory, and that uses no virtual resources. Constant time.
    ///
    /// An impossible launch is not an error: it has 0 blocks, and `limits` has the reason. This includes blocks with 0
    /// threads, which NVIDIA's function refuses.
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

    /// Returns the blocks that registers allow, and the registers allocated to each block.
    fn blocks_by_registers(&self, launch: &Launch) -> (Option<u32>, u32) {
        let granularity = u64::from(REGISTER_GRANULARITY);
        let warps = u64::from(launch.warps());
        let per_warp = (u64::from(launch.registers) * u64::from(WARP_SIZE)).next_multiple_of(granularity);
        let per_block = saturated(per_warp.saturating_mul(warps));
        if per_warp == 0 || warps == 0 {
            return (None, per_block);
        }
        // NVIDIA's header allows one register more than an instruction can name. The header also checks that an even
        // distribution over all sub-partitions fits; if it does not, the count below is 0, too.
        if launch.registers > MAX_REGISTERS + 1 {
            return (Some(0), per_block);
        }
        let per_sub_partition = u64::from(REGISTERS / SUB_PARTITIONS) / per_warp;
        (Some(saturated(per_sub_partition * u64::from(SUB_PARTITIONS) / warps)), per_block)
    }

    /// Returns the blocks that shared memory allows, and the bytes allocated to each block.
    fn blocks_by_shared_memory(&self, launch: &Launch) -> (Option<u32>, u32) {
        let used = [launch.static_shared, launch.dynamic_shared, self.reserved_shared].map(u64::from);
        let per_block = saturated(used.iter().sum::<u64>().next_multiple_of(u64::from(self.shared_granularity)));
        if per_block == 0 {
            return (None, 0);
        }
        if per_block > self.shared() {
            return (Some(0), per_block);
        }
        // The preference is computed in bytes before it is rounded to a possible size, as in the driver.
        let preferred = self.shared() * launch.carve_out.unwrap_or(100).min(100) / 100;
        (Some(self.carve_out(preferred.max(per_block)) / per_block), per_block)
    }
}

/// Converts a number; larger numbers become `u32::MAX`.
fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
