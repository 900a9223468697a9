//! Live ranges of the values of promoted stack variables.

use super::stack_accesses::{Access, Address};
use super::{Layout, Values, numbered};
use crate::analysis::{Cfg, LiveRanges, Point, ValueNumber};
use crate::function::{Block, Function, Inst, VReg};
use crate::index::IndexVec;

/// Input of the analysis.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) function: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) ranges: &'a LiveRanges,
    /// In the order of the code.
    pub(super) accesses: &'a [Access],
    pub(super) layout: Layout,
}

/// Points between which the same set of values is live, in registers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PromotedRange {
    pub(super) start: Point,
    pub(super) end: Point,
    pub(super) values: Values,
}

/// A register that holds the same value as the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RegisterCopy {
    reg: VReg,
    value: ValueNumber,
}

/// Live values along the code. The memory is reused for the next function.
#[derive(Debug, Default)]
pub(super) struct PromotedValues {
    /// In the order of the code, disjoint.
    promoted_ranges: Vec<PromotedRange>,
    /// Values that are read in or after a block before they are written.
    live_in: IndexVec<Block, Values>,
    /// Values that may have been written before a block.
    written_in: IndexVec<Block, Values>,
    /// Copy of each value in a register at the start of a block; `None` for unreachable blocks.
    copies_in: IndexVec<Block, Option<Vec<Option<RegisterCopy>>>>,
}

impl PromotedValues {
    /// Removes all ranges.
    pub(super) fn clear(&mut self) {
        self.promoted_ranges.clear();
    }

    /// Returns the ranges in the order of the code.
    pub(super) fn promoted_ranges(&self) -> &[PromotedRange] {
        &self.promoted_ranges
    }

    /// Returns the values that are live at a point.
    pub(super) fn at(&self, point: Point) -> Values {
        let here = self.promoted_ranges.iter().find(|range| range.start <= point && point < range.end);
        here.map_or(0, |range| range.values)
    }

    /// Finds the live values. A value is live at a point if a store may have written it, a load reads it before the
    /// next store, and no other live register holds the same value.
    pub(super) fn compute(&mut self, input: &Input<'_>) {
        self.find_live(input);
        self.find_written(input);
        self.find_twins(input);
        for block in input.function.blocks() {
            let (live, shared) = (self.live_in(input, block), self.shared_in(input, block));
            self.promoted_ranges
                .extend(live.into_iter().flat_map(|range| without(range, &shared)).filter(|range| range.values != 0));
        }
        debug_assert!(self.promoted_ranges.is_sorted_by_key(|range| range.start), "the order of the code");
    }

    fn find_live(&mut self, input: &Input<'_>) {
        self.live_in.clear();
        self.live_in.resize(input.function.num_blocks(), 0);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &block in input.cfg.rpo().iter().rev() {
                let accesses = input.accesses_in(block).iter().rev();
                let live = accesses.fold(self.live_out(input, block), |live, access| input.live_before(live, access));
                has_changed |= std::mem::replace(&mut self.live_in[block], live) != live;
            }
        }
    }

    fn find_written(&mut self, input: &Input<'_>) {
        self.written_in.clear();
        self.written_in.resize(input.function.num_blocks(), 0);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &block in input.cfg.rpo() {
                let accesses = input.accesses_in(block).iter();
                let written = accesses.fold(self.written_in[block], |written, access| input.written(written, access));
                for &succ in input.function.succs(block) {
                    let joined = self.written_in[succ] | written;
                    has_changed |= std::mem::replace(&mut self.written_in[succ], joined) != joined;
                }
            }
        }
    }

    /// Finds the copies at the starts of blocks: those that exist on all paths.
    fn find_twins(&mut self, input: &Input<'_>) {
        self.copies_in.clear();
        self.copies_in.resize(input.function.num_blocks(), None);
        if let Some(&entry) = input.cfg.rpo().first() {
            self.copies_in[entry] = Some(vec![None; input.layout.count as usize]);
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &block in input.cfg.rpo() {
                let Some(mut copies) = self.copies_in[block].clone() else { continue };
                input.accesses_in(block).iter().for_each(|access| input.update_copies(access, &mut copies));
                for &succ in input.function.succs(block) {
                    let joined = match &self.copies_in[succ] {
                        None => copies.clone(),
                        Some(others) => {
                            let both = copies.iter().zip(others);
                            both.map(|(copy, other)| copy.filter(|_| copy == other)).collect()
                        }
                    };
                    has_changed |= self.copies_in[succ].as_ref() != Some(&joined);
                    self.copies_in[succ] = Some(joined);
                }
            }
        }
    }

    /// Returns the values that are read after a block before they are written.
    fn live_out(&self, input: &Input<'_>, block: Block) -> Values {
        input.function.succs(block).iter().fold(0, |live, &succ| live | self.live_in[succ])
    }

    /// Returns the ranges between the accesses of a block. Each range has the values that may have been written before
    /// it and are read before they are written again.
    fn live_in(&self, input: &Input<'_>, block: Block) -> Vec<PromotedRange> {
        let accesses = input.accesses_in(block);
        let (mut live, mut end) = (self.live_out(input, block), Point::block_end(input.function, block));
        let mut promoted_ranges: Vec<PromotedRange> = Vec::with_capacity(accesses.len() + 1);
        for access in accesses.iter().rev() {
            let start = Point::late(access.inst);
            promoted_ranges.push(PromotedRange { start, end, values: live });
            (live, end) = (input.live_before(live, access), start);
        }
        promoted_ranges.push(PromotedRange { start: Point::block_start(input.function, block), end, values: live });
        promoted_ranges.reverse();
        let mut written = self.written_in[block];
        let behind = accesses.iter().map(Some);
        for (range, access) in promoted_ranges.iter_mut().zip([None].into_iter().chain(behind)) {
            written = access.map_or(written, |access| input.written(written, access));
            range.values &= written;
        }
        promoted_ranges
    }

    /// Returns the ranges of a block in which another live register holds the same value as the stack. O(accesses ·
    /// values).
    fn shared_in(&self, input: &Input<'_>, block: Block) -> Vec<PromotedRange> {
        let mut shared: Vec<PromotedRange> = Vec::new();
        let Some(mut copies) = self.copies_in[block].clone() else { return shared };
        let mut start = Point::block_start(input.function, block);
        let accesses = input.accesses_in(block).iter().map(|access| (Point::late(access.inst), Some(access)));
        for (end, access) in accesses.chain([(Point::block_end(input.function, block), None)]) {
            for (number, &copy) in (0..).zip(&copies) {
                let Some(RegisterCopy { reg, value }) = copy else { continue };
                let segments = input.ranges.segments(reg).iter().filter(|segment| segment.value == value);
                let here = segments.map(|segment| (segment.start.max(start), segment.end.min(end)));
                let here = here.filter(|(start, end)| start < end);
                shared.extend(here.map(|(start, end)| PromotedRange { start, end, values: numbered(number, 1) }));
            }
            access.into_iter().for_each(|access| input.update_copies(access, &mut copies));
            start = end;
        }
        shared
    }
}

