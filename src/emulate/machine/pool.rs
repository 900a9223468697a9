//! The registers of a block, of which its warps give some back and take some.

use crate::target::machine::WARP_SIZE;

/// Registers come in pieces of so many for each thread.
const PIECE: u32 = 8;

/// Threads of a warp that wait for so many registers each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) warp: usize,
    /// The warp's number in the block.
    pub(super) number: usize,
    pub(super) lanes: u32,
    pub(super) count: u32,
    pub(super) line: u32,
}

/// The registers of a block.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// How many each thread has at entry.
    entry: u32,
    /// How many each thread of a warp has, by the warp's number.
    held: Vec<u32>,
    /// How many no warp has.
    free: u32,
    pub(super) waiting: Vec<Waiting>,
}

impl Pool {
    /// The registers of a block of so many warps, each of whose threads has so many.
    pub(super) fn new(entry: u32, warps: usize) -> Self {
        Self { entry, held: vec![entry.next_multiple_of(PIECE); warps], free: 0, waiting: Vec::new() }
    }

    /// Gives each thread of a warp so many, if they are there.
    pub(super) fn gives(&mut self, number: usize, count: u32) -> bool {
        let missing = count.saturating_sub(self.held[number]) * WARP_SIZE;
        let is_there = missing <= self.free;
        if is_there && missing > 0 {
            self.free -= missing;
            self.held[number] = count;
        }
        is_there
    }

    /// Takes from each thread of a warp what it has beyond so many. Returns whether there is anything.
    pub(super) fn takes(&mut self, number: usize, count: u32) -> bool {
        let spare = self.held[number].saturating_sub(count);
        self.free += spare * WARP_SIZE;
        self.held[number] -= spare;
        spare > 0
    }

    /// Why a thread waits, if one does.
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
