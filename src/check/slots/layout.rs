//! The check of slot positions, and of the widths of accesses.

use std::collections::BTreeMap;

use super::finding::{Finding, FindingKind, Place};
use crate::function::{BitPlace, Edit, EditList, Function, Position, RegClass, SharedArray, SharedPlace, Slot, VReg};

/// A slot that an edit creates.
struct CreatedSlot {
    slot: Slot,
    size: u64,
    align: u64,
    /// The position, for a slot in shared memory.
    place: Option<SharedPlace>,
    /// Whether the slot is a bit of a general register.
    is_bit: bool,
}

/// A slot in the shared array. The row of all threads' parts lies from `start` to `end`.
struct Part {
    start: u64,
    end: u64,
    /// The size in bytes of one thread's part of the row, and the bytes of that part that the slot occupies.
    row: u64,
    within: std::ops::Range<u64>,
    slot: Slot,
}

/// Checks slots and the widths of accesses. Reads only the edits, so that it also explains edits that cannot be
/// applied. O(edits · log slots).
pub(super) fn check(before: &Function, edits: &EditList) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut array: Option<SharedArray> = None;
    let mut parts = Vec::new();
    let mut made: Vec<CreatedSlot> = Vec::new();
    let mut bits = BTreeMap::new();
    for edit in edits.edits() {
        match *edit {
            Edit::CreateSharedArray(new) => array = Some(new),
            Edit::CreateSlot { slot, size, align } => {
                made.push(CreatedSlot { slot, size, align, place: None, is_bit: false })
            }
            Edit::CreateSharedSlot { slot, size, offset, row } => {
                let place = Some(SharedPlace { offset, row });
                made.push(CreatedSlot { slot, size: size.into(), align: size.into(), place, is_bit: false });
                parts.extend(part(slot, size.into(), (offset.into(), row.into()), array, &mut findings));
            }
            Edit::CreateBitSlot { slot, place } => {
                made.push(CreatedSlot { slot, size: 1, align: 1, place: None, is_bit: true });
                check_bit(slot, place, &mut bits, &mut findings);
            }
            _ => {}
        }
    }
    check_overlaps(parts, &mut findings);
    made.sort_by_key(|made| made.slot);
    for edit in edits.edits() {
        match edit {
            Edit::InsertSpill { at, reg, slot, .. } => {
                check_width(before, edits, (&made, "stores"), *at, &[(*reg, *slot)], &mut findings);
            }
            Edit::InsertReload { at, reg, slot, .. } => {
                check_width(before, edits, (&made, "loads"), *at, &[(*reg, *slot)], &mut findings);
            }
            Edit::InsertWideSpill { at, parts, .. } => {
                check_width(before, edits, (&made, "stores"), *at, parts, &mut findings);
            }
            Edit::InsertWideReload { at, parts, .. } => {
                check_width(before, edits, (&made, "loads"), *at, parts, &mut findings);
            }
            _ => {}
        }
    }
    findings
}

/// Checks that the number of a bit is below 32, and that no other slot has the same bit.
fn check_bit(slot: Slot, place: BitPlace, bits: &mut BTreeMap<BitPlace, Slot>, findings: &mut Vec<Finding>) {
    let BitPlace { word, bit } = place;
    if bit >= u32::BITS {
        let reason = format!("the slot is bit {bit} of word {word}, which has 32 bits");
        findings.push(about(FindingKind::Outside, slot, reason));
    }
    if let Some(other) = bits.insert(place, slot) {
        let reason = format!("the slot is bit {bit} of word {word}, and so is {other}");
        findings.push(about(FindingKind::Overlap, slot, reason));
    }
}

fn about(kind: FindingKind, slot: Slot, reason: String) -> Finding {
    Finding { kind, slot, reg: None, place: None, reason }
}

/// Returns the position of a slot in the array. `None` if there is no array.
fn part(
    slot: Slot,
    size: u64,
    (offset, row): (u64, u64),
    array: Option<SharedArray>,
    findings: &mut Vec<Finding>,
) -> Option<Part> {
    let within = offset.checked_rem(row).unwrap_or_default();
    if size == 0 || !offset.is_multiple_of(size) {
        let reason = format!("the slot has {size} bytes and begins at byte {offset} of the array");
        findings.push(about(FindingKind::Misaligned, slot, reason));
    } else if within + size > row {
        let reason = format!("the slot has {size} bytes and begins at byte {within} of a row of {row} bytes");
        findings.push(about(FindingKind::Outside, slot, reason));
    }
    let Some(array) = array else {
        findings.push(about(FindingKind::Outside, slot, "there is no array in shared memory".into()));
        return None;
    };
    let (start, end) = (offset - within, offset - within + row * u64::from(array.threads));
    if end > array.bytes.into() {
        let (threads, bytes) = (array.threads, array.bytes);
        let reason = format!("with {threads} threads, the slot ends at byte {end} of an array of {bytes} bytes");
        findings.push(about(FindingKind::Outside, slot, reason));
    }
    Some(Part { start, end, row, within: within..within + size, slot })
}

