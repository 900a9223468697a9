//! The least register limit that the engine meets.
//!
//! A higher register limit may fail although a lower one is met. With odd widths and alignments, one more register may
//! let a live range block the next one. For this reason, bisection does not find the least limit. The search starts at
//! a lower bound, which is the least limit of most problems: the units that instructions need at once, whatever is
//! spilled. From this bound on, the register limits are tried one by one.

use crate::allocate::problem::{LiveRange, Problem};
use crate::analysis::Point;

/// Returns the first number, from `floor` on, that `is_met` accepts.
pub(super) fn least_limit(floor: u32, is_met: impl FnMut(&u32) -> bool) -> u32 {
    (floor..).find(is_met).unwrap_or(u32::MAX)
}

/// Returns the units that are live at once in a problem of one file, whatever is spilled. The engine gives each unit to
/// only one live range at a moment, so it meets no lower register limit. Live ranges with places from the start do not
/// count, because they may lie beyond the register limit. O(segments + accesses · log).
pub(super) fn floor(problem: &Problem) -> u32 {
    // At one point, ends come before starts.
    let mut changes: Vec<(Point, i64)> = Vec::new();
    for (range, data) in problem.ranges().iter_enumerated().filter(|(_, data)| data.fixed.is_none()) {
        let width = i64::from(problem.class(range).width);
        let mut add = |start: Point, end: Point| changes.extend([(start, width), (end, -width)]);
        if data.spill_cost.is_infinite() {
            problem.segments(range).iter().for_each(|segment| add(segment.start, segment.end));
        } else {
            pieces(problem, range).into_iter().for_each(|(start, end)| add(start, end));
        }
    }
    changes.sort_unstable();
    let mut live = 0;
    let most = changes.iter().map(|(_, change)| {
        live += change;
        live
    });
    most.max().map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
}

/// Returns the times at which a live range has a register even if it is spilled: its accesses, with each moment only
/// once.
fn pieces(problem: &Problem, range: LiveRange) -> Vec<(Point, Point)> {
    let segments = problem.segments(range);
    let mut pieces = Vec::new();
    for access in problem.accesses(range) {
        let piece = access.segment();
        let first = segments.partition_point(|segment| segment.end <= piece.start);
        let here = segments[first..].iter().take_while(|segment| segment.start < piece.end);
        pieces.extend(here.map(|segment| (segment.start.max(piece.start), segment.end.min(piece.end))));
    }
    pieces.sort_unstable();
    let mut until = Point(0);
    pieces.retain_mut(|(start, end)| {
        *start = (*start).max(until);
        until = until.max(*end);
        start < end
    });
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::{Fatpoint, OneFile, allocate_file};
    use super::*;
    use crate::allocate::allocation::AllocationStatistics;
    use crate::allocate::problem::File;
    use crate::fuzzing::{Sizes, explore, problem as generated, reached};

    fn problem(body: &str) -> Problem {
        let text = format!("allocation 1\nproblem k\nfile R\nclass A R\nclass B R width 2 align 2\n{body}end\n");
        let problem = Problem::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        problem.validate().unwrap_or_else(|error| panic!("{error}\n{text}"));
        problem
    }

    /// A live range that can be spilled counts at its accesses, with each moment only once. Other live ranges count
    /// completely, except fixed ones, which do not count.
    #[test]
    fn floor_of_what_is_needed() {
        assert_eq!(floor(&problem("")), 0);
        let reads = "range A cost 1 live 2..13 write 0*1 read 3*1\nrange B cost 1 live 6..13 write 1*1 read 3*1\n";
        assert_eq!(floor(&problem(reads)), 3);
        assert_eq!(floor(&problem(&format!("{reads}range A live 2..9 write 0*1 read 2*1\n"))), 3);
        assert_eq!(floor(&problem(&format!("{reads}range A live 2..17 write 0*1 read 4*1\n"))), 4);
        assert_eq!(floor(&problem(&format!("{reads}range A fixed 7 live 2..17 write 0*1 read 4*1\n"))), 3);
        let twice = "range A cost 1 live 2..9 10..17 write 0*1 read 2*1 early 2*1 read 4*1\n";
        assert_eq!(floor(&problem(twice)), 1);
    }

    /// The least register limit is the first that is met, even if a higher one is not met. Limits below the floor are
    /// not tried.
    #[test]
    fn first_that_is_met() {
        let mut tried = Vec::new();
        let is_met = |&register_limit: &u32| {
            tried.push(register_limit);
            [27, 29, 30].contains(&register_limit)
        };
        assert_eq!(least_limit(25, is_met), 27);
        assert_eq!(tried, [25, 26, 27]);
    }

    /// The engine meets no register limit below the floor, for any widths and alignments.
    #[test]
    fn none_below_the_floor() {
        let check = |u: &mut arbitrary::Unstructured<'_>| {
            let given = generated(u, &Sizes::default())?;
            if given.validate().is_err() {
                return Ok(());
            }
            let floor = floor(&OneFile::new(&given, File(0), None).problem);
            for register_limit in floor.saturating_sub(3).max(1)..floor {
                let own = OneFile::new(&given, File(0), Some(register_limit)).problem;
                if own.validate().is_ok() {
                    reached("a limit below the floor", true);
                    let found =
                        allocate_file(&own, File(0), &Fatpoint::default().knobs, &mut AllocationStatistics::default());
                    assert!(found.costs(&own).over_limit > 0, "{register_limit} of {floor}\n{own}");
                }
            }
            Ok(())
        };
        explore(check, 1_000, &[("a limit below the floor", 5)]);
    }
}
