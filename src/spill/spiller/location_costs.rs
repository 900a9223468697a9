//! The location of a spilled value: the cheapest of the memories that are allowed, possible and have room, or
//! rematerialisation.
//!
//! Costs are in loads from shared memory, weighted by frequency. Rematerialisation needs the source registers of the
//! definition. Therefore, a register that clones read is not spilled, and a value whose definition reads a spilled
//! register is not rematerialised.

use super::eligible::Candidate;
use super::sink::stored;
use super::slots::Slots;
use crate::analysis::{LiveRanges, Loops};
use crate::config::SpillTo;
use crate::function::{Block, Function, VReg};
use crate::index::IndexVec;
use crate::spill::groups::Group;
use crate::spill::plan::draft::STORE;
use crate::spill::plan::{SpillLocation, SpillSpace};
use crate::spill::remat::{Costs, MOST_OF_A_VALUE, has_sources, in_loads, sources};
use crate::target::Classification;

/// Cost of an access to local memory, in accesses to shared memory. The access goes through the nearest cache, which
/// all threads of an SM share, and sometimes misses it.
const LOCAL: f64 = 2.0;

/// The locations of a function's values, and their costs.
pub(in crate::spill) struct LocationCosts<'a> {
    function: &'a Function,
    allowed: SpillTo,
    costs: Costs<'a>,
    loops: &'a Loops,
    /// Whether a register is spilled. Clones must not read a spilled register.
    is_spilled: IndexVec<VReg, bool>,
    /// Whether clones read a register. Such a register is not spilled.
    is_read_by_clones: IndexVec<VReg, bool>,
}

/// Context that determines a location's cost, in addition to the value.
pub(in crate::spill) struct CostContext<'a> {
    pub(in crate::spill) frequencies: &'a IndexVec<Block, f64>,
    pub(in crate::spill) live: &'a LiveRanges,
    pub(in crate::spill) slots: &'a Slots<'a>,
}

impl<'a> LocationCosts<'a> {
    pub(in crate::spill) fn new(
        (function, classification): (&'a Function, &'a Classification),
        loops: &'a Loops,
        allowed: SpillTo,
    ) -> Self {
        let none = || IndexVec::filled(false, function.num_regs());
        let costs = Costs::new(function, classification);
        Self { function, allowed, costs, loops, is_spilled: none(), is_read_by_clones: none() }
    }

    /// Returns the cheapest location of a value, and its cost. The value is stored at a sink, or else after its
    /// definitions. On a tie, the first location in the order of `spill-to` is returned. `None` if there is no
    /// location.
    pub(in crate::spill) fn cheapest(
        &self,
        value: &Candidate,
        sink: Option<Block>,
        groups: &[Group],
        context: &CostContext<'_>,
    ) -> Option<(f64, SpillLocation)> {
        let traffic = traffic(value, sink, groups, context);
        // A rematerialised value needs no store.
        self.cheapest_for_traffic(value, traffic, sink.is_none().then_some(groups), context)
    }

    /// Returns the cheapest location, if the stores and loads have the given cost in shared memory. `groups` are the
    /// reads, if the value may be rematerialised.
    pub(in crate::spill) fn cheapest_for_traffic(
        &self,
        value: &Candidate,
        traffic: f64,
        groups: Option<&[Group]>,
        context: &CostContext<'_>,
    ) -> Option<(f64, SpillLocation)> {
        if self.is_read_by_clones[value.reg] {
            return None;
        }
        let in_memory = |space: SpillSpace, factor: f64| {
            let slot = context.slots.find(value.reg, space, context.live)?;
            Some((factor * traffic, SpillLocation { space, slot: Some(slot) }))
        };
        let remat_cost = || {
            Some((
                self.remat_cost(value, groups?, context)?,
                SpillLocation { space: SpillSpace::Rematerialised, slot: None },
            ))
        };
        let offers = [
            self.allowed.contains(SpillTo::SHARED).then(|| in_memory(SpillSpace::Shared, 1.0)),
            self.allowed.contains(SpillTo::LOCAL).then(|| in_memory(SpillSpace::Local, LOCAL)),
            self.allowed.contains(SpillTo::REMAT).then(remat_cost),
        ];
        offers.into_iter().flatten().flatten().min_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// Records the location of a value.
    pub(in crate::spill) fn assign(&mut self, value: &Candidate, location: SpillLocation) {
        self.is_spilled[value.reg] = true;
        if let Some(definition) = value.only_definition().filter(|_| location.space == SpillSpace::Rematerialised) {
            sources(self.function, definition).for_each(|source| self.is_read_by_clones[source] = true);
        }
    }

    /// Returns the cost of a clone of the definition for each group. `None` if there are several definitions, if the
    /// definition cannot be cloned, or if a load is cheaper.
    fn remat_cost(&self, value: &Candidate, groups: &[Group], context: &CostContext<'_>) -> Option<f64> {
        let definition = value.only_definition()?;
        let cost = self.costs.of(definition)?;
        let has_lost = |source: VReg| self.is_spilled[source];
        if sources(self.function, definition).any(has_lost) || clones(groups).count() > MOST_OF_A_VALUE {
            return None;
        }
        let of_group = |group: &Group| {
            let block = group.block;
            let share = in_loads(cost, self.loops.depth(block))?;
            let is_possible = group.is_ahead_of_instruction(self.function)
                && has_sources(self.function, context.live, definition, group.place);
            is_possible.then_some(share * context.frequencies[block])
        };
        clones(groups).try_fold(0.0, |sum, group| Some(sum + of_group(group)?))
    }
}

/// Returns the cost of the stores at all places and of a load for each group.
fn traffic(value: &Candidate, sink: Option<Block>, groups: &[Group], context: &CostContext<'_>) -> f64 {
    let stores = stored(value, sink).fold(0.0, |sum, block| sum + STORE * context.frequencies[block]);
    clones(groups).map(|group| context.frequencies[group.block]).sum::<f64>() + stores
}

/// Returns the groups that get a clone or a load.
fn clones(groups: &[Group]) -> impl Iterator<Item = &Group> {
    groups.iter().filter(|group| !group.has_definition)
}
