//! Places the last readers of values as early as possible, and other nodes on demand.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::late_placement::{ask, by_need};
use super::live::LiveWords;
use super::region::{Kind, Region, ScheduledValue};
use crate::analysis::{Node, PendingNodes};

/// An order that places a pure node that is the last reader of values as soon as these values are available, alone or
/// together with its only reader, unless that increases the number of live words. Every other node is placed as late as
/// its first reader, or a node with effects, allows.
///
/// Orders that place all pure nodes on demand leave a loop's sums to the end of its body, because no instruction in the
/// loop reads them. If the loads must keep their order, all loaded values are then live until the end.
pub(super) struct Eager;

impl Order for Eager {
    /// O(n log n) in the operands and dependences.
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let mut list = List::new(region);
        let effects = region.nodes().filter(|&node| region.kinds[node] == Kind::Effect);
        // All other nodes lead to one of these nodes, or to a node with effects.
        let last = region.nodes().filter(|&node| region.graph.successors.of(node).is_empty());
        let by_need = by_need(region);
        ask(region, effects.chain(last), by_need, |node| list.place_on_demand(node));
        list.order
    }
}

/// Most edges between two nodes that are examined: each operand is one edge.
const MOST_EDGES: u32 = 4;

struct List<'a> {
    region: &'a Region<'a>,
    pending: PendingNodes,
    live: LiveWords<'a>,
    /// Nodes that may be able to end values without more live words, in the order of the code.
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

    /// Places a demanded node, unless it was placed eagerly, and all nodes that become eager with it.
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
                // The two nodes are placed one directly after the other. Otherwise, if there are many such pairs, the
                // results of all first nodes would be live until the last pair is placed.
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
        // If a node waits for only one other node, that other node may have become eager.
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

    /// Whether a node is ready and ends values without increasing the live words, possibly after `also`.
    fn is_eager(&self, node: Node, also: Option<Node>) -> bool {
        let edges = also.map_or(0, |also| {
            self.region.graph.successors.of(also).iter().filter(|&&successor| successor == node).count() as u32
        });
        let can_go = !self.pending.is_taken(node) && self.pending.waits_for(node) == edges;
        let before = also.map_or(0, |also| self.live.change(also, None));
        let is_pure = self.region.kinds[node] == Kind::Pure;
        can_go && is_pure && before + self.live.change(node, also) <= 0 && self.live.ends_any(node, also)
    }

    /// Returns the only reader of a node's values, if the two nodes together end values without increasing the live
    /// words.
    fn eager_reader(&self, node: Node) -> Option<Node> {
        if self.pending.is_taken(node) || self.pending.waits_for(node) > 0 || self.region.kinds[node] != Kind::Pure {
            return None;
        }
        // A value with several readers is ended only by the last of them.
        let only_reader = |value: &ScheduledValue| match self.region.readers.of(*value) {
            &[reader] => Some(reader),
            _ => None,
        };
        let mut readers = self.region.writes.of(node).iter().filter_map(only_reader);
        readers.find(|&reader| self.is_eager(reader, Some(node)))
    }
}
