//! Register reduction from the end of a region to its start.
//!
//! As LLVM's `list-burr` does on its selection graph: of the nodes that nobody still has to come behind, the one goes
//! last that makes the fewest words live above it. A look-ahead of one step sees what then can follow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::late_placement::needs;
use super::region::{Region, ScheduledValue};
use crate::analysis::Node;
use crate::index::IndexVec;

/// How many of the best are looked at closely.
const CANDIDATES: usize = 8;

/// The fewest live words, from the end.
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

/// What a node changes, the better the less: words that get live above it, then what it takes to compute it, then the
/// later in the code.
type Rank = (i32, u32, Reverse<Node>);

struct List<'a> {
    region: &'a Region<'a>,
    needs: IndexVec<Node, u32>,
    /// What is read below.
    is_live: IndexVec<ScheduledValue, bool>,
    /// How many must still come behind a node.
    waits_for: IndexVec<Node, u32>,
    is_done: IndexVec<Node, bool>,
    /// Ready, with the rank that each had; a node whose rank has become better stands here again.
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

    /// Words that get live above a node, less those that it defines. It only falls once a node is ready.
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

    /// The best, looking one step ahead: what frees words next is worth as much as what frees them now.
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

    /// The least change of a node that can go once `node` has; 0 where there is none.
    fn best_behind(&self, node: Node) -> i32 {
        let definitions = self.region.reads.of(node).iter().filter_map(|&value| self.region.values[value].definition);
        // What the node reads is live then.
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
            // Those that read it too make it live no more.
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
