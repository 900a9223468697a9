//! Build: the interference graph, with all data that the phases share.

use std::cell::LazyCell;
use std::collections::VecDeque;

use super::super::indexed_heap::{IndexedHeap, Ordered};
use super::super::interference_graph::InterferenceGraph;
use super::super::partners::Partners;
use super::super::preset::Coalescing;
use super::super::problem::{Class, File, LiveRange, Problem};
use crate::define_index;
use crate::index::IndexVec;

define_index! {
    /// A copy as an object of coalescing.
    Move, "move"
}

/// State of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The node has a fixed place and stays in the graph.
    Fixed,
    /// The node is in the graph, on one of the worklists.
    Present,
    /// The node is on the stack, to be coloured.
    Removed,
    /// Another node represents it.
    Merged,
}

/// State of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoveState {
    /// The copy is to be tried.
    Waiting,
    /// The copy was tried without success. It is tried again if a neighbouring node changes.
    Tried,
    /// The copy is merged, impossible, or given up.
    Done,
}

/// A copy between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveData {
    pub(super) to: LiveRange,
    pub(super) from: LiveRange,
    pub(super) state: MoveState,
}

/// The interference graph during colouring, which removes and merges nodes.
pub(super) struct Coloring<'a> {
    pub(super) problem: &'a Problem,
    pub(super) rules: &'a Coalescing,
    graph: InterferenceGraph,
    /// Units of each file that count as available: the register limit, or without a limit the most units that are live
    /// at once.
    pub(super) available: IndexVec<File, u32>,
    /// Number of places of each class in these units, for tests of degrees.
    pub(super) places: IndexVec<Class, u32>,
    pub(super) class: IndexVec<LiveRange, Class>,
    pub(super) cost: IndexVec<LiveRange, f32>,
    pub(super) state: IndexVec<LiveRange, State>,
    /// Number of places that a node's neighbours in the graph can take away from it.
    pub(super) degree: IndexVec<LiveRange, u32>,
    alias: IndexVec<LiveRange, LiveRange>,
    /// Live ranges that a node represents, as a ring.
    next_member: IndexVec<LiveRange, LiveRange>,
    pub(super) moves: IndexVec<Move, MoveData>,
    /// Copies of each member.
    moves_of: Vec<Vec<Move>>,
    /// The other members of each live range's rows, if the problem has tuples.
    pub(super) lanes: Option<Partners<'a>>,
    /// Number of a node's copies that are not done.
    pub(super) open_moves: IndexVec<LiveRange, u32>,

    /// Nodes that have no copies and are sure to find a place, least degree first.
    pub(super) simplify: IndexedHeap<(u32, LiveRange)>,
    /// Copies to try, most frequent first.
    pub(super) coalesce: VecDeque<Move>,
    /// Nodes that have copies and are sure to find a place, in order of arrival.
    pub(super) freeze: VecDeque<LiveRange>,
    /// All other nodes, in the order of their cost for each place that they would free, least first.
    pub(super) spill: IndexedHeap<(Ordered, u32, LiveRange)>,
    /// Nodes in the order in which they left the graph.
    pub(super) stack: Vec<LiveRange>,
    pub(super) merged: u64,
    /// A mark for each node, for loops over neighbours. A mark is set if it equals `stamp`.
    marks: IndexVec<LiveRange, u32>,
    stamp: u32,
    /// A set of nodes. A node is in the set if its entry equals `chosen_stamp`.
    chosen: IndexVec<LiveRange, u32>,
    chosen_stamp: u32,
}

impl<'a> Coloring<'a> {
    /// Builds the graph of a problem and puts every node on its worklist.
    pub(super) fn build(problem: &'a Problem, rules: &'a Coalescing) -> Self {
        let ranges = problem.ranges();
        // The peaks need a pass over all segments. They are computed only if a file has no register limit.
        let peaks = LazyCell::new(|| problem.peaks());
        let available: IndexVec<File, u32> = problem
            .files()
            .iter_enumerated()
            .map(|(file, data)| data.register_limit.unwrap_or_else(|| peaks[file]))
            .collect();
        let classes = problem.classes();
        let places = classes.ids().map(|class| {
            let file = classes[class].file;
            let limit = rules.degree_limit.map(|limit| limit.saturating_mul(problem.files()[file].units_per_register));
            classes.places(class, available[file].min(limit.unwrap_or(u32::MAX)))
        });
        let places = places.collect();
        let state = |fixed: Option<u32>| if fixed.is_some() { State::Fixed } else { State::Present };
        let mut this = Self {
            problem,
            rules,
            graph: InterferenceGraph::new(problem),
            available,
            places,
            class: ranges.iter().map(|range| range.class).collect(),
            cost: ranges.iter().map(|range| range.spill_cost).collect(),
            state: ranges.iter().map(|range| state(range.fixed)).collect(),
            degree: IndexVec::filled(0, ranges.len()),
            alias: ranges.ids().collect(),
            next_member: ranges.ids().collect(),
            moves: IndexVec::new(),
            moves_of: Vec::new(),
            lanes: (!problem.lanes().is_empty()).then(|| Partners::of_lanes(problem)),
            open_moves: IndexVec::filled(0, ranges.len()),
            simplify: IndexedHeap::new(ranges.len()),
            coalesce: VecDeque::new(),
            freeze: VecDeque::new(),
            spill: IndexedHeap::new(ranges.len()),
            stack: Vec::with_capacity(ranges.len()),
            merged: 0,
            marks: IndexVec::filled(0, ranges.len()),
            stamp: 0,
            chosen: IndexVec::filled(0, ranges.len()),
            chosen_stamp: 0,
        };
        this.count_degrees();
        this.collect_moves();
        for range in ranges.ids() {
            if this.state[range] == State::Present {
                this.put_on_worklist(range);
            }
        }
        this
    }

