//! Where slots lie, and whether accesses are as wide as their slot.

use super::finding::{Finding, FindingKind, Place};
use crate::function::{Edit, EditList, Function, SharedArray, Slot};

/// A slot that an edit makes.
struct Made {
    slot: Slot,
    size: u64,
    align: u64,
}

/// The rows of a shared array: from the part of thread 0 to behind the part of the last thread.
struct Row {
    start: u64,
    end: u64,
    slot: Slot,
}

/// Checks slots and the width of accesses. Reads the edits alone, so that it has words for what does not even apply.
/// O(edits · log slots).
pub(super) fn check(before: &Function, edits: &EditList) -> Vec<Finding> {
    let mut findings = Vec::new();
    let about = |kind, slot, reason| Finding { kind, slot, reg: None, place: None, reason };
    let mut array: Option<SharedArray> = None;
    let mut rows = Vec::new();
    let mut made: Vec<Made> = Vec::new();
    for edit in edits.edits() {
        match *edit {
            Edit::CreateSharedArray(new) => array = Some(new),
            Edit::CreateSlot { slot, size, align } => made.push(Made { slot, size, align }),
            Edit::CreateSharedSlot { slot, size, offset } => {
                let (size, offset) = (u64::from(size), u64::from(offset));
                made.push(Made { slot, size, align: size });
                if size == 0 || !offset.is_multiple_of(size) {
                    let reason = format!("it has {size} bytes and begins at byte {offset} of the array");
                    findings.push(about(FindingKind::Misaligned, slot, reason));
                }
                let Some(array) = array else {
                    let reason = "there is no array in shared memory".into();
                    findings.push(about(FindingKind::Outside, slot, reason));
                    continue;
                };
                let end = offset + size * u64::from(array.threads);
                if end > array.bytes.into() {
                    let (threads, bytes) = (array.threads, array.bytes);
                    let reason = format!("with {threads} threads it ends at byte {end} of an array of {bytes} bytes");
                    findings.push(about(FindingKind::Outside, slot, reason));
                }
                rows.push(Row { start: offset, end, slot });
            }
            _ => {}
        }
    }
    rows.sort_by_key(|row| (row.start, row.slot));
    // Ahead of each row, the one that reaches farthest.
    let mut farthest: Option<&Row> = None;
    for row in &rows {
        if let Some(other) = farthest.filter(|other| row.start < other.end) {
            let (start, end) = (row.start, other.end);
            let reason = format!("it begins at byte {start} of the array, and {} goes on to byte {end}", other.slot);
            findings.push(about(FindingKind::Overlap, row.slot, reason));
        }
        farthest = [farthest, Some(row)].into_iter().flatten().max_by_key(|row| row.end);
    }
    made.sort_by_key(|made| made.slot);
    check_widths(before, edits, &made, &mut findings);
    findings
}

fn check_widths(before: &Function, edits: &EditList, made: &[Made], findings: &mut Vec<Finding>) {
    for edit in edits.edits() {
        let (at, reg, slot, verb) = match *edit {
            Edit::InsertSpill { at, reg, slot, .. } => (at, reg, slot, "stores"),
            Edit::InsertReload { at, reg, slot, .. } => (at, reg, slot, "loads"),
            _ => continue,
        };
        let Ok(found) = made.binary_search_by_key(&slot, |made| made.slot) else { continue };
        let Some(class) = edits.class(before, reg) else { continue };
        let Some(bytes) = class.spilled_bytes().map(u64::from) else { continue };
        let Made { size, align, .. } = made[found];
        let mut find = |kind, reason| {
            findings.push(Finding { kind, slot, reg: Some(reg), place: Some(Place::new(before, at)), reason });
        };
        if size != bytes {
            let name = class.name();
            find(FindingKind::Width, format!("it {verb} {bytes} bytes, as {name} has, and the slot has {size}"));
        } else if align < bytes {
            find(FindingKind::Misaligned, format!("it {verb} {bytes} bytes, and the slot is aligned to {align}"));
        }
    }
}