/// Checks that slots of one row do not overlap in the row, and that slots of different rows do not overlap in the
/// array.
fn check_overlaps(mut parts: Vec<Part>, findings: &mut Vec<Finding>) {
    parts.sort_by_key(|part| (part.start, part.row, part.within.start, part.slot));
    // Of the slots before the current slot, the slot with the last end.
    let mut farthest: Option<&Part> = None;
    for part in &parts {
        let is_of_row = |other: &Part| (part.start, part.row) == (other.start, other.row);
        if let Some(other) = farthest.filter(|other| is_of_row(other)) {
            if part.within.start < other.within.end {
                let (start, end) = (part.within.start, other.within.end);
                let reason =
                    format!("the slot begins at byte {start} of its row, but {} ends at byte {end}", other.slot);
                findings.push(about(FindingKind::Overlap, part.slot, reason));
            }
        } else if let Some(other) = farthest.filter(|other| part.start < other.end) {
            let (start, end) = (part.start, other.end);
            let reason = format!("the slot begins at byte {start} of the array, but {} ends at byte {end}", other.slot);
            findings.push(about(FindingKind::Overlap, part.slot, reason));
        }
        farthest = [farthest, Some(part)].into_iter().flatten().max_by_key(|part| (part.end, part.within.end));
    }
}

/// Checks an access to one or more slots by one instruction.
fn check_width(
    before: &Function,
    edits: &EditList,
    (made, verb): (&[CreatedSlot], &str),
    at: Position,
    parts: &[(VReg, Slot)],
    findings: &mut Vec<Finding>,
) {
    let mut find = |kind, reg, slot, reason| {
        findings.push(Finding { kind, slot, reg: Some(reg), place: Some(Place::new(before, at)), reason });
    };
    let of = |slot: Slot| made.binary_search_by_key(&slot, |made| made.slot).ok().map(|found| &made[found]);
    let mut all = 0;
    for &(reg, slot) in parts {
        let (Some(made), Some(class)) = (of(slot), edits.class(before, reg)) else { return };
        let Some(bytes) = class.spilled_bytes().map(u64::from) else { return };
        all += bytes;
        if made.is_bit {
            if class != RegClass::B1 {
                let reason =
                    format!("the access {verb} {bytes} bytes, the size of {}, but the slot is one bit", class.name());
                find(FindingKind::Width, reg, slot, reason);
            }
            continue;
        }
        if made.size != bytes {
            let (name, size) = (class.name(), made.size);
            let reason = format!("the access {verb} {bytes} bytes, the size of {name}, but the slot has {size} bytes");
            find(FindingKind::Width, reg, slot, reason);
        } else if made.align < bytes {
            let align = made.align;
            find(
                FindingKind::Misaligned,
                reg,
                slot,
                format!("the access {verb} {bytes} bytes, but the slot is aligned to {align}"),
            );
        }
    }
    let Some((&(reg, first), others)) = parts.split_first().filter(|(_, others)| !others.is_empty()) else { return };
    let mut last = first;
    for &(reg, slot) in others {
        if !of(last).zip(of(slot)).is_some_and(|(last, next)| is_beside(last, next)) {
            find(
                FindingKind::Misaligned,
                reg,
                slot,
                format!("the access {verb} {all} bytes at once, but the slot is not directly after {last}"),
            );
        }
        last = slot;
    }
    let is_aligned = of(first).is_some_and(|made| match made.place {
        Some(place) => u64::from(place.offset).is_multiple_of(all) && u64::from(place.row).is_multiple_of(all),
        None => made.align >= all,
    });
    if !is_aligned {
        find(
            FindingKind::Misaligned,
            reg,
            first,
            format!("the access {verb} {all} bytes at once, but the slot is not aligned to {all}"),
        );
    }
}

/// Whether `next` begins at the end of `one`.
fn is_beside(one: &CreatedSlot, next: &CreatedSlot) -> bool {
    match (one.place, next.place) {
        (Some(one_at), Some(next_at)) => {
            one_at.row == next_at.row && u64::from(one_at.offset) + one.size == u64::from(next_at.offset)
        }
        // Local slots are adjacent in the order of their creation.
        (None, None) => one.slot.0 + 1 == next.slot.0 && !one.is_bit && !next.is_bit,
        _ => false,
    }
}
