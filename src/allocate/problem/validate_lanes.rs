//! Validity of the lanes of tuples.

use super::{AccessKind, Lane, Problem, ProblemError, lane_point, tuple_point};
use crate::analysis::{Point, covering};

impl Problem {
    /// Checks the lanes of all tuples. The instruction must access each member. A tuple must begin at the point at
    /// which it is assembled, or end at the point at which it is taken apart. Lanes must lie within their tuple without
    /// overlap. O(lanes · log accesses).
    pub(super) fn validate_lanes(&self) -> Result<(), ProblemError> {
        for lane in &self.lanes {
            if !self.is_lane(lane) {
                return Err(ProblemError::Lane { inst: lane.inst.0, tuple: lane.tuple, member: lane.member });
            }
        }
        for pair in self.lanes.windows(2) {
            let [before, lane] = [&pair[0], &pair[1]];
            let same_row = (before.inst, before.tuple) == (lane.inst, lane.tuple);
            let overlaps = lane.offset < before.offset + self.class(before.member).width;
            if same_row && overlaps && (lane.offset != before.offset || lane.writes == before.writes) {
                return Err(ProblemError::Lane { inst: lane.inst.0, tuple: lane.tuple, member: lane.member });
            }
        }
        Ok(())
    }

    fn is_lane(&self, lane: &Lane) -> bool {
        let &Lane { inst, tuple, offset, member, writes, .. } = lane;
        if tuple.0.max(member.0) >= self.ranges.len() as u32 || self.file(tuple) != self.file(member) {
            return false;
        }
        let data = &self.ranges[tuple];
        let is_tuple = data.spill_cost.is_infinite() && data.fixed.is_none() && self.accesses(tuple).is_empty();
        let is_inside = offset + self.class(member).width <= self.class(tuple).width;
        let mut accesses = self.accesses_at(member, inst).iter();
        let segment = |point: Point| covering(self.segments(tuple), point);
        is_tuple
            && is_inside
            && match writes {
                true => {
                    let last = Point(lane_point(inst).0 - 1);
                    accesses.any(|access| access.kind == AccessKind::LateWrite)
                        && segment(last).is_some_and(|segment| segment.end == lane_point(inst))
                }
                false => {
                    accesses.any(|access| access.reads())
                        && segment(tuple_point(inst)).is_some_and(|segment| segment.start == tuple_point(inst))
                }
            }
    }
}
