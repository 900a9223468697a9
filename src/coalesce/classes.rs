//! Congruence classes: sets of merged registers, with one live range for each class.
//!
//! A class's live range is a sorted list of disjoint segments, each with the root of its value. Where the live ranges
//! of two classes overlap with equal roots, both classes hold the same bits. If such classes are merged, their union
//! has the overlap only once.

use super::candidates::Candidate;
use super::program::{Fate, Program};
use super::values::Values;
use crate::analysis::{
    LiveRanges, Occurrence, Occurrences, Point, Segment, ValueDef, ValueNumber, append, overlap, union,
};
use crate::function::{Function, Inst, Operand, Role, VReg, Value};
use crate::index::IndexVec;
use crate::stats::CopyRefusal;
use crate::target::CopyFamily;

/// Data of one class, by its root register.
#[derive(Clone, Debug, Default)]
struct Class {
    segments: Vec<Segment>,
    /// Whether all segments lie in one block.
    local: bool,
    /// Whether a member is the address of a stack slot, or an address-space conversion of such an address. NVPTX's
    /// peephole folds such an address into its users only if the register has one definition.
    frame_address: bool,
    /// Number of attempts to merge the class since its live range became large.
    attempts: u32,
}

/// The classes of one round.
#[derive(Debug)]
pub(super) struct Classes {
    /// Index of a register's class in `classes`; `u32::MAX` for registers that are in no candidate.
    slots: IndexVec<VReg, u32>,
    classes: Vec<Class>,
    union: Vec<Segment>,
}

impl Classes {
    /// Creates one class for each wanted register.
    pub(super) fn new(program: &Program<'_>, ranges: &LiveRanges, values: &Values, wanted: &[VReg]) -> Self {
        let mut slots = IndexVec::filled(u32::MAX, program.num_regs());
        let mut classes = Vec::with_capacity(wanted.len());
        for &reg in wanted {
            slots[reg] = classes.len() as u32;
            let mut segments = Vec::with_capacity(ranges.segments(reg).len());
            for &segment in ranges.segments(reg) {
                append(&mut segments, 0, Segment { value: values.root(segment.value), ..segment });
            }
            let local = is_local(program.function, &segments);
            classes.push(Class { segments, local, frame_address: is_frame_address(program, reg), attempts: 0 });
        }
        Self { slots, classes, union: Vec::new() }
    }

    fn class(&self, root: VReg) -> &Class {
        &self.classes[self.slots[root] as usize]
    }

    /// Whether all segments of a class lie in one block.
    pub(super) fn is_local(&self, root: VReg) -> bool {
        self.class(root).local
    }

    /// Returns the root value that a class holds at a point; `None` if it is not live there.
    pub(super) fn value_at(&self, root: VReg, point: Point) -> Option<ValueNumber> {
        let segments = &self.class(root).segments;
        let after = segments.partition_point(|segment| segment.start <= point);
        segments[..after].last().filter(|segment| point < segment.end).map(|segment| segment.value)
    }

    /// Merges the two sides of a copy and removes the copy, or returns the reason for the refusal.
    pub(super) fn try_merge(&mut self, program: &mut Program<'_>, candidate: &Candidate) -> Result<(), CopyRefusal> {
        let (dst, src) = (program.find(candidate.dst), program.find(candidate.src));
        if dst != src {
            self.check(program, dst, src)?;
        }
        program.delete(candidate.inst);
        program.report.removed.push(candidate.inst);
        if dst != src {
            self.merge(program, dst, src);
        }
        Ok(())
    }

    fn check(&mut self, program: &Program<'_>, dst: VReg, src: VReg) -> Result<(), CopyRefusal> {
        let options = program.options;
        if program.is_out_of_merges() {
            return Err(CopyRefusal::MergeLimit);
        }
        let (a, b) = (self.slots[dst] as usize, self.slots[src] as usize);
        let is_global = !self.classes[a].local || !self.classes[b].local;
        if is_global && !options.join_globalcopies {
            return Err(CopyRefusal::Global);
        }
        // The definition by the copy is removed by the merge, so it does not count.
        let definitions = program.count(dst).defs + program.count(src).defs - 1;
        if (self.classes[a].frame_address || self.classes[b].frame_address) && definitions > 1 {
            return Err(CopyRefusal::FrameAddress);
        }
        for side in [a, b] {
            let class = &mut self.classes[side];
            if class.segments.len() > options.large_interval_size_threshold as usize {
                class.attempts += 1;
                if class.attempts > options.large_interval_freq_threshold {
                    return Err(CopyRefusal::LargeRange);
                }
            }
        }
        if overlap(&self.classes[a].segments, &self.classes[b].segments, |a, b| a != b) {
            return Err(CopyRefusal::Interference);
        }
        Ok(())
    }

