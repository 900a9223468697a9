//! Orders from the start of a region to its end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::region::{Held, Kind, Region};
use crate::analysis::Node;
use crate::function::MemorySpace;
use crate::index::{EntityIndex, IndexVec};
use crate::target::machine::latency;

/// Those first that most of the region has to wait for, as long as no more is live than in the order of the code;
/// beyond that, what frees registers.
pub(super) struct LatencyAware;

/// Loads that are ready follow each other.
pub(super) struct LoadsClustered;

/// How many loads follow each other at most.
const CLUSTER: usize = 16;

/// How far down in the code a load is looked for.
const WINDOW: usize = 64;

impl Order for LoadsClustered {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let mut waiting = Waiting::new(region);
        let mut ready: BinaryHeap<Reverse<Node>> = waiting.ready(region).map(Reverse).collect();
        let is_load = |node: &Node| region.kinds[*node] == Kind::Load;
        let mut loads: BinaryHeap<Reverse<Node>> = ready.iter().filter(|node| is_load(&node.0)).copied().collect();
        let mut order = Vec::with_capacity(region.kinds.len());
        while let Some(Reverse(first)) = ready.pop() {
            let mut next = Some(first);
            let mut in_cluster = 0;
            while let Some(node) = next.take() {
                region.step();
                if !waiting.take(region, node, |freed| {
                    ready.push(Reverse(freed));
                    loads.extend(Some(Reverse(freed)).filter(|_| is_load(&freed)));
                }) {
                    continue;
                }
                order.push(node);
                in_cluster += 1;
                while loads.peek().is_some_and(|load| waiting.is_done[load.0]) {
                    loads.pop();
                }
                if is_load(&first) && in_cluster < CLUSTER {
                    next = loads.peek().map(|load| load.0).filter(|load| load.index() < first.index() + WINDOW);
                }
            }
        }
        order
    }
}

/// Which nodes still wait for whom.
struct Waiting {
    waits_for: IndexVec<Node, u32>,
    is_done: IndexVec<Node, bool>,
}

impl Waiting {
    fn new(region: &Region<'_>) -> Self {
        let is_done = IndexVec::filled(false, region.kinds.len());
        Self { waits_for: region.graph.num_predecessors.clone(), is_done }
    }

    /// Those that wait for nobody.
    fn ready<'a>(&'a self, region: &'a Region<'_>) -> impl Iterator<Item = Node> + use<'a> {
        region.nodes().filter(|&node| self.waits_for[node] == 0)
    }

    /// Takes a node, and tells who waits for nobody any more; false where it was taken before.
    fn take(&mut self, region: &Region<'_>, node: Node, mut freed: impl FnMut(Node)) -> bool {
        if std::mem::replace(&mut self.is_done[node], true) {
            return false;
        }
        for &successor in region.graph.successors.of(node) {
            self.waits_for[successor] -= 1;
            if self.waits_for[successor] == 0 {
                freed(successor);
            }
        }
        true
    }
}

/// All nodes by rank, the least first, as soon as they wait for nobody. O(n log n) in the dependences.
pub(super) fn by_rank<R: Ord>(region: &Region<'_>, rank: impl Fn(Node) -> R) -> Vec<Node> {
    let mut waiting = Waiting::new(region);
    let mut ready: BinaryHeap<Reverse<(R, Node)>> =
        waiting.ready(region).map(|node| Reverse((rank(node), node))).collect();
    let mut order = Vec::with_capacity(region.kinds.len());
    while let Some(Reverse((_, node))) = ready.pop() {
        region.step();
        waiting.take(region, node, |freed| ready.push(Reverse((rank(freed), freed))));
        order.push(node);
    }
    order
}

impl Order for LatencyAware {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let source: Vec<Node> = region.nodes().collect();
        let mut list = Capped::new(region, region.peak(&source));
        let mut order = Vec::with_capacity(region.kinds.len());
        while let Some(node) = list.next() {
            list.take(node);
            order.push(node);
        }
        order
    }
}

