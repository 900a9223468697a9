//! What the parts of a split register cost together: their accesses, and what is stored and reloaded between them.

use super::allocation::{Placement, moved_bytes};
use super::problem::{AccessKind, Link, LiveRange, Problem};
use crate::index::{EntityIndex, IndexVec};

/// The parts of a register, and of one that was not split itself: live ranges that stand together.
pub(super) fn families(problem: &Problem) -> impl Iterator<Item = std::ops::Range<u32>> + '_ {
    let count = problem.ranges().len() as u32;
    let mut next = 0;
    std::iter::from_fn(move || {
        let first = next;
        if first == count {
            return None;
        }
        next += 1;
        while next < count && problem.ranges()[LiveRange(next)].part_of.is_some() {
            next += 1;
        }
        Some(first..next)
    })
}

/// Bytes that the parts of a register move in one run of the function.
pub(super) fn family_bytes(
    problem: &Problem,
    parts: &std::ops::Range<u32>,
    placements: &IndexVec<LiveRange, Placement>,
) -> f64 {
    let spilled = parts.clone().map(LiveRange).filter(|&part| is_spilled(placements, part));
    let accesses = spilled.flat_map(|part| problem.accesses(part).iter().map(move |access| (part, access)));
    let moved: f64 = accesses.map(|(part, access)| moved_bytes(problem, part, access)).sum();
    moved + link_bytes(problem, parts, placements)
}

/// Bytes that are stored and reloaded on the way from one part to another, in one run of the function.
///
/// From a register into memory is a store, unless the slot has the value still: where no part has been written since it
/// was reloaded. What is written by one instruction only can be stored there instead, once for all.
pub(super) fn link_bytes(
    problem: &Problem,
    parts: &std::ops::Range<u32>,
    placements: &IndexVec<LiveRange, Placement>,
) -> f64 {
    let links = problem.links_to(LiveRange(parts.start), LiveRange(parts.end));
    if links.is_empty() {
        return 0.0;
    }
    let is_spilled = |part: LiveRange| is_spilled(placements, part);
    let dirty = dirty(problem, parts, links, placements);
    let is_dirty = |part: LiveRange| dirty[part.index() - parts.start as usize];
    let (mut reloads, mut stores) = (0.0, 0.0);
    for link in links.iter().filter(|link| link.from != link.to) {
        match (is_spilled(link.from), is_spilled(link.to)) {
            (true, false) => reloads += f64::from(link.frequency),
            (false, true) if is_dirty(link.from) => stores += f64::from(link.frequency),
            _ => {}
        }
    }
    let members = parts.clone().map(LiveRange);
    let mut writes = members.flat_map(|part| problem.accesses(part).iter().map(move |access| (part, access)));
    let mut writes = writes.by_ref().filter(|(_, access)| access.writes());
    if let (Some((part, access)), None) = (writes.next(), writes.next())
        && access.kind != AccessKind::Update
    {
        stores = if is_spilled(part) { 0.0 } else { stores.min(f64::from(access.frequency)) };
    }
    (reloads + stores) * f64::from(problem.class(LiveRange(parts.start)).bytes)
}

/// Whether the register of a part may hold what the slot does not.
#[cfg(test)]
pub(super) fn is_dirty(problem: &Problem, part: LiveRange, placements: &IndexVec<LiveRange, Placement>) -> bool {
    let parts = families(problem).find(|parts| parts.contains(&part.0)).unwrap_or(part.0..part.0 + 1);
    let links = problem.links_to(LiveRange(parts.start), LiveRange(parts.end));
    dirty(problem, &parts, links, placements)[(part.0 - parts.start) as usize]
}

/// By part: whether its register may hold what the slot does not, because it was written there, or in a part from where
/// the value came by registers alone.
fn dirty(
    problem: &Problem,
    parts: &std::ops::Range<u32>,
    links: &[Link],
    placements: &IndexVec<LiveRange, Placement>,
) -> Vec<bool> {
    let at = |part: LiveRange| part.index() - parts.start as usize;
    let is_dirty = |part: u32| {
        let part = LiveRange(part);
        !is_spilled(placements, part) && problem.accesses(part).iter().any(|access| access.writes())
    };
    let mut dirty: Vec<bool> = parts.clone().map(is_dirty).collect();
    loop {
        let mut has_changed = false;
        for link in links {
            if dirty[at(link.from)] && !dirty[at(link.to)] && !is_spilled(placements, link.to) {
                dirty[at(link.to)] = true;
                has_changed = true;
            }
        }
        if !has_changed {
            return dirty;
        }
    }
}

fn is_spilled(placements: &IndexVec<LiveRange, Placement>, part: LiveRange) -> bool {
    matches!(placements[part], Placement::Spilled(_))
}
