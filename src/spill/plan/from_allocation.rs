//! The plan of an allocation: spilled values are stored and loaded part by part.
//!
//! A part of a live range is a set of blocks, because live ranges are split where loops begin and end. In a block of a
//! spilled part, a value is loaded before its reads. One load serves all reads between which no high-pressure point
//! lies. The value is loaded where control flow goes from a spilled part to a part in registers. It is stored where
//! control flow goes in the other direction, unless stores after its definitions are rarer.

use std::collections::BTreeSet;

use super::draft::{Draft, on_edge};
use crate::analysis::Occurrence;
use crate::analysis::pressure::Pressure;
use crate::function::Block;
use crate::spill::groups::group;
use crate::spill::insertion_point::InsertionPoint;
use crate::spill::spiller::{Candidate, Facts};

/// The spilled parts of a value, each as a set of blocks.
pub(in crate::spill) type Parts = Vec<BTreeSet<Block>>;

/// Drafts the stores and loads of a value with these spilled parts. Points with more than `words` words are
/// high-pressure points. O((accesses + blocks) · log).
pub(in crate::spill) fn draft<'f>(
    facts: &'f Facts<'_>,
    value: &'f Candidate,
    parts: &Parts,
    (pressure, words): (&Pressure, u32),
) -> Draft<'f> {
    let is_in_memory = |block: Block| parts.iter().any(|part| part.contains(&block));
    let accesses = facts.occurrences.of(value.reg).iter();
    let in_memory: Vec<Occurrence> = accesses.filter(|access| is_in_memory(access.block)).copied().collect();
    let groups = group(facts.function, &in_memory, pressure, words + 1);
    let loaded = groups.iter().filter(|group| !group.has_definition);
    let mut reloads: Vec<InsertionPoint> =
        loaded.map(|group| InsertionPoint { block: group.block, before: group.place.0 }).collect();
    let mut stores: Vec<InsertionPoint> = Vec::new();
    for live_in in facts.live.live_ins(value.reg) {
        let (to, is_here) = (live_in.block, is_in_memory(live_in.block));
        let preds = facts.cfg.preds(to).iter().copied().filter(|&pred| facts.cfg.is_reachable(pred));
        let crossed: Vec<Block> = preds.clone().filter(|&pred| is_in_memory(pred) != is_here).collect();
        let places = if is_here { &mut stores } else { &mut reloads };
        if !crossed.is_empty() && crossed.len() == preds.count() && crossed.len() > 1 {
            places.push(InsertionPoint { block: to, before: facts.function.block_range(to).start.0 });
        } else {
            places.extend(crossed.iter().map(|&from| on_edge((facts.function, &facts.cfg), from, to)));
        }
    }
    let behind = value.definitions.iter().filter(|definition| is_in_memory(definition.block));
    stores.extend(behind.map(|definition| InsertionPoint::after(facts.function, definition)));
    for places in [&mut stores, &mut reloads] {
        places.sort_unstable();
        places.dedup();
    }
    let mut at_definitions = Draft::new(facts, value);
    at_definitions.reloads = reloads;
    let mut on_edges = at_definitions.clone();
    on_edges.stores = stores;
    at_definitions.drop_unread(facts);
    at_definitions.tidy(facts);
    if !on_edges.is_right(facts) {
        return at_definitions;
    }
    on_edges.tidy(facts);
    if !on_edges.serves_reads(facts) {
        return at_definitions;
    }
    let is_rarer = on_edges.traffic(facts) < at_definitions.traffic(facts);
    if is_rarer { on_edges } else { at_definitions }
}
