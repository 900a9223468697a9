//! Returns parts of spilled values to registers. An allocator also spills a value because aligned groups of registers
//! are not free. ptxas allocates registers anew, so only the number of words counts here.

use super::PressureLimit;
use super::draft::Draft;
use super::from_allocation::{Parts, draft};
use crate::analysis::pressure::{Pressure, instructions};
use crate::spill::spiller::{Candidate, Facts};

/// A value that an allocator spills.
pub(in crate::spill) struct SpilledParts<'f> {
    pub(in crate::spill) value: &'f Candidate,
    pub(in crate::spill) parts: Parts,
    pub(in crate::spill) draft: Draft<'f>,
}

/// Returns parts to registers if there is room, first the parts of the values that move the most words. Removes values
/// without a remaining spilled part. Returns the number of parts that returned. `full` is the pressure before the plan.
/// O(parts · (accesses + blocks) · log).
pub(in crate::spill) fn unspill<'f>(
    facts: &'f Facts<'_>,
    spilled: &mut Vec<SpilledParts<'f>>,
    full: &Pressure,
    pressure_limit: &mut PressureLimit<'_>,
) -> usize {
    let mut order: Vec<usize> = (0..spilled.len()).collect();
    let moved: Vec<f64> = spilled.iter().map(|of| of.draft.traffic(facts)).collect();
    order.sort_by(|&one, &other| moved[other].total_cmp(&moved[one]).then(one.cmp(&other)));
    let mut back = 0;
    for number in order {
        let SpilledParts { value, parts, draft: now } = &mut spilled[number];
        let words = facts.function.class(value.reg).words();
        let mut residence = now.residence(facts);
        // All parts are tried at once, and then each part.
        let live = facts.live.segments(value.reg).iter().map(instructions).collect::<Vec<_>>();
        if pressure_limit.exchange(&residence, &live, words) {
            back += parts.len();
            parts.clear();
            continue;
        }
        for part in (0..parts.len()).rev().filter(|_| parts.len() > 1).collect::<Vec<_>>() {
            let mut fewer = parts.clone();
            fewer.remove(part);
            if fewer.is_empty() {
                break;
            }
            let next = draft(facts, value, &fewer, (full, pressure_limit.words));
            let after = next.residence(facts);
            if next.traffic(facts) <= now.traffic(facts) && pressure_limit.exchange(&residence, &after, words) {
                (*parts, *now, residence) = (fewer, next, after);
                back += 1;
            }
        }
    }
    spilled.retain(|of| !of.parts.is_empty());
    back
}
