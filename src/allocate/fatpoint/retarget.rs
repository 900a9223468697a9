//! Retarget: moves nodes to other places to make room for a node. If moving does not help, nodes are spilled.

use crate::allocate::problem::LiveRange;

use super::trial::Trial;

/// Most places that are tried, by moving their holders, for a node that may be spilled.
const TRIED: usize = 4;

/// A place, and the holders that must leave it.
#[derive(Debug)]
struct Place {
    unit: u32,
    holders: Vec<LiveRange>,
    /// Cost of spilling the holders.
    cost: f32,
}

impl Trial<'_> {
    /// Makes room for a node by moving the holders of a place to other places. Returns whether this succeeded. For a
    /// node that must have a register, all places are tried.
    pub(super) fn make_room(&mut self, node: LiveRange) -> bool {
        let mut places = self.places(node);
        places.sort_by_key(|place| (place.holders.len(), place.unit));
        if self.context.nodes.is_spillable(node) {
            places.truncate(TRIED);
        }
        places.iter().any(|place| self.try_move(node, place))
    }

    /// Moves all holders of a place, or none of them.
    fn try_move(&mut self, node: LiveRange, place: &Place) -> bool {
        let before: Vec<Option<u32>> = place.holders.iter().map(|&holder| self.vacate(holder)).collect();
        self.occupy(node, place.unit);
        let mut moved = Vec::new();
        for &holder in &place.holders {
            let Some(unit) = self.best_place(holder, self.target) else { break };
            self.occupy(holder, unit);
            moved.push(holder);
        }
        if moved.len() == place.holders.len() {
            self.moved += moved.len() as u64;
            return true;
        }
        for holder in moved {
            self.vacate(holder);
        }
        self.vacate(node);
        for (&holder, unit) in place.holders.iter().zip(before) {
            unit.into_iter().for_each(|unit| self.occupy(holder, unit));
        }
        false
    }

    /// Returns the places within the target that no fixed live range holds.
    fn places(&self, node: LiveRange) -> Vec<Place> {
        let nodes = &self.context.nodes;
        let (class, segments) = (nodes.class(node), nodes.segments(node));
        let units = (0..).step_by(class.align as usize).take_while(|unit| unit + class.width <= self.target);
        let place = |unit: u32| {
            let mut holders: Vec<LiveRange> = Vec::new();
            for holder in (unit..unit + class.width).flat_map(|unit| self.registers.holders(unit, segments)) {
                if nodes.fixed(holder).is_some() {
                    return None;
                }
                if !holders.contains(&holder) {
                    holders.push(holder);
                }
            }
            let cost = holders.iter().map(|&holder| nodes.cost(holder)).sum();
            Some(Place { unit, holders, cost })
        };
        units.filter_map(place).collect()
    }

    /// Spills the node or the holders of a place, whichever is cheaper. If a node that must have a register finds no
    /// place within the register limit, it gets a place beyond the limit.
    pub(super) fn spill_for(&mut self, node: LiveRange) {
        let places = self.places(node);
        let cheapest = places.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost).then(a.unit.cmp(&b.unit)));
        match cheapest {
            Some(place) if place.cost < self.context.nodes.cost(node) => {
                for &holder in &place.holders {
                    self.vacate(holder);
                }
                self.occupy(node, place.unit);
                for holder in place.holders {
                    match self.best_place(holder, self.target) {
                        Some(unit) => self.occupy(holder, unit),
                        None => self.spilled.push(holder),
                    }
                }
            }
            _ if self.context.nodes.is_spillable(node) => self.spilled.push(node),
            _ => self.place_beyond(node),
        }
    }
}
