//! Candidates for pre-allocation: what would best have the place of something that has its own from the start.
//!
//! ptxas looks for instructions that a list of opcodes makes eligible (texture fetches, atomics, selects and others),
//! and pre-assigns their operands. An allocation problem has no opcodes: the operands that it knows to want a certain
//! place are those of copies from and to what is fixed there. The knob for preferred operands says which side of such a
//! copy takes part, as there: what is read, what is written, or both.
//!
//! A candidate is eligible where it is as wide as what is fixed, and the place is within the budget and free of all
//! else that is fixed. It wishes for the place, which costs others something that take it; forced, it has it before
//! they come.

use crate::allocate::problem::{CopyInst, LiveRange, is_place};
use crate::allocate::registers::Registers;

use super::knobs::Knobs;
use super::nodes::Nodes;

/// A node, and the place that it wants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) node: LiveRange,
    pub(super) unit: u32,
}

/// All candidates, those of the most frequent copies first. A node may be there more than once.
pub(super) fn candidates(nodes: &Nodes<'_>, knobs: &Knobs, fixed: &mut Registers<LiveRange>) -> Vec<Candidate> {
    let mut copies: Vec<&CopyInst> = nodes.problem.copies().iter().collect();
    copies.sort_by(|a, b| b.frequency.total_cmp(&a.frequency));
    let sides = |copy: &CopyInst| {
        let read = (knobs.pref_mac_operands & 1 != 0).then_some((copy.from, copy.to));
        let written = (knobs.pref_mac_operands & 2 != 0).then_some((copy.to, copy.from));
        [read, written].into_iter().flatten()
    };
    let mut found = Vec::new();
    for (range, partner) in copies.into_iter().flat_map(sides) {
        let Some(unit) = nodes.problem.ranges()[partner].fixed else { continue };
        let node = nodes.of(range);
        let class = nodes.class(node);
        let budget = nodes.problem.files()[class.file].budget.unwrap_or(u32::MAX);
        let is_eligible = nodes.fixed(node).is_none()
            && class.width == nodes.problem.class(partner).width
            && is_place(class, unit, budget);
        if is_eligible && fixed.occupied(nodes.segments(node)).is_free(class, unit, None) {
            found.push(Candidate { node, unit });
        }
    }
    found
}
