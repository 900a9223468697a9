//! Moves that assemble tuples and take them apart.

use super::placement::Placement;
use super::problem::{LiveRange, Problem, write_point};
use crate::analysis::covering;
use crate::index::IndexVec;

/// Moves between the members of tuples and their lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LaneMoves {
    /// Moves of 32-bit words in the code.
    pub(super) count: u64,
    /// Words moved in one run of the function.
    pub(super) words: f64,
}

/// Counts the moves. A spilled member needs no move, because it is reloaded into its lane and stored from its lane. A
/// member that stays live is moved back only if a tuple of the instruction has taken its place. O(lanes · tuples of an
/// instruction).
pub(super) fn lane_moves(problem: &Problem, placements: &IndexVec<LiveRange, Placement>) -> LaneMoves {
    let register = |range: LiveRange| match placements[range] {
        Placement::Register(unit) => Some(unit),
        Placement::Spilled(_) => None,
    };
    let mut moves = LaneMoves::default();
    for lanes in problem.lanes().chunk_by(|a, b| a.inst == b.inst) {
        let mut rows: Vec<(u32, u32)> = Vec::new();
        for row in lanes.chunk_by(|a, b| a.tuple == b.tuple) {
            let tuple = row[0].tuple;
            rows.extend(register(tuple).map(|unit| (unit, unit + problem.class(tuple).width)));
        }
        for lane in lanes {
            let Some((tuple, member)) = register(lane.tuple).zip(register(lane.member)) else { continue };
            if tuple + lane.offset == member {
                continue;
            }
            let class = problem.class(lane.member);
            let is_overwritten = rows.iter().any(|&(first, end)| member < end && first < member + class.width);
            let lives_on = covering(problem.segments(lane.member), write_point(lane.inst)).is_some();
            let times = if !lane.writes && lives_on && is_overwritten { 2 } else { 1 };
            let words = u64::from(times * class.bytes.div_ceil(4));
            moves.count += words;
            moves.words += f64::from(lane.frequency) * words as f64;
        }
    }
    moves
}
