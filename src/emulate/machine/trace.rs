//! Traces of warps: the instructions of each warp, in order, as a timing model replays them.

use super::traffic::{AccessSpace, AccessTraffic};

/// An instruction that a warp issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The function's index in the program.
    pub function: u16,
    /// The number of active threads.
    pub lanes: u8,
    /// The line of the PTX file; in machine code, the instruction's number in the function, from 1.
    pub line: u32,
    /// The index of its access among the warp's accesses; [`u32::MAX`] without an access.
    pub access: u32,
}

/// A memory access of an instruction of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessOfWarp {
    /// The memory that most of its threads access. For a copy to shared memory, only `passes` counts the shared memory.
    pub space: AccessSpace,
    /// Passes through the banks of shared memory.
    pub passes: u32,
    /// Sectors of 32 bytes, in order: indices in global memory, or in the warp's own local memory.
    pub sectors: Vec<u64>,
}

/// The trace of a warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpTrace {
    /// The block's index in the grid.
    pub block: u32,
    /// The warp's index in the block.
    pub number: u32,
    /// The issued instructions, in order.
    pub steps: Vec<Step>,
    /// Their accesses.
    pub accesses: Vec<AccessOfWarp>,
}

impl WarpTrace {
    pub(super) fn step(&mut self, function: usize, line: u32, lanes: u32) {
        let lanes = lanes.count_ones() as u8;
        self.steps.push(Step { function: function as u16, lanes, line, access: u32::MAX });
    }

    /// Adds an access of the last instruction. An instruction with several operations adds several.
    pub(super) fn access(&mut self, traffic: &AccessTraffic) {
        let Some(step) = self.steps.last_mut() else { return };
        if step.access == u32::MAX {
            step.access = self.accesses.len() as u32;
            self.accesses.push(AccessOfWarp { space: traffic.space, passes: 0, sectors: Vec::new() });
        }
        let Some(access) = self.accesses.get_mut(step.access as usize) else { return };
        access.passes += traffic.traffic.passes as u32;
        if traffic.space != AccessSpace::Shared {
            access.space = traffic.space;
        }
        access.sectors.extend(&traffic.sectors);
        access.sectors.sort_unstable();
        access.sectors.dedup();
    }
}
