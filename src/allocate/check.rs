//! Proves an allocation from the problem alone: it knows nothing of how an allocator works.
//!
//! A write must not destroy what somebody else still wants. So at every point where a live range, or a piece of a
//! spilled one, is written, no unit of its place may belong to another one that is live there, unless it is written by
//! a copy of that one: then the unit holds what both want. By induction over the writes, every read finds its value.
//!
//! A part of a split register is written where a link leads to it, too. The links of an edge read all they read before
//! they write, and what they read was live together, in places of its own. In memory the parts have one slot, which
//! nobody else may have while any part is live: what was stored may be reloaded later without being stored again.

use super::allocation::{Allocation, Costs};
use super::links::families;
use super::placement::{Placement, SpillSlot};
use super::problem::{CopyInst, LiveRange, Problem, is_place};
use crate::analysis::{Point, Segment};
use crate::function::Inst;

/// What is wrong with an allocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// It is of another problem.
    #[error("the allocation is of another problem")]
    Size,
    /// A place that the class does not allow, or that the register limit does not have.
    #[error("{range}: unit {unit} is no place for it")]
    Place {
        /// The live range.
        range: LiveRange,
        /// The first unit.
        unit: u32,
    },
    /// A live range that may not move has moved, or one that must have a register has none.
    #[error("{range}: is fixed, or must have a register, and does not")]
    Moved {
        /// The live range.
        range: LiveRange,
    },
    /// A spilled live range has no register where an instruction needs one.
    #[error("{range}: spilled, without a register at instruction {}", .inst.0)]
    Missing {
        /// The live range.
        range: LiveRange,
        /// The instruction.
        inst: Inst,
    },
    /// A write destroys what another live range still needs.
    #[error("{victim}: overwritten by {by} at point {}", .point.0)]
    Overwritten {
        /// Who writes.
        by: LiveRange,
        /// Whose value is lost.
        victim: LiveRange,
        /// Where.
        point: Point,
    },
    /// Two parts of one register are spilled to different slots.
    #[error("{range} and {other}: parts of one register, and in different slots")]
    Parts {
        /// The one.
        range: LiveRange,
        /// The other.
        other: LiveRange,
    },
    /// Two spilled live ranges share a slot while both are live.
    #[error("{range} and {other}: in one slot at the same time")]
    Slot {
        /// The one.
        range: LiveRange,
        /// The other.
        other: LiveRange,
    },
}

/// Somebody who holds units for a while.
#[derive(Clone, Copy)]
struct Occupant {
    start: Point,
    is_written: bool,
    end: Point,
    range: LiveRange,
    unit: u32,
    is_piece: bool,
}

/// Proves that an allocation keeps every value until its last read, and says what it costs.
///
/// Places beyond the register limit are allowed for what cannot be spilled and for pieces of what is; [`Costs::over_limit`]
/// counts them. O(segments · (log segments + live at once)).
pub fn check_allocation(problem: &Problem, allocation: &Allocation) -> Result<Costs, AllocationError> {
    if allocation.placements.len() != problem.ranges().len() || allocation.pieces.len() != problem.num_accesses() {
        return Err(AllocationError::Size);
    }
    let mut occupants = Vec::new();
    for (range, &placement) in allocation.placements.iter_enumerated() {
        match placement {
            Placement::Register(unit) => add_register(problem, range, unit, &mut occupants)?,
            Placement::Spilled(_) => add_pieces(problem, allocation, range, &mut occupants)?,
        }
    }
    occupants.sort_by_key(|occupant| (occupant.start, occupant.is_written));
    sweep(problem, &occupants)?;
    check_slots(problem, allocation)?;
    Ok(allocation.costs(problem))
}

fn add_register(
    problem: &Problem,
    range: LiveRange,
    unit: u32,
    occupants: &mut Vec<Occupant>,
) -> Result<(), AllocationError> {
    let data = &problem.ranges()[range];
    if problem.segments(range).is_empty() {
        return Ok(());
    }
    let register_limit = problem.files()[problem.file(range)].register_limit.filter(|_| data.spill_cost.is_finite());
    match data.fixed {
        Some(fixed) if fixed != unit => return Err(AllocationError::Moved { range }),
        None if !is_place(problem.class(range), unit, register_limit.unwrap_or(u32::MAX)) => {
            return Err(AllocationError::Place { range, unit });
        }
        _ => {}
    }
    occupants.extend(problem.segments(range).iter().map(|segment| Occupant {
        start: segment.start,
        is_written: problem.is_written_at(range, segment.start),
        end: segment.end,
        range,
        unit,
        is_piece: false,
    }));
    Ok(())
}

