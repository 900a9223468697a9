//! What ends the life of values as early as it can, the rest on demand.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::demand::{ask, by_need};
use super::live::LiveWords;
use super::region::{Held, Kind, Region};
use super::waiting::Waiting;
use crate::analysis::Node;

/// A function of values whose last reader it is goes as soon as they are there, unless more words are live behind it
/// than before; everything else as late as its first reader, or what has effects, lets it.
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

struct List<'a> {
    region: &'a Region<'a>,
    waiting: Waiting,
    live: LiveWords<'a>,
    /// Nodes that may have become such that end values at no cost, in the order of the code.
    offered: BinaryHeap<Reverse<Node>>,
    order: Vec<Node>,
}

impl<'a> List<'a> {
    fn new(region: &'a Region<'a>) -> Self {
        let waiting = Waiting::new(region);
        let offered = waiting.ready(region).map(Reverse).collect();
        let order = Vec::with_capacity(region.kinds.len());
        let mut list = Self { region, waiting, live: LiveWords::new(region), offered, order };
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
            if self.is_eager(node) {
                self.place(node);
            }
        }
    }

    fn place(&mut self, node: Node) {
        let Self { region, waiting, live, offered, order } = self;
        let mut freed = Vec::new();
        if !waiting.take(region, node, |successor| freed.push(successor)) {
            return;
        }
        order.push(node);
        live.place(node, |reader| offered.push(Reverse(reader)));
        offered.extend(freed.into_iter().map(Reverse));
        // Whoever waits for one more alone may make that one eager.
        for &successor in region.graph.successors.of(node).iter().filter(|&&s| waiting.waits_for[s] == 1) {
            let others = region.predecessors.of(successor).iter().filter(|&&other| !waiting.is_done[other]);
            offered.extend(others.map(|&other| Reverse(other)));
        }
    }

    /// Whether a node can go, and it, or it and what then can go, ends values without more words live than before.
    fn is_eager(&self, node: Node) -> bool {
        if self.is_placed_or_waits(node) || self.region.kinds[node] != Kind::Pure {
            return false;
        }
        let change = self.live.change(node, None);
        if change <= 0 && self.live.ends_any(node, None) {
            return true;
        }
        // What several read stays live behind each of them but the last.
        let only_reader = |value: &Held| match self.region.readers.of(*value) {
            &[reader] => Some(reader),
            _ => None,
        };
        let mut next = self.region.writes.of(node).iter().filter_map(only_reader);
        next.any(|next| {
            let is_next = self.waiting.waits_for[next] == 1 && self.region.kinds[next] == Kind::Pure;
            is_next && change + self.live.change(next, Some(node)) <= 0 && self.live.ends_any(next, Some(node))
        })
    }

    fn is_placed_or_waits(&self, node: Node) -> bool {
        self.waiting.is_done[node] || self.waiting.waits_for[node] > 0
    }
}
