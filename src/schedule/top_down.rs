//! Orders from the start of a region to its end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::live::LiveWords;
use super::region::{Kind, Region};
use crate::analysis::{Node, PendingNodes};
use crate::function::MemorySpace;
use crate::index::{EntityIndex, IndexVec};
use crate::target::machine::latency;

/// An order that places the node with the longest path to the end first, unless more words would be live than the
/// highest number in the order of the code. In that case, it places the node that frees the most words.
pub(super) struct LatencyAware;

/// An order that places ready loads one after the other.
pub(super) struct LoadsClustered;

/// Most loads in a cluster.
const CLUSTER: usize = 16;

/// Distance from the first load of a cluster, in instructions of the original order, within which other loads may join
/// the cluster.
const WINDOW: usize = 64;

impl Order for LoadsClustered {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let mut pending = PendingNodes::new(&region.graph);
        let mut ready: BinaryHeap<Reverse<Node>> = pending.ready().map(Reverse).collect();
        let is_load = |node: &Node| region.kinds[*node] == Kind::Load;
        let mut loads: BinaryHeap<Reverse<Node>> = ready.iter().filter(|node| is_load(&node.0)).copied().collect();
        let mut order = Vec::with_capacity(region.kinds.len());
        while let Some(Reverse(first)) = ready.pop() {
            let mut next = Some(first);
            let mut in_cluster = 0;
            while let Some(node) = next.take() {
                region.step();
                if !pending.take(&region.graph, node, |freed| {
                    ready.push(Reverse(freed));
                    loads.extend(Some(Reverse(freed)).filter(|_| is_load(&freed)));
                }) {
                    continue;
                }
                order.push(node);
                in_cluster += 1;
                while loads.peek().is_some_and(|load| pending.is_taken(load.0)) {
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

impl Order for LatencyAware {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let mut list = PressureCapped::new(region, LiveWords::peak(region, region.nodes()));
        let mut order = Vec::with_capacity(region.kinds.len());
        while let Some(node) = list.next() {
            list.take(node);
            order.push(node);
        }
        order
    }
}

/// Returns the cycles between the issue of an instruction and the availability of its result.
pub(super) fn latency(region: &Region<'_>, node: Node) -> u32 {
    match (region.kinds[node], region.space(node)) {
        (Kind::Load, MemorySpace::Shared | MemorySpace::SharedCluster) => latency::SHARED_LOAD,
        (Kind::Load, MemorySpace::Constant | MemorySpace::Param) => latency::CONSTANT_LOAD,
        (Kind::Load, _) => latency::GLOBAL_LOAD,
        _ if region.is_convergent(node) => latency::EXCHANGE,
        _ => latency::ARITHMETIC,
    }
}

/// Returns the least number of cycles from each node to the end of the region.
fn heights(region: &Region<'_>) -> IndexVec<Node, u32> {
    let mut heights = IndexVec::filled(0, region.kinds.len());
    for node in region.nodes().rev() {
        let behind = region.graph.successors.of(node).iter().map(|&successor| heights[successor]).max();
        heights[node] = behind.unwrap_or(0) + latency(region, node);
    }
    heights
}

/// The ready nodes, by height and by the change of the live words.
struct PressureCapped<'a> {
    region: &'a Region<'a>,
    heights: IndexVec<Node, u32>,
    pending: PendingNodes,
    live: LiveWords<'a>,
    cap: i32,
    tallest: BinaryHeap<(u32, Reverse<Node>)>,
    /// Ready nodes, each with its change at insertion. A node whose change has decreased is inserted again.
    freeing: BinaryHeap<Reverse<(i32, Node)>>,
}

impl<'a> PressureCapped<'a> {
    fn new(region: &'a Region<'a>, cap: i32) -> Self {
        let mut list = Self {
            region,
            heights: heights(region),
            pending: PendingNodes::new(&region.graph),
            live: LiveWords::new(region),
            cap,
            tallest: BinaryHeap::new(),
            freeing: BinaryHeap::new(),
        };
        let ready: Vec<Node> = list.pending.ready().collect();
        ready.into_iter().for_each(|node| list.offer(node));
        list
    }

    fn offer(&mut self, node: Node) {
        self.tallest.push((self.heights[node], Reverse(node)));
        self.freeing.push(Reverse((self.live.change(node, None), node)));
    }

    fn next(&mut self) -> Option<Node> {
        while self.tallest.peek().is_some_and(|(_, node)| self.pending.is_taken(node.0)) {
            self.region.step();
            self.tallest.pop();
        }
        let tallest = self.tallest.peek()?.1.0;
        if self.live.words + self.live.change(tallest, None) <= self.cap {
            return Some(tallest);
        }
        while let Some(&Reverse((change, node))) = self.freeing.peek() {
            if !self.pending.is_taken(node) && change == self.live.change(node, None) {
                return Some(node);
            }
            self.region.step();
            self.freeing.pop();
        }
        Some(tallest)
    }

    fn take(&mut self, node: Node) {
        let region = self.region;
        let mut freed = Vec::new();
        self.pending.take(&self.region.graph, node, |successor| freed.push(successor));
        let pending = &self.pending;
        let is_ready = |reader: Node| pending.is_ready(reader);
        // If a value has only one reader left, that reader frees the value's words, so its change decreases.
        self.live.place(node, |reader| freed.extend(Some(reader).filter(|&reader| is_ready(reader))));
        region.step();
        freed.into_iter().for_each(|node| self.offer(node));
    }
}
