//! For each live range, the most live ranges of its file that are live at once during its life.

use super::{File, LiveRange, Problem};
use crate::analysis::{Point, Segment};
use crate::index::IndexVec;

/// Number of live ranges of one file over time.
struct LiveCounts {
    /// Points at which the number changes.
    points: Vec<Point>,
    /// By level `k` and position: the greatest number in the `2^k` stretches that begin at this position. A stretch is
    /// the time between two points at which the number changes.
    most: Vec<Vec<u32>>,
}

/// Computes for each live range the most live ranges of its file, itself included, that are live at once during its
/// life. O(segments · log segments).
pub(super) fn live_counts(problem: &Problem) -> IndexVec<LiveRange, u32> {
    let live_counts: Vec<LiveCounts> = problem.files().ids().map(|file| LiveCounts::new(problem, file)).collect();
    let most = |range: LiveRange| {
        let counts = &live_counts[problem.file(range).0 as usize];
        problem.segments(range).iter().map(|segment| counts.most(segment)).max().unwrap_or(0)
    };
    problem.ranges().ids().map(most).collect()
}

impl LiveCounts {
    fn new(problem: &Problem, file: File) -> Self {
        let of_file = problem.ranges().ids().filter(|&range| problem.file(range) == file);
        let segments = of_file.flat_map(|range| problem.segments(range));
        let mut changes: Vec<(Point, i32)> = segments.flat_map(|of| [(of.start, 1), (of.end, -1)]).collect();
        changes.sort_unstable();
        let (mut points, mut live, mut now) = (Vec::new(), Vec::new(), 0);
        for at in changes.chunk_by(|a, b| a.0 == b.0) {
            now += at.iter().map(|change| change.1).sum::<i32>();
            points.push(at[0].0);
            live.push(now as u32);
        }
        let mut most = vec![live];
        let mut width = 1;
        while 2 * width <= points.len() {
            let last = &most[most.len() - 1];
            let next = (0..=points.len() - 2 * width).map(|at| last[at].max(last[at + width])).collect();
            most.push(next);
            width *= 2;
        }
        Self { points, most }
    }

    fn most(&self, segment: &Segment) -> u32 {
        let start = self.points.partition_point(|&point| point < segment.start);
        let end = self.points.partition_point(|&point| point < segment.end);
        let Some(level) = (end - start).checked_ilog2() else { return 0 };
        let row = &self.most[level as usize];
        row[start].max(row[end - (1 << level)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::{Sizes, explore, problem as generated, reached};

    /// The result equals a count at every point.
    #[test]
    fn like_a_count() {
        let check = |u: &mut arbitrary::Unstructured<'_>| {
            let problem = generated(u, &Sizes::default())?;
            let found = live_counts(&problem);
            for range in problem.ranges().ids() {
                let is_live = |other: LiveRange, point: u32| {
                    let mut segments = problem.segments(other).iter();
                    segments.any(|segment| (segment.start.0..segment.end.0).contains(&point))
                };
                let count = |point: u32| {
                    let of_file = |&other: &LiveRange| problem.file(other) == problem.file(range);
                    problem.ranges().ids().filter(of_file).filter(|&other| is_live(other, point)).count()
                };
                let points = problem.segments(range).iter().flat_map(|segment| segment.start.0..segment.end.0);
                let most = points.map(count).max().unwrap_or(0);
                reached("crowded", most > 2);
                assert_eq!(found[range] as usize, most, "{range}\n{problem}");
            }
            Ok(())
        };
        explore(check, 300, &[("crowded", 10)]);
    }
}
