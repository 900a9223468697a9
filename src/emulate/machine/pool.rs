//! The registers of a block. Warps return and take registers.

use crate::target::machine::WARP_SIZE;

/// Allocation unit of registers for each thread.
const PIECE: u32 = 8;

/// Threads of a warp that wait for registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) warp: usize,
    /// The warp's index in the block.
    pub(super) number: usize,
    pub(super) lanes: u32,
    pub(super) count: u32,
    pub(super) line: u32,
}

/// The registers of a block.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// Registers of each thread at entry.
    entry: u32,
    /// Registers of each thread of a warp, by the warp's index.
    held: Vec<u32>,
    /// Registers that no warp has.
    free: u32,
    pub(super) waiting: Vec<Waiting>,
}

impl Pool {
    /// Returns the pool of a block with `warps` warps and `entry` registers for each thread.
    pub(super) fn new(entry: u32, warps: usize) -> Self {
        Self { entry, held: vec![entry.next_multiple_of(PIECE); warps], free: 0, waiting: Vec::new() }
    }

    /// Gives each thread of a warp `count` registers if the pool has them. Returns whether it has.
    pub(super) fn gives(&mut self, number: usize, count: u32) -> bool {
        let missing = count.saturating_sub(self.held[number]) * WARP_SIZE;
        let is_there = missing <= self.free;
        if is_there && missing > 0 {
            self.free -= missing;
            self.held[number] = count;
        }
        is_there
    }

    /// Takes registers beyond `count` from each thread of a warp. Returns whether there are any.
    pub(super) fn takes(&mut self, number: usize, count: u32) -> bool {
        let spare = self.held[number].saturating_sub(count);
        self.free += spare * WARP_SIZE;
        self.held[number] -= spare;
        spare > 0
    }

    /// Returns the reason why a thread waits, if one waits.
    pub(super) fn reason(&self) -> Option<String> {
        let Self { entry, held, free, .. } = self;
        let Waiting { number, count, line, .. } = *self.waiting.first()?;
        let (threads, missing) = (held.len() as u32 * WARP_SIZE, (count - held[number]) * WARP_SIZE);
        Some(format!(
            "setmaxnreg.inc in line {line} waits for {count} registers for each thread: warp {number} lacks {missing}, and \
             {free} of the block's {threads} times {entry} registers are free"
        ))
    }
}
