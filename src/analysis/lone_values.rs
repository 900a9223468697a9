//! The segments of registers with a single value. Most registers have a single value. Their segments need no search for
//! the value at each point.

use super::liveness::{BlockLiveness, take_run};
use super::segment::append;
use super::{Occurrence, Point, Segment, ValueNumber};
use crate::function::Function;

/// Returns the segment of a register that is written once and read only later in the same block. This is the most
/// frequent case. `None` for all other registers.
#[inline]
pub(super) fn local_segment(function: &Function, occurrences: &[Occurrence], value: ValueNumber) -> Option<Segment> {
    let (first, reads) = occurrences.split_first()?;
    let is_local =
        |read: &Occurrence| !read.is_def() && !read.is_phi && read.block == first.block && read.inst > first.inst;
    if !first.is_def() || !reads.iter().all(is_local) {
        return None;
    }
    let (start, end) = definition_points(function, first);
    let last = reads.iter().rfind(|read| read.is_use());
    Some(Segment { start, end: last.map_or(end, |read| end.max(Point::late(read.inst))), value })
}

/// Appends the segments of a register that is written once, by an instruction that dominates all of its reads.
/// `liveness` holds the blocks into which the register is live, at least one, in layout order. O(occurrences + these
/// blocks).
pub(super) fn lone_segments(
    function: &Function,
    occurrences: &[Occurrence],
    liveness: &BlockLiveness,
    value: ValueNumber,
    segments: &mut Vec<Segment>,
) {
    let first_segment = segments.len();
    let Some(definition) = occurrences.iter().find(|occurrence| occurrence.is_def()) else { return };
    let mut occurrences = occurrences;
    let mut live_in = liveness.live_in();
    let mut is_defined = false;
    loop {
        let (block, start, mut end) = match live_in.split_first() {
            Some((&block, rest)) if is_defined || block < definition.block => {
                live_in = rest;
                let start = Point::block_start(function, block);
                (block, start, start)
            }
            _ if !is_defined => {
                is_defined = true;
                let (start, end) = definition_points(function, definition);
                (definition.block, start, end)
            }
            _ => return,
        };
        let behind = occurrences.iter().position(|occurrence| occurrence.block > block).unwrap_or(occurrences.len());
        let (within, rest) = occurrences.split_at(behind);
        occurrences = rest;
        if liveness.is_live_out(block) {
            end = Point::block_end(function, take_run(block, &mut live_in, occurrences, |_| true));
        } else if let Some(read) = within.iter().rfind(|occurrence| occurrence.is_use() && !occurrence.is_phi) {
            end = end.max(Point::late(read.inst));
        }
        append(segments, first_segment, Segment { start, end, value });
    }
}

/// Returns the first point of a definition, and its end if the value is never read. An early-clobber definition
/// occupies both points of its instruction, because no other result of the instruction may share its register.
#[inline]
pub(super) fn definition_points(function: &Function, occurrence: &Occurrence) -> (Point, Point) {
    if occurrence.is_phi {
        let start = Point::block_start(function, occurrence.block);
        return (start, start.next());
    }
    let late = Point::late(occurrence.inst);
    (if occurrence.is_early_clobber() { Point::early(occurrence.inst) } else { late }, late.next())
}