    fn merge(&mut self, program: &mut Program<'_>, dst: VReg, src: VReg) {
        let root = program.merge(dst, src);
        let other = if root == dst { src } else { dst };
        let taken = std::mem::take(&mut self.classes[self.slots[other] as usize]);
        let into = &mut self.classes[self.slots[root] as usize];
        // Where the live ranges overlap, their roots are equal, because the classes do not interfere. So either root
        // may be kept.
        union(&into.segments, &taken.segments, &mut self.union);
        std::mem::swap(&mut into.segments, &mut self.union);
        into.local = into.local && taken.local && is_local(program.function, &into.segments);
        into.frame_address |= taken.frame_address;
        into.attempts = into.attempts.max(taken.attempts);
    }

    /// Deletes copies and constants whose value is never read, or whose register already holds the value. For example,
    /// if two merged definitions write equal constants, the later definition has no effect. Returns whether any were
    /// deleted.
    pub(super) fn delete_redundant_definitions(
        &self,
        program: &mut Program<'_>,
        ranges: &LiveRanges,
        values: &Values,
        wanted: &[VReg],
    ) -> bool {
        let mut deleted = false;
        for &reg in wanted {
            for segment in ranges.segments(reg) {
                let ValueDef::Inst { inst, .. } = ranges.value_def(segment.value) else { continue };
                // A value has its definition in only one segment, which starts at the definition.
                if segment.start != Point::late(inst) || !is_plain_definition(program, inst) {
                    continue;
                }
                let root = values.root(segment.value);
                if self.value_at(program.find(reg), Point::early(inst)) == Some(root) {
                    program.delete(inst);
                } else if is_dead(program.function, ranges, reg, segment) {
                    program.delete_dead(inst, values.constant(segment.value));
                } else {
                    continue;
                }
                program.report.removed.push(inst);
                deleted = true;
            }
        }
        deleted
    }

    /// Updates the debug values of merged registers. A debug value stays if the class still holds the value that its
    /// register held there. Otherwise the register may have been written for another member. The variable then becomes
    /// the constant that the register held, or unknown.
    pub(super) fn settle_debug_values(
        &self,
        program: &mut Program<'_>,
        occurrences: &Occurrences,
        ranges: &LiveRanges,
        values: &Values,
        wanted: &[VReg],
    ) {
        for &reg in wanted {
            for &Occurrence { inst, .. } in occurrences.debug_uses(reg) {
                let point = Point::early(inst);
                if ranges.value_at(reg, point).is_some() {
                    continue;
                }
                // If the register's last value ends before the block, it may not be the last value on this path.
                let block = program.function.block_range(program.function.block_of(inst));
                let own = last_before(ranges.segments(reg), point).filter(|own| own.end > Point::early(block.start));
                let class = last_before(&self.class(program.find(reg)).segments, point);
                let is_gone = |value| matches!(ranges.value_def(value), ValueDef::Inst { inst, .. } if program.fate(inst) == Fate::Dead);
                let still_there = own
                    .zip(class)
                    .is_some_and(|(own, class)| values.root(own.value) == class.value && !is_gone(own.value));
                if !still_there {
                    let constant = own.and_then(|own| values.constant(own.value));
                    let value = constant.map_or(Value::NoReg, |constant| program.function.described_constant(constant));
                    program.set_variable(inst, value);
                }
            }
        }
    }
}

/// Whether an instruction only puts a value into a register: it is a copy or a constant, and was neither merged nor
/// deleted.
fn is_plain_definition(program: &Program<'_>, inst: Inst) -> bool {
    match program.fate(inst) {
        Fate::Keep => program.as_copy(inst).is_some() || program.function.role(inst) == Role::Constant,
        Fate::Constant(_) => true,
        Fate::Delete | Fate::Dead | Fate::Variable(_) => false,
    }
}

/// Whether the value that a segment's definition writes is never read. A segment of one point at the end of a block may
/// still be read in a successor.
fn is_dead(function: &Function, ranges: &LiveRanges, reg: VReg, segment: &Segment) -> bool {
    if segment.end != segment.start.next() {
        return false;
    }
    let block = function.block_of(segment.start.inst());
    segment.end < Point::block_end(function, block)
        || function.succs(block).iter().all(|&succ| !ranges.is_live_in(reg, succ))
}

/// Returns the last segment that starts before a point.
fn last_before(segments: &[Segment], point: Point) -> Option<&Segment> {
    segments[..segments.partition_point(|segment| segment.start < point)].last()
}

/// Whether segments lie in one block. O(log blocks).
fn is_local(function: &Function, segments: &[Segment]) -> bool {
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return true };
    let block = function.block_range(function.block_of(first.start.inst()));
    last.end <= Point::early(block.end)
}

/// Whether a register is the address of a stack slot, with or without an address-space conversion.
fn is_frame_address(program: &Program<'_>, reg: VReg) -> bool {
    let function = program.function;
    let Some(inst) = program.single_definition(reg) else { return false };
    if !function.effects(inst).is_pure() {
        return false;
    }
    let names_slot = |inst: Inst| function.operands(inst).iter().any(|operand| matches!(operand.value, Value::Slot(_)));
    let converts = |inst: Inst| program.classification.of(function, inst).family == CopyFamily::AddressSpace;
    names_slot(inst)
        || function
            .operands(inst)
            .iter()
            .filter_map(Operand::use_reg)
            .any(|address| program.single_definition(program.find(address)).is_some_and(names_slot))
            && converts(inst)
}
