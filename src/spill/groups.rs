//! The reads of a value that it comes back for once: by one clone of its definition, or one reload.

use std::ops::Range;

use super::pressure::{Pressure, instructions};
use crate::analysis::{LiveRanges, Occurrence};
use crate::function::{Effects, Function, Inst, Role, VReg};

/// Reads of one block that follow each other with no full point between them.
pub(crate) struct Group {
    /// In the order of the code, one at least.
    pub(crate) reads: Vec<Occurrence>,
    /// The instruction that the clone or the reload stands in front of.
    pub(crate) place: Inst,
    /// Whether the definition itself is near enough.
    pub(crate) has_definition: bool,
}

impl Group {
    /// The instructions at whose reads the group's register is live: behind the definition, or from the first read.
    fn kept(&self, definition: Inst) -> Range<u32> {
        let start = if self.has_definition { definition.0 + 1 } else { self.place.0 };
        start..self.reads.last().map_or(start, |last| last.inst.0 + 1)
    }
}

/// Groups the reads of a value, in the order of the code, with one definition that dominates them all. Full are points
/// with at least `threshold` words.
pub(crate) fn group(
    function: &Function,
    definition: &Occurrence,
    reads: &[Occurrence],
    pressure: &Pressure,
    threshold: u32,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut last = (definition.inst, definition.block);
    // A block that stands ahead of the definition's may read the value, too: the reads behind the definition come first.
    let own = reads.iter().filter(|read| read.block == definition.block);
    for &read in own.chain(reads.iter().filter(|read| read.block != definition.block)) {
        let place = place(function, &read);
        let between = last.0.0 + 1..place.0;
        let is_near = last.1 == read.block && (between.is_empty() || pressure.most_in(&between) < threshold);
        match groups.last_mut() {
            Some(group) if is_near => group.reads.push(read),
            group => {
                let has_definition = is_near && group.is_none();
                groups.push(Group { reads: vec![read], place, has_definition });
            }
        }
        last = (read.inst, read.block);
    }
    groups
}

/// The read itself; in a row of terminators, or of members of a call sequence, the first of the row: nothing goes
/// between those.
fn place(function: &Function, read: &Occurrence) -> Inst {
    let rows = Effects::TERMINATOR | Effects::CALL_SEQUENCE;
    let row = function.effects(read.inst) & rows;
    let is_of_row = |&inst: &Inst| function.effects(inst).intersects(row) || function.role(inst) == Role::Debug;
    let before = (function.block_range(read.block).start.0..read.inst.0).rev().map(Inst);
    before.take_while(is_of_row).last().filter(|_| !row.is_empty()).unwrap_or(read.inst)
}

/// The stretches of instructions that the value's register is free of, when each group has one of its own. The definition
/// itself is never free of it, even where it writes the register before it reads others.
pub(crate) fn freed(reg: VReg, definition: Inst, groups: &[Group], live: &LiveRanges) -> Vec<Range<u32>> {
    let mut kept: Vec<Range<u32>> = groups.iter().map(|group| group.kept(definition)).collect();
    kept.push(definition.0..definition.0 + 1);
    kept.sort_by_key(|kept| kept.start);
    let mut freed = Vec::new();
    for segment in live.segments(reg) {
        let mut rest = instructions(segment);
        let first = kept.partition_point(|kept| kept.end <= rest.start);
        for kept in kept[first..].iter().take_while(|kept| kept.start < rest.end) {
            freed.push(rest.start..kept.start.max(rest.start));
            rest.start = kept.end.min(rest.end);
        }
        freed.push(rest);
    }
    freed.retain(|stretch| !stretch.is_empty());
    freed
}
