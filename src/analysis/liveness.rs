//! The blocks into and out of which one register is live, computed by walking backwards from its reads to its
//! definitions.
//!
//! The method is sparse and handles one register at a time (the by-variable method of Boissinot et al., "Computing
//! Liveness Sets for SSA-Form Programs", 2011, which needs no SSA). The time is proportional to the size of the result.
//! There are no bit sets to clear: each mark holds the stamp of a register, so one addition clears all marks.

use super::{Cfg, Occurrence};
use crate::function::Block;
use crate::index::IndexVec;

/// Blocks are sorted if their range in the layout is at least this many times their number.
const SPREAD: usize = 8;

/// A block's marks. Each holds the stamp of the last register that set it.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    live_in: u32,
    live_out: u32,
    defines: u32,
}

/// Liveness of the current register at block boundaries.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockLiveness {
    stamp: u32,
    marks: IndexVec<Block, Marks>,
    /// Blocks into which the register is live. The unprocessed tail of the list is the worklist.
    live_in: Vec<Block>,
    flows_forward: bool,
}

impl BlockLiveness {
    /// Prepares for the registers of another function.
    pub(super) fn reset(&mut self, num_blocks: usize) {
        self.stamp = 0;
        self.marks.clear();
        self.marks.resize(num_blocks, Marks::default());
    }

    /// Begins the next register. A function has fewer than 2^32 registers, so stamps do not wrap.
    pub(super) fn begin(&mut self) {
        self.stamp += 1;
        self.live_in.clear();
        self.flows_forward = true;
    }

    /// Records that the register is written in a block.
    #[inline]
    pub(super) fn define(&mut self, block: Block) {
        self.marks[block].defines = self.stamp;
    }

    /// Records that the register is read in a block before any write there.
    #[inline]
    pub(super) fn read_from_start(&mut self, block: Block) {
        let marks = &mut self.marks[block];
        if marks.live_in != self.stamp {
            marks.live_in = self.stamp;
            self.live_in.push(block);
        }
    }

    /// Records that the register is read on an edge that leaves a block. Call it after all writes are recorded.
    #[inline]
    pub(super) fn read_at_end(&mut self, block: Block) {
        let marks = &mut self.marks[block];
        marks.live_out = self.stamp;
        if marks.defines != self.stamp {
            self.read_from_start(block);
        }
    }

    /// Propagates liveness backwards from the reads to the writes. O(edges into blocks where the register is live in).
    pub(super) fn propagate(&mut self, cfg: &Cfg) {
        let mut told = 0;
        while let Some(&block) = self.live_in.get(told) {
            told += 1;
            for &pred in cfg.preds(block) {
                self.read_at_end(pred);
                self.flows_forward &= pred < block || self.is_defined_in(pred);
            }
        }
    }

    /// Whether the liveness flows forward in the layout: each block through which the register is live precedes its
    /// successors into which the register is live.
    pub(super) fn flows_forward(&self) -> bool {
        self.flows_forward
    }

    /// Returns the blocks into which the register is live, each once.
    pub(super) fn live_in(&self) -> &[Block] {
        &self.live_in
    }

    /// Sorts [`live_in`](Self::live_in) by layout. The blocks are usually close together, and then a scan of the marks
    /// is faster than sorting.
    pub(super) fn sort_live_in(&mut self) {
        if self.live_in.len() < 2 {
            return;
        }
        let all = (u32::MAX, 0);
        let (first, last) =
            self.live_in.iter().fold(all, |(first, last), block| (first.min(block.0), last.max(block.0)));
        let (first, last) = (Block(first), Block(last));
        if (last.0 - first.0) as usize >= SPREAD * self.live_in.len() {
            self.live_in.sort_unstable();
            return;
        }
        let Self { live_in, marks, stamp, .. } = self;
        live_in.clear();
        let marks = marks.range(first..Block(last.0 + 1));
        let is_live_in = |(_, marks): &(Block, &Marks)| marks.live_in == *stamp;
        live_in.extend((first.0..).map(Block).zip(marks).filter(is_live_in).map(|(block, _)| block));
    }

    /// Whether the register is live into a block.
    #[inline]
    pub(super) fn is_live_in(&self, block: Block) -> bool {
        self.marks[block].live_in == self.stamp
    }

    /// Whether the register is live out of a block.
    #[inline]
    pub(super) fn is_live_out(&self, block: Block) -> bool {
        self.marks[block].live_out == self.stamp
    }

    /// Whether the register is written in a block.
    #[inline]
    pub(super) fn is_defined_in(&self, block: Block) -> bool {
        self.marks[block].defines == self.stamp
    }
}

/// Removes from the front of `live_in` the blocks that directly follow `block` in the layout. Stops at a block with one
/// of the remaining `occurrences`, or without the `same` value. Returns the last removed block, or `block` if none was
/// removed.
#[inline]
pub(super) fn take_run(
    block: Block,
    live_in: &mut &[Block],
    occurrences: &[Occurrence],
    same: impl Fn(Block) -> bool,
) -> Block {
    let mut last = block;
    while let Some((&next, rest)) = live_in.split_first()
        && next.0 == last.0 + 1
        && occurrences.first().is_none_or(|occurrence| occurrence.block > next)
        && same(next)
    {
        (last, *live_in) = (next, rest);
    }
    last
}
