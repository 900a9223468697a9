//! What ends the life of values as early as it can, the rest on demand.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::late_placement::{ask, by_need};
use super::live::LiveWords;
use super::region::{Kind, Region, ScheduledValue};
use crate::analysis::{Node, PendingNodes};

/// A function of values whose last reader it is goes as soon as they are there, alone or with its only reader behind
/// it, unless more words are live then than before; everything else goes as late as its first reader, or what has
/// effects, lets it.
///
/// Orders on demand alone leave the sums of a loop to its end, where nobody in the loop asks for them: all that is
/// loaded for them is held until then, if the loads must keep their order.
pub(super) struct Eager;

impl Order for Eager {
    /// O(n log n) in the operands and dependences.
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let mut list = List::new(region);
        let effects = region.nodes().filter(|&node| region.kinds[node] == Kind::Effect);
        // Everything is read by one of these, or by what has effects.
        let last = region.nodes().filter(|&node| region.graph.successors.of(node).is_empty());
        let by_need = by_need(region);
        ask(region, effects.chain(last), by_need, |node| list.place_on_demand(node));
        list.order
    }
}

/// How many edges two nodes have at most, as far as that is looked for: each operand is one.
const MOST_EDGES: u32 = 4;

struct List<'a> {
    region: &'a Region<'a>,
    pending: PendingNodes,
    live: LiveWords<'a>,
    /// Nodes that may have become such that end values at no cost, in the order of the code.
    offered: BinaryHeap<Reverse<Node>>,
    order: Vec<Node>,
}

impl<'a> List<'a> {
    fn new(region: &'a Region<'a>) -> Self {
        let pending = PendingNodes::new(&region.graph);
        let offered = pending.ready().map(Reverse).collect();
        let order = Vec::with_capacity(region.kinds.len());
        let mut list = Self { region, pending, live: LiveWords::new(region), offered, order };
        list.place_offered();
        list
    }

    /// Places what is asked for, unless it was in a hurry, and all that has become eager with it.
    fn place_on_demand(&mut self, node: Node) {
        self.place(node);
        self.place_offered();
    }

    fn place_offered(&mut self) {
        while let Some(Reverse(node)) = self.offered.pop() {
            self.region.step();
            if self.is_eager(node, None) {
                self.place(node);
            } else if let Some(next) = self.eager_reader(node) {
                // At once: of many such pairs the first halves would all be held until the last of them is there.
                self.place(node);
                self.place(next);
            }
        }
    }

    fn place(&mut self, node: Node) {
        let Self { region, pending, live, offered, order } = self;
        let mut freed = Vec::new();
        if !pending.take(&region.graph, node, |successor| freed.push(successor)) {
            return;
        }
        order.push(node);
        live.place(node, |reader| offered.push(Reverse(reader)));
        offered.extend(freed.into_iter().map(Reverse));
        // Whoever waits for one node alone may make that one eager.
        let pending = &self.pending;
        for &successor in region.graph.successors.of(node) {
            if !(1..=MOST_EDGES).contains(&pending.waits_for(successor)) {
                continue;
            }
            let mut others = region.predecessors.of(successor).iter().filter(|&&other| !pending.is_taken(other));
            let first = others.next().filter(|&first| others.all(|other| other == first));
            offered.extend(first.map(|&first| Reverse(first)));
        }
    }

    /// Whether a node can go, now or, if it is given, behind `also`, and ends values without more words live.
    fn is_eager(&self, node: Node, also: Option<Node>) -> bool {
        let edges = also.map_or(0, |also| {
            self.region.graph.successors.of(also).iter().filter(|&&successor| successor == node).count() as u32
        });
        let can_go = !self.pending.is_taken(node) && self.pending.waits_for(node) == edges;
        let before = also.map_or(0, |also| self.live.change(also, None));
        let is_pure = self.region.kinds[node] == Kind::Pure;
        can_go && is_pure && before + self.live.change(node, also) <= 0 && self.live.ends_any(node, also)
    }

    /// The only reader of what a node computes, where the two go together and end values without more words live.
    fn eager_reader(&self, node: Node) -> Option<Node> {
        if self.pending.is_taken(node) || self.pending.waits_for(node) > 0 || self.region.kinds[node] != Kind::Pure {
            return None;
        }
        // What several read stays live behind each of them but the last.
        let only_reader = |value: &ScheduledValue| match self.region.readers.of(*value) {
            &[reader] => Some(reader),
            _ => None,
        };
        let mut readers = self.region.writes.of(node).iter().filter_map(only_reader);
        readers.find(|&reader| self.is_eager(reader, Some(node)))
    }
}