    fn count_degrees(&mut self) {
        let classes = self.problem.classes();
        for range in self.problem.ranges().ids() {
            let class = self.class[range];
            let taken = self.graph.neighbours(range).iter().map(|&other| classes.taken(class, self.class[other]));
            self.degree[range] = taken.sum();
        }
    }

    fn collect_moves(&mut self) {
        let mut copies: Vec<_> = self.problem.copies().iter().filter(|copy| copy.to != copy.from).collect();
        copies.sort_by(|a, b| b.frequency.total_cmp(&a.frequency));
        let links = self.problem.links();
        if !copies.is_empty() || !links.is_empty() {
            self.moves_of.resize(self.problem.ranges().len(), Vec::new());
        }
        for copy in copies {
            let id = self.moves.push(MoveData { to: copy.to, from: copy.from, state: MoveState::Waiting });
            self.coalesce.push_back(id);
            for side in [copy.to, copy.from] {
                self.moves_of[side.0 as usize].push(id);
                self.open_moves[side] += 1;
            }
        }
        // The parts of a split register are not merged: merged parts would be spilled together, and the split would be
        // lost. Each part only prefers the places of the other parts.
        let mut links: Vec<_> = links.iter().filter(|link| link.to != link.from).collect();
        links.sort_by(|a, b| b.frequency.total_cmp(&a.frequency));
        for link in links {
            let id = self.moves.push(MoveData { to: link.to, from: link.from, state: MoveState::Done });
            for side in [link.to, link.from] {
                self.moves_of[side.0 as usize].push(id);
            }
        }
    }

    /// Returns the graph as it was before any merge, for statistics.
    pub(super) fn graph(&self) -> &InterferenceGraph {
        &self.graph
    }

    /// Returns the node that represents a live range.
    #[inline]
    pub(super) fn find(&self, range: LiveRange) -> LiveRange {
        let mut node = range;
        while self.alias[node] != node {
            node = self.alias[node];
        }
        node
    }

    /// Whether a node is sure to find a place.
    #[inline]
    pub(super) fn is_low(&self, node: LiveRange) -> bool {
        self.degree[node] < self.places[self.class[node]]
    }

    /// Returns the live ranges that a node represents.
    pub(super) fn members(&self, node: LiveRange) -> impl Iterator<Item = LiveRange> + '_ {
        let mut next = Some(node);
        std::iter::from_fn(move || {
            let member = next?;
            next = Some(self.next_member[member]).filter(|&after| after != node);
            Some(member)
        })
    }

    /// Lets `node` represent the members of `other`.
    pub(super) fn join_members(&mut self, node: LiveRange, other: LiveRange) {
        self.alias[other] = node;
        let after = self.next_member[node];
        self.next_member[node] = self.next_member[other];
        self.next_member[other] = after;
    }

    /// Writes the neighbours of a node to `out`, each once. Neighbours on the stack are included only if `with_removed`
    /// is set.
    pub(super) fn collect_neighbours(&mut self, node: LiveRange, with_removed: bool, out: &mut Vec<LiveRange>) {
        out.clear();
        self.stamp += 1;
        let mut member = node;
        loop {
            for &range in self.graph.neighbours(member) {
                let neighbour = self.find(range);
                let is_wanted = with_removed || self.state[neighbour] != State::Removed;
                if is_wanted && std::mem::replace(&mut self.marks[neighbour], self.stamp) != self.stamp {
                    out.push(neighbour);
                }
            }
            member = self.next_member[member];
            if member == node {
                return;
            }
        }
    }

    /// Replaces the set that [`is_chosen`](Self::is_chosen) tests by these nodes.
    pub(super) fn choose(&mut self, nodes: &[LiveRange]) {
        self.chosen_stamp += 1;
        for &node in nodes {
            self.chosen[node] = self.chosen_stamp;
        }
    }

    #[inline]
    pub(super) fn is_chosen(&self, node: LiveRange) -> bool {
        self.chosen[node] == self.chosen_stamp
    }

    /// Returns the copies of a node in any state, each at least once.
    pub(super) fn all_moves_of(&self, node: LiveRange) -> impl Iterator<Item = Move> + '_ {
        let members = self.members(node).filter(|_| !self.moves_of.is_empty());
        members.flat_map(|member| self.moves_of[member.0 as usize].iter().copied())
    }

    /// Returns the copies of a node that are not done, each at least once.
    pub(super) fn moves_of(&self, node: LiveRange) -> impl Iterator<Item = Move> + '_ {
        self.all_moves_of(node).filter(|&id| self.moves[id].state != MoveState::Done)
    }

    /// Whether a node still has copies that may be merged.
    #[inline]
    pub(super) fn is_move_related(&self, node: LiveRange) -> bool {
        self.open_moves[node] > 0
    }

    /// Puts a node on the worklist that fits its state.
    pub(super) fn put_on_worklist(&mut self, node: LiveRange) {
        if !self.is_low(node) {
            let key = self.spill_key(node);
            self.spill.insert(node, key);
        } else if self.is_move_related(node) {
            self.freeze.push_back(node);
        } else {
            self.simplify.insert(node, (self.degree[node], node));
        }
    }

    /// Moves a node to another worklist if its degree or its copies have changed.
    pub(super) fn refresh(&mut self, node: LiveRange) {
        if self.spill.contains(node) {
            if self.is_low(node) {
                self.spill.remove(node);
                self.put_on_worklist(node);
            }
        } else if self.simplify.contains(node) {
            self.simplify.insert(node, (self.degree[node], node));
        }
    }
}
