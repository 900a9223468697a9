//! Validity of loops and of the parts of split live ranges.

use super::{LiveRange, Problem, ProblemError};
use crate::analysis::Loop;

impl Problem {
    /// Checks that parts are consecutive and never live at once. Each link must lead from part to part, to the start of
    /// a segment.
    pub(super) fn validate_parts(&self) -> Result<(), ProblemError> {
        let mut first = LiveRange(0);
        for (range, data) in self.ranges.iter_enumerated() {
            let Some(named) = data.part_of else {
                first = range;
                continue;
            };
            let is_sound = named == first && first < range && data.class == self.ranges[first].class;
            if !is_sound || data.fixed.is_some() || self.ranges[first].fixed.is_some() {
                return Err(ProblemError::Part { range, first: named });
            }
        }
        self.validate_disjoint()?;
        for link in &self.links {
            let in_range = link.to.0.max(link.from.0) < self.ranges.len() as u32;
            let fits = in_range
                && self.family(link.to) == self.family(link.from)
                && self.segments(link.to).iter().any(|segment| segment.start == link.start);
            if !fits {
                return Err(ProblemError::Link { point: link.start, to: link.to, from: link.from });
            }
        }
        Ok(())
    }

    /// Checks that no two parts of a register are live at one point, because the parts share a slot.
    fn validate_disjoint(&self) -> Result<(), ProblemError> {
        let mut of_parts: Vec<_> = Vec::new();
        for range in self.ranges.ids() {
            let is_part = |at: LiveRange| self.ranges.get(at).is_some_and(|data| data.part_of.is_some());
            if is_part(range) || is_part(LiveRange(range.0 + 1)) {
                let segments = self.segments(range).iter();
                of_parts.extend(segments.map(|segment| (self.family(range), segment.start, segment.end, range)));
            }
        }
        of_parts.sort_unstable();
        for pair in of_parts.windows(2) {
            let ((family, _, end, first), (other, start, _, range)) = (pair[0], pair[1]);
            if family == other && start < end {
                return Err(ProblemError::Part { range, first });
            }
        }
        Ok(())
    }

    pub(super) fn validate_loops(&self) -> Result<(), ProblemError> {
        let refuse = |problem: String| Err(ProblemError::Loop { problem: problem.into() });
        for (of, data) in self.loops.iter_enumerated() {
            let is_loop = |parent: Loop| parent > of && (parent.0 as usize) < self.loops.len();
            if !data.parent.is_none_or(is_loop) {
                return refuse(format!("{of}: its parent loop must come after it"));
            }
            let is_sorted = data.spans.windows(2).all(|pair| pair[0].end <= pair[1].start);
            if !is_sorted || data.spans.iter().any(|span| span.start >= span.end) {
                return refuse(format!("{of}: its points are not sorted and disjoint"));
            }
        }
        for crossing in &self.crossings {
            for side in [crossing.from, crossing.to].into_iter().flatten() {
                if side.0 as usize >= self.loops.len() {
                    return refuse(format!("the crossing at point {}: there is no {side}", crossing.start.0));
                }
            }
        }
        Ok(())
    }
}
