//! Live ranges: the points at which a register is live, and the value it holds there.
//!
//! Values correspond to the names of SSA form. Each definition makes a value, and so does each block in which different
//! values of the register meet. The following rule makes "the same value" mean "the same bits": a block receives a
//! value unchanged only if the value was made in a block that strictly dominates this block. Around a cycle, a new
//! value is made at the cycle's entry.

use std::ops::Range;

use super::liveness::{BlockLiveness, take_run};
use super::lone_values::{definition_points, local_segment, lone_segments};
use super::phi_placement::PhiPlacement;
use super::segment::{append, covering};
use super::{Cfg, Dominators, Occurrence, Occurrences, Point, Segment, ValueNumber};
use crate::function::{Block, Function, Inst, VReg, Value};
use crate::index::{EntityIndex, IndexVec};

/// The place at which a value is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// An instruction, possibly a PHI.
    Inst {
        /// The instruction.
        inst: Inst,
        /// The index of the operand that writes the value.
        operand: u32,
    },
    /// The start of a block in which different values of the register meet. One of them may be the undefined value.
    /// Unreachable blocks always make such a value.
    Phi(Block),
    /// The start of a block without predecessors: no instruction has written the register.
    Undefined(Block),
}

/// A block into which a register is live, and the value it holds there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveIn {
    /// The block.
    pub block: Block,
    /// The value at the start of the block, before its PHIs.
    pub value: ValueNumber,
}

/// The start of one register's entries in the lists shared by all registers.
#[derive(Clone, Copy, Debug, Default)]
struct Starts {
    segments: u32,
    values: u32,
    live_ins: u32,
}

/// The live ranges of the wanted registers of a function.
#[derive(Clone, Debug, Default)]
pub struct LiveRanges {
    /// The index of each register's live range. Index 0 is the empty range of all registers that were not requested.
    numbers: IndexVec<VReg, u32>,
    /// Indexed by live range, with one additional entry at the end.
    starts: Vec<Starts>,
    segments: Vec<Segment>,
    values: IndexVec<ValueNumber, ValueDef>,
    live_ins: Vec<LiveIn>,
    scratch: Scratch,
}

/// Scratch memory for one register.
#[derive(Clone, Debug, Default)]
struct Scratch {
    liveness: BlockLiveness,
    placement: PhiPlacement,
    definers: Vec<Block>,
    phi_exits: Vec<Block>,
    /// The register's value at the start of each block, if the register is live into the block.
    value_in: IndexVec<Block, ValueNumber>,
    /// The register's value at the end of each block, if the register is defined in the block or live through it.
    value_out: IndexVec<Block, ValueNumber>,
}

impl LiveRanges {
    /// Returns the live ranges of the `wanted` registers, given their occurrences. The time is O(n log n) in the
    /// occurrences and in the blocks into which each register is live.
    pub fn new(
        function: &Function,
        cfg: &Cfg,
        dominators: &Dominators,
        occurrences: &Occurrences,
        wanted: &[VReg],
    ) -> Self {
        let mut ranges = Self::default();
        ranges.compute(function, cfg, dominators, occurrences, wanted);
        ranges
    }

    /// Computes the live ranges of the `wanted` registers of `function`.
    pub fn compute(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        dominators: &Dominators,
        occurrences: &Occurrences,
        wanted: &[VReg],
    ) {
        self.reset(function);
        // Most registers have one value and one segment.
        self.starts.reserve(wanted.len());
        self.segments.reserve(wanted.len());
        self.values.reserve(wanted.len());
        for &reg in wanted {
            if self.numbers[reg] == 0 {
                self.numbers[reg] = self.starts.len() as u32 - 1;
                self.compute_register(function, cfg, dominators, occurrences.of(reg));
                self.starts.push(self.ends());
            }
        }
    }

    /// Whether the live range of the register was computed.
    #[inline]
    pub fn has(&self, reg: VReg) -> bool {
        self.numbers[reg] != 0
    }

    /// Returns the segments of a register. Empty if the register was not requested or does not occur.
    #[inline]
    pub fn segments(&self, reg: VReg) -> &[Segment] {
        let (start, end) = self.bounds(reg);
        &self.segments[start.segments as usize..end.segments as usize]
    }

    /// Returns a register's values: those of its definitions in layout order, then those made at block starts.
    #[inline]
    pub fn values_of(&self, reg: VReg) -> Range<ValueNumber> {
        let (start, end) = self.bounds(reg);
        ValueNumber(start.values)..ValueNumber(end.values)
    }

    /// Whether exactly one operand writes the register. O(1).
    #[inline]
    pub fn has_one_definition(&self, reg: VReg) -> bool {
        let is_written = |value: &ValueDef| matches!(value, ValueDef::Inst { .. });
        match self.values.range(self.values_of(reg)) {
            [first, second, ..] => is_written(first) && !is_written(second),
            values => values.first().is_some_and(is_written),
        }
    }

    /// Returns the blocks into which a register is live, in layout order, empty blocks included.
    #[inline]
    pub fn live_ins(&self, reg: VReg) -> &[LiveIn] {
        let (start, end) = self.bounds(reg);
        &self.live_ins[start.live_ins as usize..end.live_ins as usize]
    }

