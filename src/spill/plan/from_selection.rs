//! The plan of the cost model's selection: each value with its groups of reads.

use super::draft::Draft;
use super::lazy::place_lazily;
use super::{PressureLimit, Register, SpilledValue, is_tied, sources};
use crate::spill::insertion_point::InsertionPoint;
use crate::spill::spiller::selection::SelectedValue;
use crate::spill::spiller::{Facts, SpillGoal};

/// Plans the stores and loads of a selected value, and updates the pressure. `None` if the value has no loads. With
/// `goal.hoists`, loads are placed lazily, unless they follow ptxas's own loads.
pub(in crate::spill) fn planned(
    facts: &Facts<'_>,
    selected: SelectedValue,
    goal: &SpillGoal,
    pressure_limit: &mut PressureLimit<'_>,
) -> Option<SpilledValue> {
    let SelectedValue { number, sink, groups, location } = selected;
    let mut draft = Draft::new(facts, &facts.values[number]);
    if let Some(sink) = sink {
        draft.stores = vec![InsertionPoint::end(facts.function, sink)];
    }
    let reloads = groups.iter().filter(|group| !group.has_definition);
    draft.reloads = reloads.clone().map(|group| InsertionPoint { block: group.block, before: group.place.0 }).collect();
    let all = draft.reloads.len();
    draft.tidy(facts);
    if draft.reloads.len() < all || draft.reloads.is_empty() || draft.stores.is_empty() {
        return None;
    }
    let has_given_loads = goal
        .ptxas_spills
        .as_ref()
        .and_then(|ptxas_spills| ptxas_spills[draft.value.reg].as_ref())
        .is_some_and(|spill| !spill.loads.is_empty());
    let is_lazy = goal.hoists && !has_given_loads && location.slot.is_some();
    if is_lazy {
        place_lazily(facts, &mut draft, pressure_limit);
        draft.tidy(facts);
        return (!draft.reloads.is_empty()).then(|| draft.finish(facts, location, Vec::new()));
    }
    let (mut into, mut reads) = (Vec::new(), Vec::new());
    for (number, group) in (0..).zip(reloads) {
        let is_own = group.reads.iter().any(|read| is_tied(facts.function, read));
        into.push(if is_own { Register::Own } else { Register::New(number) });
        if !is_own {
            reads.extend(group.reads.iter().map(|&read| (read, number)));
        }
    }
    let definition = &draft.value.definitions[0];
    let stored = sink.map_or(definition.inst.0 + 1, |sink| InsertionPoint::end(facts.function, sink).before);
    let live = groups.iter().find(|group| group.has_definition).map_or(&[][..], |group| &group.live);
    let until = live.iter().find(|live| live.start == stored).map_or(stored, |live| live.end);
    let (reloads, reads) = match location.slot {
        Some(_) => (sources::reloads(&draft.reloads, into), reads),
        None => (Vec::new(), Vec::new()),
    };
    Some(SpilledValue {
        reg: draft.value.reg,
        definition: definition.inst,
        location,
        is_stored_once: sink.is_some() || draft.value.is_single,
        stores: draft.stores,
        reloads,
        reads,
        groups,
        until,
    })
}
