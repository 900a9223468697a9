//! The reads of a register that its value comes back for once: by one clone of its definition, or one reload.

use std::iter;
use std::ops::Range;

use super::insertion_point::InsertionPoint;
use crate::analysis::pressure::{Pressure, instructions};
use crate::analysis::{LiveRanges, Occurrence};
use crate::function::{Block, Effects, Function, Inst, Role, VReg};

/// Reads that one register serves.
pub(crate) struct Group {
    /// In the order of the code, one at least.
    pub(crate) reads: Vec<Occurrence>,
    /// The block in which the clone or the reload stands.
    pub(crate) block: Block,
    /// The instruction that it stands in front of, or the number behind the block's last.
    pub(crate) place: Inst,
    /// Whether a definition itself is near enough.
    pub(crate) has_definition: bool,
    /// The instructions at whose reads the group's register is live: from behind that definition, or from `place` on.
    pub(crate) live: Vec<Range<u32>>,
}

impl Group {
    /// Whether there is an instruction that the clone or the reload stands in front of.
    pub(crate) fn is_ahead_of_instruction(&self, function: &Function) -> bool {
        self.place < function.block_range(self.block).end
    }
}

/// Groups the reads of a register: those of one block that follow each other with no full point between them. `occurrences` are
/// all of its reads and definitions, in the order of the code. Full are points with at least `threshold` words. No group goes
/// on behind a definition.
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
                // A definition's register holds the value up to its store, and no reload may stand ahead of that.
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

/// The read itself; in a row of terminators, or of members of a call sequence, the first of the row: nothing goes
/// between those.
pub(crate) fn place(function: &Function, read: &Occurrence) -> Inst {
    let rows = Effects::TERMINATOR | Effects::CALL_SEQUENCE;
    let row = function.effects(read.inst) & rows;
    let is_of_row = |&inst: &Inst| function.effects(inst).intersects(row) || function.role(inst) == Role::Debug;
    let before = (function.block_range(read.block).start.0..read.inst.0).rev().map(Inst);
    before.take_while(is_of_row).last().filter(|_| !row.is_empty()).unwrap_or(read.inst)
}

/// The stretches of instructions that the value's register is free of, when each group has one of its own. A definition
/// itself is never free of it, even where it writes the register before it reads others.
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
