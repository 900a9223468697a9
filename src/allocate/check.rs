//! Proves an allocation from the problem alone. The checker knows nothing of how an allocator works.
//!
//! A write must not destroy a value that is still needed. So the checker visits every point at which a live range, or a
//! piece of a spilled live range, is written. No unit of the written place may belong to another live range that is
//! live there. The exception is a copy of that live range: after the copy, the unit holds the value of both. By
//! induction over the writes, every read finds its value.
//!
//! A part of a split register is also written at the points to which a link leads. All links of an edge read before any
//! of them writes, and the parts that they read were live together in disjoint places. In memory, the parts share one
//! slot. No other live range may have the slot while any part is live, because a stored value may be reloaded later
//! without another store.

use super::allocation::{Allocation, Costs};
use super::links::families;
use super::placement::{Placement, SpillSlot};
use super::problem::{CopyInst, LiveRange, Problem, is_place};
use crate::analysis::{Point, Segment};
use crate::function::Inst;

/// Errors of an allocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// The allocation belongs to another problem.
    #[error("the allocation belongs to another problem")]
    Size,
    /// A place that the class or the register limit does not allow.
    #[error("{range}: may not be at unit {unit}")]
    Place {
        /// The live range.
        range: LiveRange,
        /// The first unit.
        unit: u32,
    },
    /// A fixed live range is at another place, or a live range that must have a register has none.
    #[error("{range}: is not at its fixed place, or lacks a register that it must have")]
    Moved {
        /// The live range.
        range: LiveRange,
    },
    /// A spilled live range has no register at an instruction that needs one.
    #[error("{range}: is spilled, but has no register at instruction {}", .inst.0)]
    Missing {
        /// The live range.
        range: LiveRange,
        /// The instruction.
        inst: Inst,
    },
    /// A write destroys a value that another live range still needs.
    #[error("{victim}: overwritten by {by} at point {}", .point.0)]
    Overwritten {
        /// The live range that is written.
        by: LiveRange,
        /// The live range whose value is lost.
        victim: LiveRange,
        /// The point of the write.
        point: Point,
    },
    /// Two parts of one register are spilled to different slots.
    #[error("{range} and {other}: are parts of one register, but in different slots")]
    Parts {
        /// The first live range.
        range: LiveRange,
        /// The second live range.
        other: LiveRange,
    },
    /// Two spilled live ranges share a slot while both are live.
    #[error("{range} and {other}: are in one slot at the same time")]
    Slot {
        /// The first live range.
        range: LiveRange,
        /// The second live range.
        other: LiveRange,
    },
}

/// A live range, or a piece of one, that holds units over an interval.
#[derive(Clone, Copy)]
struct Occupant {
    start: Point,
    is_written: bool,
    end: Point,
    range: LiveRange,
    unit: u32,
    is_piece: bool,
}

/// Proves that an allocation keeps every value until its last read, and returns the costs.
///
/// Places beyond the register limit are allowed for live ranges that cannot be spilled and for pieces of spilled ones.
/// [`Costs::over_limit`] counts them. O(segments · (log segments + live at once)).
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
        // A reloaded value is written at the point of its read.
        occupants.push(Occupant { start, is_written: true, end, range, unit, is_piece: true });
    }
    Ok(())
}

/// Visits the occupants in the order of their starts. Each is compared with the occupants that are live at its start.
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
    // The occupant can be the source of the copy only if it was live before this point: one that is written at the
    // point itself is not.
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
    // Within a slot, it is enough to compare each occupant with the earlier occupant that ends last.
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

/// Returns the first spilled one of these parts, and its slot.
fn spilled_part(allocation: &Allocation, mut parts: std::ops::Range<u32>) -> Option<(LiveRange, SpillSlot)> {
    parts.find_map(|part| match allocation.placements[LiveRange(part)] {
        Placement::Spilled(slot) => Some((LiveRange(part), slot)),
        Placement::Register(_) => None,
    })
}

type SlotEnd = (SpillSlot, Point);
