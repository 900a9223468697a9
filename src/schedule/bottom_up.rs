//! Register reduction from the end of a region to its start.
//!
//! The method is that of LLVM's `list-burr` on its selection graph. The order is built backwards. Each step takes, from
//! the nodes whose successors are all placed, the node that makes the fewest words live above it. A look-ahead of one
//! step takes the next node into account.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::late_placement::needs;
use super::region::{Region, ScheduledValue};
use crate::analysis::Node;
use crate::index::IndexVec;

/// Number of the best ready nodes that are examined with the look-ahead.
const CANDIDATES: usize = 8;

/// An order with few live words, built from the end of the region.
pub(super) struct BottomUp;

impl Order for BottomUp {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let mut list = List::new(region);
        let mut order = Vec::with_capacity(region.kinds.len());
        while let Some(node) = list.next() {
            list.take(node);
            order.push(node);
        }
        order.reverse();
        order
    }
}

/// Rank of a node; less is better. The components are the words that become live above the node, then the registers
/// that computing the node takes, then the position in the code, the later the better.
type Rank = (i32, u32, Reverse<Node>);

struct List<'a> {
    region: &'a Region<'a>,
    needs: IndexVec<Node, u32>,
    /// Whether a node below reads the value.
    is_live: IndexVec<ScheduledValue, bool>,
    /// By node: the number of successors that are not placed yet.
    waits_for: IndexVec<Node, u32>,
    is_done: IndexVec<Node, bool>,
    /// Ready nodes, each with its rank at insertion. A node whose rank has improved is inserted again.
    ready: BinaryHeap<Reverse<(Rank, Node)>>,
}

impl<'a> List<'a> {
    fn new(region: &'a Region<'a>) -> Self {
        let len = region.kinds.len();
        let mut list = List {
            region,
            needs: needs(region),
            is_live: region.values.as_slice().iter().map(|value| value.stays).collect(),
            waits_for: region.nodes().map(|node| region.graph.successors.of(node).len() as u32).collect(),
            is_done: IndexVec::filled(false, len),
            ready: BinaryHeap::new(),
        };
        for node in region.nodes().filter(|&node| list.waits_for[node] == 0).collect::<Vec<_>>() {
            list.offer(node);
        }
        list
    }

    /// Returns the words that become live above a node, minus the words that it defines. For a ready node, this value
    /// only falls.
    fn change(&self, node: Node) -> i32 {
        let words = |value: &&ScheduledValue| self.region.values[**value].words;
        let starts = self.region.reads.of(node).iter().filter(|&&value| !self.is_live[value]);
        let ends = self.region.writes.of(node).iter().filter(|&&value| self.is_live[value]);
        starts.map(|value| words(&value)).sum::<u32>() as i32 - ends.map(|value| words(&value)).sum::<u32>() as i32
    }

    fn rank(&self, node: Node) -> Rank {
        (self.change(node), self.needs[node], Reverse(node))
    }

    fn offer(&mut self, node: Node) {
        self.ready.push(Reverse((self.rank(node), node)));
    }

    /// Returns the best node with a look-ahead of one step: words that the next node frees count as much as words that
    /// the returned node frees.
    fn next(&mut self) -> Option<Node> {
        let mut candidates: Vec<(Rank, Node)> = Vec::with_capacity(CANDIDATES);
        while candidates.len() < CANDIDATES {
            let Some(Reverse((rank, node))) = self.ready.pop() else { break };
            self.region.step();
            if !self.is_done[node] && rank == self.rank(node) && !candidates.iter().any(|known| known.1 == node) {
                candidates.push((rank, node));
            }
        }
        let ahead = |&(rank, node): &(Rank, Node)| (rank.0 + self.best_behind(node).min(0), rank);
        let best = candidates.iter().min_by_key(|candidate| ahead(candidate)).map(|candidate| candidate.1);
        self.ready.extend(candidates.into_iter().filter(|candidate| Some(candidate.1) != best).map(Reverse));
        best
    }

    /// Returns the least change of the live words by a node that becomes ready after `node`; 0 if no node becomes
    /// ready.
    fn best_behind(&self, node: Node) -> i32 {
        let definitions = self.region.reads.of(node).iter().filter_map(|&value| self.region.values[value].definition);
        // Once `node` is placed, the values that it reads are live.
        let change = |definition: Node| {
            let reads = |value: &ScheduledValue| self.region.reads.of(node).contains(value);
            let ends = self.region.writes.of(definition).iter();
            let newly = ends.filter(|value| reads(value) && !self.is_live[**value]);
            self.change(definition) - newly.map(|&value| self.region.values[value].words).sum::<u32>() as i32
        };
        definitions.filter(|&from| self.waits_for[from] == 1).map(change).min().unwrap_or(0)
    }

    fn take(&mut self, node: Node) {
        let region = self.region;
        self.is_done[node] = true;
        for &value in region.writes.of(node) {
            self.is_live[value] = false;
        }
        for &value in region.reads.of(node) {
            if std::mem::replace(&mut self.is_live[value], true) {
                continue;
            }
            // The value is already live for its other readers, so their ranks improve.
            for &reader in region.readers.of(value) {
                region.step();
                if !self.is_done[reader] && self.waits_for[reader] == 0 {
                    self.offer(reader);
                }
            }
        }
        for &predecessor in region.predecessors.of(node) {
            self.waits_for[predecessor] -= 1;
            if self.waits_for[predecessor] == 0 {
                self.offer(predecessor);
            }
        }
    }
}