impl Input<'_> {
    /// Returns the accesses of a block, in order.
    fn accesses_in(&self, block: Block) -> &[Access] {
        let range = self.function.block_range(block);
        let place = |inst: Inst| self.accesses.partition_point(|access| access.inst < inst);
        &self.accesses[place(range.start)..place(range.end)]
    }

    /// Returns the values that are live before an access.
    fn live_before(&self, live: Values, access: &Access) -> Values {
        match (access.is_store, access.address) {
            (false, _) => live | self.layout.values_of(access),
            (true, Address::At(_)) => live & !self.layout.values_of(access),
            // The store's address is unknown, so it ends no value.
            (true, Address::Anywhere(_)) => live,
        }
    }

    /// Returns the values that may have been written after an access.
    fn written(&self, written: Values, access: &Access) -> Values {
        if access.is_store { written | self.layout.values_of(access) } else { written }
    }

    /// Updates the copies at an access: a store sets all copies of its values, and a load sets only missing copies.
    /// Values of 16 bits have no copies.
    fn update_copies(&self, access: &Access, copies: &mut [Option<RegisterCopy>]) {
        let Address::At(offset) = access.address else {
            if access.is_store {
                copies.fill(None);
            }
            return;
        };
        let point = if access.is_store { Point::early(access.inst) } else { Point::late(access.inst) };
        let copy_of = |reg: VReg| {
            let value = self.ranges.value_at(reg, point).filter(|_| self.layout.step == 4);
            value.map(|value| RegisterCopy { reg, value })
        };
        let moved = self.function.operands(access.inst).iter().filter(|operand| operand.is_def() != access.is_store);
        let first = (offset / self.layout.step) as usize;
        for (copy, operand) in copies[first..].iter_mut().zip(moved.take(access.values as usize)) {
            if access.is_store || copy.is_none() {
                *copy = operand.reg().and_then(copy_of);
            }
        }
    }
}

/// Returns a range without the shared values, piece by piece and in order.
fn without(range: PromotedRange, shared: &[PromotedRange]) -> Vec<PromotedRange> {
    let PromotedRange { start, end, values } = range;
    let shared: Vec<&PromotedRange> = shared.iter().filter(|share| share.start < end && start < share.end).collect();
    let mut cuts: Vec<Point> = shared.iter().flat_map(|share| [share.start.max(start), share.end.min(end)]).collect();
    cuts.extend([start, end]);
    cuts.sort_unstable();
    cuts.dedup();
    let piece = |ends: &[Point]| {
        let held_by_others = shared.iter().filter(|share| share.start <= ends[0] && ends[1] <= share.end);
        let values = held_by_others.fold(values, |values, share| values & !share.values);
        PromotedRange { start: ends[0], end: ends[1], values }
    };
    cuts.windows(2).map(piece).collect()
}