fn add_pieces(
    problem: &Problem,
    allocation: &Allocation,
    range: LiveRange,
    occupants: &mut Vec<Occupant>,
) -> Result<(), AllocationError> {
    let data = &problem.ranges()[range];
    if data.fixed.is_some() || data.spill_cost.is_infinite() {
        return Err(AllocationError::Moved { range });
    }
    for (number, access) in (problem.first_access(range)..).zip(problem.accesses(range)) {
        let unit = allocation.pieces[number].ok_or(AllocationError::Missing { range, inst: access.inst })?;
        if !is_place(problem.class(range), unit, u32::MAX) {
            return Err(AllocationError::Place { range, unit });
        }
        let Segment { start, end, .. } = access.segment();
        // What is reloaded is written where it is read.
        occupants.push(Occupant { start, is_written: true, end, range, unit, is_piece: true });
    }
    Ok(())
}

/// Goes through the occupants in the order in which they come, with those that are there.
fn sweep(problem: &Problem, occupants: &[Occupant]) -> Result<(), AllocationError> {
    let mut live: Vec<Occupant> = Vec::new();
    for comer in occupants {
        live.retain(|occupant| occupant.end > comer.start);
        if comer.is_written {
            let victim = live.iter().find(|occupant| is_overwritten(problem, occupant, comer));
            if let Some(victim) = victim {
                let (by, victim, point) = (comer.range, victim.range, comer.start);
                return Err(AllocationError::Overwritten { by, victim, point });
            }
        }
        live.push(*comer);
    }
    Ok(())
}

fn is_overwritten(problem: &Problem, live: &Occupant, comer: &Occupant) -> bool {
    let (class, comers) = (problem.class(live.range), problem.class(comer.range));
    let shares =
        class.file == comers.file && live.unit < comer.unit + comers.width && comer.unit < live.unit + class.width;
    if !shares || (live.range == comer.range && !live.is_piece) {
        return false;
    }
    // What is written at the same point is not what was copied.
    let is_alike = live.unit == comer.unit && class.width == comers.width && live.start < comer.start && !live.is_piece;
    let is_source = |copy: &CopyInst| copy.to == comer.range && copy.from == live.range;
    !(is_alike && problem.copies_at(comer.start).iter().any(is_source))
}

fn check_slots(problem: &Problem, allocation: &Allocation) -> Result<(), AllocationError> {
    let mut by_slot: Vec<_> = Vec::new();
    for parts in families(problem) {
        let Some((first, slot)) = spilled_part(allocation, parts.clone()) else { continue };
        for part in parts.clone().map(LiveRange) {
            if matches!(allocation.placements[part], Placement::Spilled(other) if other != slot) {
                return Err(AllocationError::Parts { range: first, other: part });
            }
            let segments = problem.segments(part).iter();
            by_slot.extend(segments.map(|segment| (slot, segment.start, segment.end, first)));
        }
    }
    by_slot.sort_unstable();
    // Within a slot the one that ends last of those before tells.
    let mut last: Option<(SlotEnd, LiveRange)> = None;
    for (slot, start, end, range) in by_slot {
        if let Some(((before, until), other)) = last
            && before == slot
        {
            if until > start && other != range {
                return Err(AllocationError::Slot { range: other, other: range });
            }
            if until >= end {
                continue;
            }
        }
        last = Some(((slot, end), range));
    }
    Ok(())
}

/// The first part that is spilled, and where.
fn spilled_part(allocation: &Allocation, mut parts: std::ops::Range<u32>) -> Option<(LiveRange, SpillSlot)> {
    parts.find_map(|part| match allocation.placements[LiveRange(part)] {
        Placement::Spilled(slot) => Some((LiveRange(part), slot)),
        Placement::Register(_) => None,
    })
}

type SlotEnd = (SpillSlot, Point);
