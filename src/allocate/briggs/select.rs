//! Select: nodes return to the graph in the reverse order of removal. Each node takes the lowest place that its
//! neighbours leave free.

use super::super::occupied::Occupied;
use super::build::{Coloring, State};
use crate::allocate::problem::LiveRange;
use crate::index::IndexVec;

/// Result of select.
#[derive(Debug)]
pub(super) struct Selection {
    /// First unit of each node.
    pub(super) unit: IndexVec<LiveRange, Option<u32>>,
    /// Nodes without a place, which must be spilled.
    pub(super) spilled: Vec<LiveRange>,
}

impl Coloring<'_> {
    /// Colours the nodes on the stack. If a node that may not be spilled finds no place, other nodes are spilled. If
    /// spilling other nodes does not help either, the node gets a place beyond the register limit.
    pub(super) fn select(&mut self) -> Selection {
        let ranges = self.problem.ranges();
        let mut found = Selection { unit: ranges.iter().map(|range| range.fixed).collect(), spilled: Vec::new() };
        let mut neighbours = Vec::new();
        let mut occupied = Occupied::default();
        while let Some(node) = self.stack.pop() {
            self.collect_neighbours(node, true, &mut neighbours);
            self.state[node] = State::Present;
            occupied.clear();
            for &neighbour in &neighbours {
                if let Some(unit) = found.unit[neighbour] {
                    occupied.add(unit, self.problem.classes()[self.class[neighbour]].width);
                }
            }
            found.unit[node] = self.place(node, &neighbours, &occupied, &mut found);
        }
        found
    }

    fn place(
        &self,
        node: LiveRange,
        neighbours: &[LiveRange],
        occupied: &Occupied,
        found: &mut Selection,
    ) -> Option<u32> {
        let class = &self.problem.classes()[self.class[node]];
        let register_limit = self.problem.files()[class.file].register_limit;
        let is_free = |&unit: &u32| occupied.is_free(class, unit, register_limit);
        let wanted = self.wanted(node, found).find(is_free).or_else(|| self.in_lane(node, found).find(is_free));
        let wanted = wanted.or_else(|| self.row_place(node, found).filter(is_free));
        if let Some(unit) = wanted.or_else(|| occupied.first_free(class, register_limit)) {
            return Some(unit);
        }
        if self.cost[node].is_finite() {
            found.spilled.push(node);
            return None;
        }
        match self.cheapest_to_clear(node, neighbours, found) {
            Some(unit) => {
                let end = unit + class.width;
                for &neighbour in neighbours {
                    let width = self.problem.classes()[self.class[neighbour]].width;
                    if found.unit[neighbour].is_some_and(|theirs| theirs < end && unit < theirs + width) {
                        found.unit[neighbour] = None;
                        found.spilled.push(neighbour);
                    }
                }
                Some(unit)
            }
            None => occupied.first_free(class, None),
        }
    }

    /// Returns the places of the nodes that copies connect with this node, the most frequent copy first. A copy within
    /// one place needs no code.
    fn wanted<'b>(&'b self, node: LiveRange, found: &'b Selection) -> impl Iterator<Item = u32> + 'b {
        self.all_moves_of(node).filter_map(move |id| {
            let (to, from) = (self.find(self.moves[id].to), self.find(self.moves[id].from));
            let other = if to == node { from } else { to };
            let is_alike = other != node
                && self.problem.classes()[self.class[other]].width == self.problem.classes()[self.class[node]].width;
            found.unit[other].filter(|_| is_alike)
        })
    }

    /// Returns the places at which a member is in its lane of a placed tuple, or at which a tuple agrees with its
    /// placed members.
    fn in_lane(&self, node: LiveRange, found: &Selection) -> impl Iterator<Item = u32> + use<> {
        let mut places = Vec::new();
        if let Some(partners) = &self.lanes {
            for member in self.members(node) {
                partners.places(member, |other| found.unit[self.find(other)], &mut places);
            }
        }
        places.into_iter()
    }

    /// Returns the node's place in a row that fits as a whole, if no member of the row has a place yet.
    fn row_place(&self, node: LiveRange, found: &Selection) -> Option<u32> {
        let limit = self.available[self.problem.file(node)];
        let occupied = |range: LiveRange, out: &mut Occupied| {
            out.clear();
            for member in self.members(self.find(range)) {
                for neighbour in self.graph().neighbours(member).iter().map(|&neighbour| self.find(neighbour)) {
                    if let Some(unit) = found.unit[neighbour] {
                        out.add(unit, self.problem.classes()[self.class[neighbour]].width);
                    }
                }
            }
        };
        let row = self.lanes.as_ref()?.row(node, limit, |range| found.unit[self.find(range)], occupied)?;
        row.into_iter().find(|&(range, _)| range == node).map(|(_, unit)| unit)
    }

    /// Returns the place within the register limit whose holders have the least spill cost. `None` if each place has a
    /// holder that must stay.
    fn cheapest_to_clear(&self, node: LiveRange, neighbours: &[LiveRange], found: &Selection) -> Option<u32> {
        let classes = self.problem.classes();
        let class = &classes[self.class[node]];
        let register_limit = self.available[class.file];
        let mut cost_of_unit = vec![0.0_f32; register_limit as usize];
        for &neighbour in neighbours {
            let Some(unit) = found.unit[neighbour] else { continue };
            let is_fixed = self.state[neighbour] == State::Fixed;
            let cost = if is_fixed { f32::INFINITY } else { self.cost[neighbour] };
            let end = (unit + classes[self.class[neighbour]].width).min(register_limit);
            for unit in unit..end {
                cost_of_unit[unit as usize] += cost;
            }
        }
        let places = (0..).step_by(class.align as usize).take_while(|unit| unit + class.width <= register_limit);
        let cost = |unit: u32| cost_of_unit[unit as usize..][..class.width as usize].iter().sum::<f32>();
        let cheapest = places.map(|unit| (cost(unit), unit)).min_by(|a, b| a.0.total_cmp(&b.0))?;
        cheapest.0.is_finite().then_some(cheapest.1)
    }
}
