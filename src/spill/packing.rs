//! Packs values into slots anew: values need fewer slots if all of them are known from the start than if they arrive
//! one after the other.

use crate::analysis::{IntervalTree, LiveRanges, Point};
use crate::function::VReg;

/// A slot, and the values that are assigned to it.
struct PackedSlot {
    occupied: IntervalTree<VReg>,
    values: Vec<VReg>,
    /// The latest end of a value's live range.
    until: Option<Point>,
}

/// Assigns values of one size to slots, so that no two values of a slot are ever live together. The values are taken in
/// the order in which they become live. Of the slots that are free for a value, it gets the slot that was occupied
/// until the latest point. The number of slots is minimal if no live range has a hole, and small otherwise. O(values ·
/// slots · segments · log values).
pub(crate) fn pack_into_slots(values: &[VReg], live: &LiveRanges) -> Vec<Vec<VReg>> {
    let mut order = values.to_vec();
    order.sort_by_key(|&reg| (live.segments(reg).first().map(|segment| segment.start), reg));
    let mut slots: Vec<PackedSlot> = Vec::new();
    for reg in order {
        let segments = live.segments(reg);
        let free = slots.iter_mut().filter(|slot| !slot.occupied.is_overlapping(segments));
        // On a tie, the first slot is taken.
        let slot = match free.reduce(|best, slot| if slot.until > best.until { slot } else { best }) {
            Some(slot) => slot,
            None => {
                slots.push(PackedSlot { occupied: IntervalTree::new(), values: Vec::new(), until: None });
                let last = slots.len() - 1;
                &mut slots[last]
            }
        };
        slot.occupied.insert(segments, reg);
        slot.values.push(reg);
        slot.until = slot.until.max(segments.last().map(|segment| segment.end));
    }
    slots.into_iter().map(|slot| slot.values).collect()
}

#[cfg(test)]
mod tests {
    use arbitrary::Unstructured;

    use super::*;
    use crate::analysis::{Cfg, Dominators, Occurrences, overlap};
    use crate::function::Function;
    use crate::fuzzing::{Options, explore, lowered_function, reached};

    fn live_ranges(function: &Function) -> LiveRanges {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let occurrences = Occurrences::new(function, &|_| true);
        let all: Vec<VReg> = function.regs().collect();
        LiveRanges::new(function, &cfg, &dominators, &occurrences, &all)
    }

    /// Every value is in one slot, and no two values of a slot are live together. Values whose live ranges have no
    /// holes get as few slots as there are values live at once.
    #[test]
    fn slots_hold_one_value_at_a_time() {
        let check = |u: &mut Unstructured<'_>| {
            let function = lowered_function(u, &Options { max_insts: 40, ..Options::default() })?;
            let live = live_ranges(&function);
            let mut values: Vec<VReg> = Vec::new();
            for reg in function.regs().filter(|&reg| !live.segments(reg).is_empty()) {
                if u.ratio(3, 4)? {
                    values.push(reg);
                }
            }
            let slots = pack_into_slots(&values, &live);
            let mut occupied: Vec<VReg> = slots.concat();
            occupied.sort_unstable();
            assert_eq!(occupied, values, "each value is held once");
            for slot in &slots {
                for (number, &one) in slot.iter().enumerate() {
                    let meets = |&&other: &&VReg| overlap(live.segments(one), live.segments(other), |_, _| true);
                    assert_eq!(slot[number + 1..].iter().find(meets), None, "{one} is live then");
                }
                reached("a slot is shared", slot.len() > 1);
            }
            if values.iter().all(|&reg| live.segments(reg).len() == 1) {
                let segments = || values.iter().map(|&reg| live.segments(reg)[0]);
                let at_once = |point: Point| segments().filter(|of| of.start <= point && point < of.end).count();
                assert_eq!(Some(slots.len()), segments().map(|of| at_once(of.start)).max().or(Some(0)));
                reached("no value has a hole", true);
            }
            Ok(())
        };
        explore(check, 1_000, &[("a slot is shared", 10), ("no value has a hole", 3)]);
    }
}
