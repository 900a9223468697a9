//! Costs of the parts of a split register: of their accesses, and of the stores and reloads between them.

use super::placement::{Placement, moved_bytes};
use super::problem::{AccessKind, Link, LiveRange, Problem};
use crate::index::{EntityIndex, IndexVec};

/// Returns the families of live ranges: the parts of each split register, which have consecutive numbers, and each
/// other live range alone.
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

/// Returns the bytes that the parts of a register move in one run of the function.
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

/// Returns the bytes that are stored and reloaded between parts, in one run of the function.
///
/// A link from a register into memory needs a store, unless no part has been written since the last reload, so that the
/// slot still has the value. If only one instruction writes the value, the value can be stored once at that instruction
/// instead.
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

/// Whether the register of a part may hold a value that the slot does not have.
#[cfg(test)]
pub(super) fn is_dirty(problem: &Problem, part: LiveRange, placements: &IndexVec<LiveRange, Placement>) -> bool {
    let parts = families(problem).find(|parts| parts.contains(&part.0)).unwrap_or(part.0..part.0 + 1);
    let links = problem.links_to(LiveRange(parts.start), LiveRange(parts.end));
    dirty(problem, &parts, links, placements)[(part.0 - parts.start) as usize]
}

/// Computes for each part whether its register may hold a value that the slot does not have. This is so in two cases:
/// the part is written, or it got its value from such a part without passing through memory.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::placement::SpillSlot;

    /// Returns the cost of the parts of one register, of which the given parts are spilled.
    fn bytes(writes: &str, spilled: [bool; 3]) -> f64 {
        let text = format!(
            "allocation 1\nproblem k\nfile R\nclass A R\nrange A cost 1 live 2..8 {writes}\n\
             range A cost 1 part lr0 live 8..16\nrange A cost 1 part lr0 live 16..21 read 5*1\n\
             link 8 lr1 = lr0 * 10\nlink 16 lr2 = lr1 * 7\nend\n"
        );
        let problem = Problem::parse(&text).expect("a problem");
        problem.validate().expect("a sound problem");
        let place = |&spilled: &bool| {
            if spilled { Placement::Spilled(SpillSlot(0)) } else { Placement::Register(0) }
        };
        family_bytes(&problem, &(0..3), &spilled.iter().map(place).collect())
    }

    /// A value with two writes is stored on the way into memory, even from a part that did not write it. It is not
    /// stored from a part that only reloaded it.
    #[test]
    fn stores_where_the_slot_is_old() {
        let twice = "write 0*1 write 1*1";
        assert_eq!(bytes(twice, [false, true, true]), 4.0 * (10.0 + 1.0));
        assert_eq!(bytes(twice, [false, false, true]), 4.0 * (7.0 + 1.0));
        assert_eq!(bytes(twice, [true, false, true]), 4.0 * (2.0 + 10.0 + 1.0));
        assert_eq!(bytes(twice, [false, true, false]), 4.0 * (10.0 + 7.0));
    }

    /// A value that only one instruction writes is stored at that instruction if this is less frequent than storing it
    /// on the way into memory. A value that starts in memory needs no store.
    #[test]
    fn one_store_where_it_is_written() {
        assert_eq!(bytes("write 0*3", [false, true, true]), 4.0 * (3.0 + 1.0));
        assert_eq!(bytes("write 0*30", [false, true, true]), 4.0 * (10.0 + 1.0));
        assert_eq!(bytes("write 0*3", [true, false, true]), 4.0 * (3.0 + 10.0 + 1.0));
        assert_eq!(bytes("write 0*3", [true, true, true]), 4.0 * (3.0 + 1.0));
        assert_eq!(bytes("write 0*3", [false, false, false]), 0.0);
    }
}
