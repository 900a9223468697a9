//! The plan that a choice of the price list is: each value with its groups of reads.

use super::draft::Draft;
use super::lazy::place_lazily;
use super::{Register, Room, Value, is_tied, sources};
use crate::spill::at::At;
use crate::spill::spiller::choice::Chosen;
use crate::spill::spiller::{Aim, Facts};

/// A value with its stores and loads; `None` where none comes back. Its loads are placed lazily with `aim.hoists`, unless they are
/// those of ptxas. The words that are live change with them.
pub(in crate::spill) fn planned(facts: &Facts<'_>, chosen: Chosen, aim: &Aim, room: &mut Room<'_>) -> Option<Value> {
    let Chosen { number, sink, groups, home } = chosen;
    let mut draft = Draft::new(facts, &facts.values[number]);
    if let Some(sink) = sink {
        draft.stores = vec![At::end(facts.function, sink)];
    }
    let reloads = groups.iter().filter(|group| !group.has_definition);
    draft.reloads = reloads.clone().map(|group| At { block: group.block, before: group.place.0 }).collect();
    let all = draft.reloads.len();
    draft.tidy(facts);
    if draft.reloads.len() < all || draft.reloads.is_empty() || draft.stores.is_empty() {
        return None;
    }
    let is_told =
        aim.paid.as_ref().and_then(|paid| paid[draft.value.reg].as_ref()).is_some_and(|paid| !paid.loads.is_empty());
    let is_lazy = aim.hoists && !is_told && home.slot.is_some();
    if is_lazy {
        place_lazily(facts, &mut draft, room);
        draft.tidy(facts);
        return (!draft.reloads.is_empty()).then(|| draft.finish(facts, home, Vec::new()));
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
    let stored = sink.map_or(definition.inst.0 + 1, |sink| At::end(facts.function, sink).before);
    let kept = groups.iter().find(|group| group.has_definition).map_or(&[][..], |group| &group.kept);
    let until = kept.iter().find(|kept| kept.start == stored).map_or(stored, |kept| kept.end);
    let (reloads, reads) = match home.slot {
        Some(_) => (sources::reloads(&draft.reloads, into), reads),
        None => (Vec::new(), Vec::new()),
    };
    Some(Value {
        reg: draft.value.reg,
        definition: definition.inst,
        home,
        is_stored_once: sink.is_some() || draft.value.is_single,
        stores: draft.stores,
        reloads,
        reads,
        groups,
        until,
    })
}