    /// Returns the place at which a value is made.
    #[inline]
    pub fn value_def(&self, value: ValueNumber) -> ValueDef {
        self.values[value]
    }

    /// Returns the number of values of all registers.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// Returns the value of a register at a point. `None` if the register is not live there. O(log segments).
    #[inline]
    pub fn value_at(&self, reg: VReg, point: Point) -> Option<ValueNumber> {
        covering(self.segments(reg), point).map(|segment| segment.value)
    }

    /// Returns the value of a register at the start of a block, before the block's PHIs. `None` if the register is not
    /// live in. O(log blocks into which it is live).
    pub fn live_in_value(&self, reg: VReg, block: Block) -> Option<ValueNumber> {
        let live_ins = self.live_ins(reg);
        let found = live_ins.binary_search_by_key(&block, |live_in| live_in.block);
        found.ok().map(|at| live_ins[at].value)
    }

    /// Whether a register is live into a block.
    pub fn is_live_in(&self, reg: VReg, block: Block) -> bool {
        self.live_in_value(reg, block).is_some()
    }

    /// Returns the value of a register at the end of a block. `None` if it is dead there. A definition by the last
    /// instruction counts as live.
    pub fn live_out_value(&self, function: &Function, reg: VReg, block: Block) -> Option<ValueNumber> {
        let insts = function.block_range(block);
        if insts.is_empty() {
            return self.live_in_value(reg, block);
        }
        self.value_at(reg, Point(Point::early(insts.end).0 - 1))
    }

    fn bounds(&self, reg: VReg) -> (Starts, Starts) {
        let number = self.numbers[reg] as usize;
        (self.starts[number], self.starts[number + 1])
    }

    fn ends(&self) -> Starts {
        Starts {
            segments: self.segments.len() as u32,
            values: self.values.len() as u32,
            live_ins: self.live_ins.len() as u32,
        }
    }

    fn reset(&mut self, function: &Function) {
        self.numbers.clear();
        self.numbers.resize(function.num_regs(), 0);
        self.starts.clear();
        self.starts.resize(2, Starts::default());
        self.segments.clear();
        self.values.clear();
        self.live_ins.clear();
        let num_blocks = function.num_blocks();
        self.scratch.liveness.reset(num_blocks);
        self.scratch.placement.reset(num_blocks);
        self.scratch.value_in.resize(num_blocks, ValueNumber(0));
        self.scratch.value_out.resize(num_blocks, ValueNumber(0));
    }

    fn compute_register(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        dominators: &Dominators,
        occurrences: &[Occurrence],
    ) {
        let first_value = self.values.next_id();
        if let Some(segment) = local_segment(function, occurrences, first_value) {
            let Occurrence { inst, operand, .. } = occurrences[0];
            self.values.push(ValueDef::Inst { inst, operand });
            self.segments.push(segment);
            return;
        }
        self.scan(function, occurrences);
        let num_defs = self.values.len() - first_value.index();
        let scratch = &mut self.scratch;
        scratch.liveness.propagate(cfg);
        if !scratch.liveness.live_in().is_empty() {
            // The only definition reaches all reads if each path to them from the entry, or from an unreachable block,
            // passes through it.
            let is_unreachable = |&block: &Block| !cfg.is_reachable(block);
            let gets_around = scratch.liveness.is_live_in(Block(0))
                || (cfg.rpo().len() < cfg.num_blocks() && scratch.liveness.live_in().iter().any(is_unreachable));
            scratch.liveness.sort_live_in();
            if num_defs == 1 && !gets_around {
                let live_in = scratch.liveness.live_in().iter();
                self.live_ins.extend(live_in.map(|&block| LiveIn { block, value: first_value }));
                return lone_segments(function, occurrences, &scratch.liveness, first_value, &mut self.segments);
            }
            if scratch.liveness.flows_forward() && cfg.rpo().len() == cfg.num_blocks() {
                self.sweep_values(cfg);
            } else {
                self.resolve_values(function, cfg, dominators);
            }
            let scratch = &self.scratch;
            self.live_ins.extend(
                scratch.liveness.live_in().iter().map(|&block| LiveIn { block, value: scratch.value_in[block] }),
            );
        }
        self.build_segments(function, occurrences, first_value);
    }

    /// Numbers the definitions, and records the writes and the upward-exposed reads in the liveness.
    fn scan(&mut self, function: &Function, occurrences: &[Occurrence]) {
        let Scratch { liveness, definers, phi_exits, value_out, .. } = &mut self.scratch;
        liveness.begin();
        definers.clear();
        phi_exits.clear();
        let mut defined_in = None;
        for occurrence in occurrences {
            let block = occurrence.block;
            if occurrence.is_def() {
                let def = ValueDef::Inst { inst: occurrence.inst, operand: occurrence.operand };
                value_out[block] = self.values.push(def);
                if defined_in != Some(block) {
                    defined_in = Some(block);
                    definers.push(block);
                    liveness.define(block);
                }
            } else if occurrence.is_use() {
                if occurrence.is_phi {
                    phi_exits.extend(phi_predecessor(function, occurrence));
                } else if defined_in != Some(block) {
                    liveness.read_from_start(block);
                }
            }
        }
        for &block in phi_exits.iter() {
            liveness.read_at_end(block);
        }
    }

