//! What each warp of a launch did, in order: what a model of time replays.

use super::traffic::{AccessSpace, AccessTraffic};

/// An instruction that a warp issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The function's number in the program.
    pub function: u16,
    /// The number of threads that were there.
    pub lanes: u8,
    /// The line of the text; of machine code, the number in the function, from 1 on.
    pub line: u32,
    /// What it accessed: a number in the warp's accesses; [`u32::MAX`] where it accessed nothing.
    pub access: u32,
}

/// What an instruction of a warp accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessOfWarp {
    /// The memory of most of its threads; shared memory of a copy to there is in `passes` alone.
    pub space: AccessSpace,
    /// Passes through the banks of shared memory.
    pub passes: u32,
    /// Sectors of 32 bytes, in order: numbers of global memory, or of the warp's own local memory.
    pub sectors: Vec<u64>,
}

/// What a warp did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpTrace {
    /// The block's number in the grid.
    pub block: u32,
    /// The warp's number in the block.
    pub number: u32,
    /// The instructions that it issued, in order.
    pub steps: Vec<Step>,
    /// What they accessed.
    pub accesses: Vec<AccessOfWarp>,
}

impl WarpTrace {
    pub(super) fn step(&mut self, function: usize, line: u32, lanes: u32) {
        let lanes = lanes.count_ones() as u8;
        self.steps.push(Step { function: function as u16, lanes, line, access: u32::MAX });
    }

    /// Adds what the last instruction accessed. An instruction that is several operations has several such parts.
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
