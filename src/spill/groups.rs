//! Groups of reads: a group contains the reads of a register that one clone of its definition, or one reload, serves.

use std::iter;
use std::ops::Range;

use super::insertion_point::InsertionPoint;
use crate::analysis::pressure::{Pressure, instructions};
use crate::analysis::{LiveRanges, Occurrence};
use crate::function::{Block, Effects, Function, Inst, Role, VReg};

/// Reads that use the same register.
pub(crate) struct Group {
    /// The reads, in the order of the code; at least one.
    pub(crate) reads: Vec<Occurrence>,
    /// The block of the clone or the reload.
    pub(crate) block: Block,
    /// The instruction that follows the clone or the reload. At the end of a block, the number after the block's last
    /// instruction.
    pub(crate) place: Inst,
    /// Whether a definition itself is near enough to serve the reads, so that no clone or reload is needed.
    pub(crate) has_definition: bool,
    /// The instructions at whose reads the group's register is live: after the definition, or from `place` on.
    pub(crate) live: Vec<Range<u32>>,
}

impl Group {
    /// Whether the clone or the reload is before an instruction of its block.
    pub(crate) fn is_ahead_of_instruction(&self, function: &Function) -> bool {
        self.place < function.block_range(self.block).end
    }
}

/// Groups the reads of a register: successive reads of one block form a group if no high-pressure point lies between
/// them. `occurrences` are all reads and definitions of the register, in the order of the code. A high-pressure point
/// has at least `threshold` live words. A definition ends a group.
pub(crate) fn group(
    function: &Function,
    occurrences: &[Occurrence],
    pressure: &Pressure,
    threshold: u32,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut last: Option<&Occurrence> = None;
    for access in occurrences.iter().filter(|access| access.is_def() || access.is_use()) {
        if access.is_use() {
            let place = place(function, access);
            let is_near = |last: &&Occurrence| {
                // The register of a definition holds the value up to its store, and a reload must follow the store.
                let from = if last.is_def() { InsertionPoint::after(function, last).before } else { last.inst.0 + 1 };
                let between = from..place.0;
                last.block == access.block && (between.is_empty() || pressure.most_in(&between) < threshold)
            };
            let near = last.filter(is_near);
            match groups.last_mut().filter(|_| near.is_some_and(|last| !last.is_def())) {
                Some(group) => {
                    group.reads.push(*access);
                    group.live[0].end = access.inst.0 + 1;
                }
                None => {
                    let start = near.map_or(place.0, |definition| definition.inst.0 + 1);
                    let (block, has_definition) = (access.block, near.is_some());
                    let live = iter::once(start..access.inst.0 + 1).collect();
                    groups.push(Group { reads: vec![*access], block, place, has_definition, live });
                }
            }
        }
        last = Some(access);
    }
    groups
}

/// Returns the instruction before which a read can be reloaded: the reading instruction, or the first instruction of
/// its sequence of terminators or its call sequence, in which nothing can be inserted.
pub(crate) fn place(function: &Function, read: &Occurrence) -> Inst {
    let rows = Effects::TERMINATOR | Effects::CALL_SEQUENCE;
    let row = function.effects(read.inst) & rows;
    let is_of_row = |&inst: &Inst| function.effects(inst).intersects(row) || function.role(inst) == Role::Debug;
    let before = (function.block_range(read.block).start.0..read.inst.0).rev().map(Inst);
    before.take_while(is_of_row).last().filter(|_| !row.is_empty()).unwrap_or(read.inst)
}

/// Returns the instructions at which the value's register is freed if each group has a register of its own. A
/// definition itself is never freed, even if it writes the register before it reads its operands.
pub(crate) fn freed(
    reg: VReg,
    definitions: impl Iterator<Item = Inst>,
    groups: &[Group],
    live: &LiveRanges,
) -> Vec<Range<u32>> {
    let mut occupied: Vec<Range<u32>> = groups.iter().flat_map(|group| group.live.iter().cloned()).collect();
    occupied.extend(definitions.map(|definition| definition.0..definition.0 + 1));
    occupied.sort_by_key(|range| range.start);
    let mut freed = Vec::new();
    for segment in live.segments(reg) {
        let mut rest = instructions(segment);
        let first = occupied.partition_point(|range| range.end <= rest.start);
        for range in occupied[first..].iter().take_while(|range| range.start < rest.end) {
            freed.push(rest.start..range.start.max(rest.start));
            rest.start = range.end.min(rest.end);
        }
        freed.push(rest);
    }
    freed.retain(|stretch| !stretch.is_empty());
    freed
}