    /// Computes the value that is live into each block, in layout order, and makes a value wherever several meet. The
    /// layout must be such that the outgoing value of each predecessor is known before it is needed. Two values arrive
    /// at a block only if the paths from their defining blocks meet there first. The result is therefore also the
    /// iterated dominance frontier (Cytron et al., "Efficiently Computing Static Single Assignment Form", 1991).
    /// O(edges into these blocks).
    fn sweep_values(&mut self, cfg: &Cfg) {
        let Scratch { liveness, value_in, value_out, .. } = &mut self.scratch;
        for &block in liveness.live_in() {
            let mut arriving = cfg.preds(block).iter().map(|&pred| value_out[pred]);
            let first = arriving.next().filter(|_| block != Block(0));
            value_in[block] = match first {
                Some(value) if arriving.all(|other| other == value) => value,
                _ => self.values.push(meeting(cfg, block)),
            };
            if !liveness.is_defined_in(block) {
                value_out[block] = value_in[block];
            }
        }
    }

    /// Does the same as [`sweep_values`](Self::sweep_values) for any graph, including cycles and unreachable blocks.
    fn resolve_values(&mut self, function: &Function, cfg: &Cfg, dominators: &Dominators) {
        let Scratch { liveness, placement, definers, value_in, value_out, .. } = &mut self.scratch;
        placement.place(function, cfg, dominators, liveness, definers);
        for &block in liveness.live_in() {
            if !cfg.is_reachable(block) {
                value_in[block] = self.values.push(meeting(cfg, block));
            }
        }
        for (block, has_phi) in placement.blocks() {
            if !liveness.is_live_in(block) {
                continue;
            }
            value_in[block] = match dominators.idom(block) {
                Some(dominator) if !has_phi => value_out[dominator],
                _ => self.values.push(meeting(cfg, block)),
            };
            if !liveness.is_defined_in(block) {
                value_out[block] = value_in[block];
            }
        }
    }

    /// Visits in layout order all blocks in which the register occurs or into which it is live.
    fn build_segments(&mut self, function: &Function, occurrences: &[Occurrence], first_value: ValueNumber) {
        let first_segment = self.segments.len();
        let mut next_value = first_value;
        let mut occurrences = occurrences;
        let mut live_in = self.scratch.liveness.live_in();
        loop {
            let block = match (occurrences.first(), live_in.first()) {
                (Some(occurrence), Some(&block)) => block.min(occurrence.block),
                (Some(occurrence), None) => occurrence.block,
                (None, Some(&block)) => block,
                (None, None) => break,
            };
            let mut open: Option<Segment> = None;
            let mut read_until = Point(0);
            if let Some((&first, rest)) = live_in.split_first()
                && first == block
            {
                let start = Point::block_start(function, block);
                open = Some(Segment { start, end: start, value: self.scratch.value_in[block] });
                live_in = rest;
            }
            while let Some((occurrence, rest)) = occurrences.split_first()
                && occurrence.block == block
            {
                occurrences = rest;
                if occurrence.is_def() {
                    let (start, end) = definition_points(function, occurrence);
                    let mut segment = Segment { start, end, value: next_value };
                    next_value = ValueNumber(next_value.0 + 1);
                    // If the instruction also reads the register, an early write takes effect after the read. If it
                    // writes the register twice, the last write counts.
                    segment.start = start.max(read_until);
                    if let Some(mut before) = open {
                        before.end = before.end.min(segment.start);
                        append(&mut self.segments, first_segment, before);
                    }
                    open = Some(segment);
                } else if occurrence.is_use() && !occurrence.is_phi {
                    read_until = Point::late(occurrence.inst);
                    if let Some(segment) = &mut open {
                        segment.end = segment.end.max(read_until);
                    }
                }
            }
            if let Some(mut segment) = open {
                if self.scratch.liveness.is_live_out(block) {
                    let same = |next| self.scratch.value_in[next] == segment.value;
                    let last = take_run(block, &mut live_in, occurrences, same);
                    segment.end = Point::block_end(function, last);
                }
                append(&mut self.segments, first_segment, segment);
            }
        }
    }
}

/// Returns the definition of a value that the start of a block makes.
fn meeting(cfg: &Cfg, block: Block) -> ValueDef {
    match cfg.preds(block) {
        [] => ValueDef::Undefined(block),
        _ => ValueDef::Phi(block),
    }
}

/// Returns the predecessor at the end of which a PHI reads its operand.
#[inline]
fn phi_predecessor(function: &Function, occurrence: &Occurrence) -> Option<Block> {
    match function.operands(occurrence.inst).get(occurrence.operand as usize + 1)?.value {
        Value::Block(block) => Some(block),
        _ => None,
    }
}
