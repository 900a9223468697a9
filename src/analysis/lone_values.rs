//! The segments of registers that have one value, as most have: found without asking which value is where.

use super::liveness::{BlockLiveness, take_run};
use super::segment::append;
use super::{Occurrence, Point, Segment, ValueNumber};
use crate::function::Function;

/// The segment of a register that is written once and only read behind that, in the same block, as most are.
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

/// Appends the segments of a register that is written once, by what dominates all of its reads; `liveness` has the blocks
/// that it is live into in layout order, of which there are some. O(occurrences + these blocks).
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

/// The first point of a definition, and the point after the last if nobody reads it. What is written early occupies
/// both points of its instruction: nothing else that the instruction writes may share the register.
#[inline]
pub(super) fn definition_points(function: &Function, occurrence: &Occurrence) -> (Point, Point) {
    if occurrence.is_phi {
        let start = Point::block_start(function, occurrence.block);
        return (start, start.next());
    }
    let late = Point::late(occurrence.inst);
    (if occurrence.is_early_clobber() { Point::early(occurrence.inst) } else { late }, late.next())
}