/// Cycles from an instruction to one that reads its result.
pub(super) fn latency(region: &Region<'_>, node: Node) -> u32 {
    match (region.kinds[node], region.space(node)) {
        (Kind::Load, MemorySpace::Shared | MemorySpace::SharedCluster) => latency::SHARED_LOAD,
        (Kind::Load, MemorySpace::Constant | MemorySpace::Param) => latency::CONSTANT_LOAD,
        (Kind::Load, _) => latency::GLOBAL_LOAD,
        _ if region.is_convergent(node) => latency::EXCHANGE,
        _ => latency::ARITHMETIC,
    }
}

/// Cycles from each node to the end of the region at least.
fn heights(region: &Region<'_>) -> IndexVec<Node, u32> {
    let mut heights = IndexVec::filled(0, region.kinds.len());
    for node in region.nodes().rev() {
        let behind = region.graph.successors.of(node).iter().map(|&successor| heights[successor]).max();
        heights[node] = behind.unwrap_or(0) + latency(region, node);
    }
    heights
}

/// A list of what is ready, by height and by what it does to the live words.
struct Capped<'a> {
    region: &'a Region<'a>,
    heights: IndexVec<Node, u32>,
    waiting: Waiting,
    unread: IndexVec<Held, u32>,
    live: i32,
    cap: i32,
    tallest: BinaryHeap<(u32, Reverse<Node>)>,
    /// By the change that each had; a node whose change has become less stands here again.
    freeing: BinaryHeap<Reverse<(i32, Node)>>,
}

impl<'a> Capped<'a> {
    fn new(region: &'a Region<'a>, cap: u32) -> Self {
        let from_outside = region.values.as_slice().iter().filter(|value| value.definition.is_none());
        let mut list = Self {
            region,
            heights: heights(region),
            waiting: Waiting::new(region),
            unread: region.values.ids().map(|value| region.readers.of(value).len() as u32).collect(),
            live: from_outside.map(|value| value.words).sum::<u32>() as i32,
            cap: cap as i32,
            tallest: BinaryHeap::new(),
            freeing: BinaryHeap::new(),
        };
        let ready: Vec<Node> = list.waiting.ready(region).collect();
        ready.into_iter().for_each(|node| list.offer(node));
        list
    }

    fn offer(&mut self, node: Node) {
        self.tallest.push((self.heights[node], Reverse(node)));
        self.freeing.push(Reverse((self.change(node), node)));
    }

    /// Words that a node makes live, less those whose last reader it is. It only falls once a node is ready.
    fn change(&self, node: Node) -> i32 {
        let values = &self.region.values;
        let dies = |value: &&Held| self.unread[**value] == 1 && !values[**value].stays;
        let ends: u32 = self.region.reads.of(node).iter().filter(dies).map(|&value| values[value].words).sum();
        self.region.words_written(node) as i32 - ends as i32
    }

    fn next(&mut self) -> Option<Node> {
        while self.tallest.peek().is_some_and(|(_, node)| self.waiting.is_done[node.0]) {
            self.region.step();
            self.tallest.pop();
        }
        let tallest = self.tallest.peek()?.1.0;
        if self.live + self.change(tallest) <= self.cap {
            return Some(tallest);
        }
        while let Some(&Reverse((change, node))) = self.freeing.peek() {
            if !self.waiting.is_done[node] && change == self.change(node) {
                return Some(node);
            }
            self.region.step();
            self.freeing.pop();
        }
        Some(tallest)
    }

    fn take(&mut self, node: Node) {
        let region = self.region;
        self.live += self.change(node);
        let mut freed = Vec::new();
        self.waiting.take(region, node, |successor| freed.push(successor));
        for &value in region.reads.of(node) {
            self.unread[value] -= 1;
            if self.unread[value] == 1 {
                // Whoever reads it last frees it.
                let readers = region.readers.of(value).iter();
                freed.extend(
                    readers.filter(|&&reader| !self.waiting.is_done[reader] && self.waiting.waits_for[reader] == 0),
                );
            }
        }
        for &value in region.writes.of(node) {
            if self.unread[value] == 0 && !region.values[value].stays {
                self.live -= region.values[value].words as i32;
            }
        }
        region.step();
        freed.into_iter().for_each(|node| self.offer(node));
    }
}
