//! A trial: nodes come off the stack, and each takes its best place in the histogram.

use crate::allocate::occupied::Occupied;
use crate::allocate::problem::LiveRange;
use crate::allocate::registers::Registers;
use crate::index::IndexVec;

use super::context::Context;
use super::histogram::Histogram;
use super::lists::{Lists, Order};
use super::pair::last_unit;

/// Result of a trial.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Place of each node.
    pub(super) units: IndexVec<LiveRange, Option<u32>>,
    /// Nodes without a place.
    pub(super) spilled: Vec<LiveRange>,
    /// Nodes that must have a register and have one beyond the register limit.
    pub(super) beyond: u32,
    /// Units in use.
    pub(super) registers: u32,
    /// Nodes that were moved to another place to make room.
    pub(super) moved: u64,
}

/// State of a trial.
pub(super) struct Trial<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) registers: Registers<LiveRange>,
    histogram: Histogram,
    pub(super) units: IndexVec<LiveRange, Option<u32>>,
    /// Units that are tried first. The target grows up to the register limit if they do not suffice.
    pub(super) target: u32,
    pub(super) spilled: Vec<LiveRange>,
    beyond: u32,
    pub(super) moved: u64,
}

impl<'a> Trial<'a> {
    /// Gives places to the nodes on the stack, as long as there are free places or room can be made. O(nodes · (units +
    /// segments · log moments)), and more if room must be made.
    pub(super) fn run(context: &'a Context<'a>, order: Order) -> Outcome {
        let mut trial = Self::new(context);
        let lists = Lists::classify(&context.nodes, &context.constraints, &context.interference, trial.target, order);
        let mut stack = lists.drain(&context.nodes, &context.interference);
        while let Some(node) = stack.pop() {
            if trial.units[node].is_none() {
                trial.place(node);
            }
        }
        trial.finish()
    }

    fn new(context: &'a Context<'a>) -> Self {
        let nodes = &context.nodes;
        let ranges = context.problem.ranges();
        // A node that is never live can be at any place.
        let start = |range: LiveRange| nodes.fixed(range).or(nodes.segments(range).is_empty().then_some(0));
        Self {
            context,
            registers: context.fixed.clone(),
            histogram: Histogram::new(),
            units: ranges.ids().map(start).collect(),
            target: context.target,
            spilled: Vec::new(),
            beyond: 0,
            moved: 0,
        }
    }

    fn place(&mut self, node: LiveRange) {
        if self.place_row(node) {
            return;
        }
        if let Some(unit) = self.best_place(node, self.target) {
            return self.occupy(node, unit);
        }
        if self.make_room(node) {
            return;
        }
        // If possible, more registers are used than before: the lowest free place is taken, regardless of cost.
        let (class, segments) = (self.context.nodes.class(node), self.context.nodes.segments(node));
        let more = self.registers.free_place(class, segments, self.context.register_limit, &[]);
        if let Some(unit) = more {
            self.target = self.target.max(last_unit(unit, class) + 1);
            return self.occupy(node, unit);
        }
        // With the whole register limit as the target, more nodes can be moved.
        self.target = self.context.register_limit.unwrap_or(self.target);
        self.spill_for(node);
    }

    /// Places a node's row as a whole if none of its members has a place yet. This happens before other nodes are in
    /// the way. Returns whether the node has a place afterwards.
    fn place_row(&mut self, node: LiveRange) -> bool {
        let Self { context, registers, units, target, .. } = self;
        let nodes = &context.nodes;
        let occupied = |range: LiveRange, out: &mut Occupied| {
            out.clone_from(registers.occupied(nodes.segments(nodes.of(range))));
        };
        let row = context.partners.row(node, *target, |other| units[nodes.of(other)], occupied);
        for (range, unit) in row.unwrap_or_default() {
            let member = nodes.of(range);
            let occupied = self.registers.occupied(nodes.segments(member));
            if self.units[member].is_none() && occupied.is_free(nodes.class(member), unit, None) {
                self.occupy(member, unit);
            }
        }
        self.units[node].is_some()
    }

    /// Returns the best place of a node below `limit` in the histogram.
    pub(super) fn best_place(&mut self, node: LiveRange, limit: u32) -> Option<u32> {
        let Self { context, registers, histogram, units, .. } = self;
        let nodes = &context.nodes;
        let class = nodes.class(node);
        histogram.clear(limit);
        histogram.add_conflicts(registers.occupied(nodes.segments(node)));
        let mut places = Vec::new();
        for &member in nodes.members(&node) {
            context.partners.places(member, |other| units[nodes.of(other)], &mut places);
        }
        histogram.prefer(places.into_iter());
        histogram.keep_whole(context.wider_than(class.width), limit);
        histogram.best(class, limit)
    }

    pub(super) fn occupy(&mut self, node: LiveRange, unit: u32) {
        let nodes = &self.context.nodes;
        self.registers.occupy(nodes.segments(node), unit..unit + nodes.class(node).width, node);
        self.units[node] = Some(unit);
    }

    pub(super) fn vacate(&mut self, node: LiveRange) -> Option<u32> {
        let nodes = &self.context.nodes;
        let unit = self.units[node].take()?;
        self.registers.vacate(nodes.segments(node), unit..unit + nodes.class(node).width);
        Some(unit)
    }

    /// Gives a place beyond the register limit to a node that must have one.
    pub(super) fn place_beyond(&mut self, node: LiveRange) {
        let nodes = &self.context.nodes;
        let unit = self.registers.place_beyond(nodes.class(node), nodes.segments(node));
        self.beyond += 1;
        self.occupy(node, unit);
    }

    fn finish(self) -> Outcome {
        let nodes = &self.context.nodes;
        let last = |node: LiveRange| Some(last_unit(self.units[node]?, nodes.class(node)) + 1);
        let live = nodes.iter().filter(|&node| !nodes.segments(node).is_empty());
        let registers = live.filter_map(last).max().unwrap_or(0);
        let Self { units, spilled, beyond, moved, .. } = self;
        Outcome { units, spilled, beyond, registers, moved }
    }
}
