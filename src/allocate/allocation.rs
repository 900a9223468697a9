//! An allocator's result: a place for each live range.

use std::time::Duration;

use super::lanes::lane_moves;
use super::links::{families, link_bytes};
use super::placement::{Placement, SpillSlot, moved_bytes};
use super::problem::{CopyInst, LiveRange, Problem};
use crate::index::{EntityIndex, IndexVec};

/// An allocation of all live ranges of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// Placement of each live range.
    pub placements: IndexVec<LiveRange, Placement>,
    /// By access, numbered from [`Problem::first_access`]: for a spilled live range, the first unit of the register
    /// that this access uses. `None` for live ranges that stay in registers.
    pub pieces: Vec<Option<u32>>,
    /// Statistics of the allocator's work.
    pub statistics: AllocationStatistics,
}

/// Statistics of an allocator's work on one problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllocationStatistics {
    /// Number of colourings, up to the one after which no more live ranges had to be spilled.
    pub rounds: u32,
    /// Live ranges that were evicted from their places for others.
    pub evictions: u64,
    /// Copies whose two sides were merged before colouring.
    pub merged_copies: u64,
    /// Copies whose sides were not merged, in an engine that merges copies before colouring.
    pub rejected_copies: u64,
    /// Spill cost of the merged live ranges that may be spilled.
    pub merged_cost: f64,
    /// Nodes of the interference graph, if the engine builds a graph.
    pub nodes: u64,
    /// Edges of the interference graph.
    pub edges: u64,
    /// Largest number of edges of one node.
    pub max_degree: u64,
    /// Expected edges of an interference graph that was too large to be built; 0 if the graph was built.
    pub too_many_edges: u64,
    /// Live ranges that were spilled before the graph was built, because the complete graph was too large. 0 if the
    /// greedy allocator replaced the engine.
    pub spilled_before: u64,
    /// Phases in their order, with the time of each.
    pub phases: Vec<(&'static str, Duration)>,
}

impl AllocationStatistics {
    /// Adds time to a phase.
    pub(crate) fn lap(&mut self, phase: &'static str, time: Duration) {
        match self.phases.iter_mut().find(|(name, _)| *name == phase) {
            Some((_, total)) => *total += time,
            None => self.phases.push((phase, time)),
        }
    }
}

/// Costs of an allocation, counted alike for every engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// By file: the number of units from 0 to the last used unit.
    pub units: Vec<u32>,
    /// Live ranges that are spilled.
    pub spilled: u64,
    /// Bytes of the slots. The parts of a register share one slot.
    pub slot_bytes: u64,
    /// Bytes that one run of the function stores and reloads, at accesses and between parts of a register.
    pub moved_bytes: f64,
    /// Places beyond the register limit: of live ranges in registers, and of single accesses to spilled live ranges.
    pub over_limit: u64,
    /// Copies whose two sides are in one place.
    pub removed_copies: u64,
    /// Copies that stay.
    pub copies: u64,
    /// Words that one run of the function moves between parts of a register that are in two different registers.
    pub link_moves: f64,
    /// Moves of 32-bit words in the code, which assemble tuples and take them apart.
    pub tuple_copies: u64,
    /// Words that are moved to assemble tuples and take them apart, in one run of the function.
    pub tuple_moves: f64,
}

impl Allocation {
    /// Creates an allocation in which every live range is at unit 0. The caller fills it in.
    pub(crate) fn blank(problem: &Problem) -> Self {
        Self {
            placements: IndexVec::filled(Placement::Register(0), problem.ranges().len()),
            pieces: vec![None; problem.num_accesses()],
            statistics: AllocationStatistics::default(),
        }
    }

    /// Spills a live range to a slot of its own. Its accesses have no places yet.
    pub(crate) fn spill(&mut self, range: LiveRange, slot: SpillSlot) {
        self.placements[range] = Placement::Spilled(slot);
    }

    /// Computes the costs of the allocation.
    pub fn costs(&self, problem: &Problem) -> Costs {
        let mut costs = self.costs_of(problem, |_| true);
        costs.copies = problem.copies().len() as u64;
        let is_removed = |copy: &&CopyInst| {
            let (to, from) = (self.placements[copy.to], self.placements[copy.from]);
            to == from && problem.class(copy.to).width == problem.class(copy.from).width
        };
        costs.removed_copies = problem.copies().iter().filter(is_removed).count() as u64;
        costs.copies -= costs.removed_copies;
        let moves = lane_moves(problem, &self.placements);
        (costs.tuple_copies, costs.tuple_moves) = (moves.count, moves.words);
        let register = |range: LiveRange| match self.placements[range] {
            Placement::Register(unit) => Some(unit),
            Placement::Spilled(_) => None,
        };
        for link in problem.links() {
            let places = register(link.to).zip(register(link.from));
            if places.is_some_and(|(to, from)| to != from) {
                let words = problem.class(link.to).bytes.div_ceil(4);
                costs.link_moves += f64::from(link.frequency) * f64::from(words);
            }
        }
        costs
    }

    /// Computes the costs of some of the live ranges, without copies.
    pub(crate) fn costs_of(&self, problem: &Problem, is_wanted: impl Fn(LiveRange) -> bool) -> Costs {
        let mut costs = Costs { units: vec![0; problem.files().len()], ..Costs::default() };
        let mut family_with_slot = None;
        for (range, &placement) in self.placements.iter_enumerated() {
            if problem.segments(range).is_empty() || !is_wanted(range) {
                continue;
            }
            match placement {
                Placement::Register(unit) => costs.occupy(problem, range, unit),
                Placement::Spilled(_) => {
                    costs.spilled += 1;
                    let family = problem.family(range);
                    if family_with_slot.replace(family) != Some(family) {
                        costs.slot_bytes += u64::from(problem.class(range).bytes);
                    }
                    for (number, access) in (problem.first_access(range)..).zip(problem.accesses(range)) {
                        costs.moved_bytes += moved_bytes(problem, range, access);
                        if let Some(unit) = self.pieces[number] {
                            costs.occupy(problem, range, unit);
                        }
                    }
                }
            }
        }
        if problem.links().is_empty() {
            return costs;
        }
        for parts in families(problem).filter(|parts| is_wanted(LiveRange(parts.start))) {
            costs.moved_bytes += link_bytes(problem, &parts, &self.placements);
        }
        costs
    }

    /// Numbers the slots in the order of live ranges. Each register with spilled parts gets one slot.
    pub(crate) fn number_slots(&mut self, problem: &Problem) {
        let (mut slots, mut of_family) = (0, None);
        for (range, placement) in self.placements.iter_mut().enumerate() {
            if let Placement::Spilled(slot) = placement {
                let family = problem.family(LiveRange::new(range));
                if of_family.replace(family) != Some(family) {
                    slots += 1;
                }
                *slot = SpillSlot::new(slots - 1);
            }
        }
    }
}

impl Costs {
    fn occupy(&mut self, problem: &Problem, range: LiveRange, unit: u32) {
        let class = problem.class(range);
        let end = unit + class.width;
        let used = &mut self.units[class.file.0 as usize];
        *used = (*used).max(end);
        let is_over = problem.files()[class.file].register_limit.is_some_and(|register_limit| end > register_limit);
        if is_over && problem.ranges()[range].fixed.is_none() {
            self.over_limit += 1;
        }
    }
}
