//! A list scheduler that cares about registers alone.
//!
//! Whatever frees at least as many words as it takes goes first; of the others the one that is wanted soonest, in the
//! order of the code, where each is as late as its readers allow. Readers that leave less live than they found, and
//! have to themselves what they read, want that as soon as it can be there: LLVM sinks them to the ends of loops, far
//! behind their operands, and ptxas brings them back. Where everything ends in the same sums all are wanted at once; the
//! other order, that of the code with loads in front of their readers, is for these.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::dependences::Dependences;
use super::{Input, LiveWords, WordState};
use crate::analysis::{DependenceGraph, Node, PendingNodes};
use crate::forecast::footprint::opcode_facts::Motion;
use crate::forecast::footprint::words::Word;
use crate::index::{EntityIndex, IndexVec};

/// What goes first of what frees nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// What is wanted soonest, where each is as late as its readers allow.
    ByDeadlines,
    /// The order of the code, but for loads and what has one operand, which stand in front of their first readers.
    ByReaders,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
struct NodeState {
    /// Where it is wanted at the latest.
    deadline: Node,
    /// Behind which node its operands are there, if they come as soon as they can.
    ready: Node,
    /// It writes fewer words than it alone reads.
    is_join: bool,
    /// Words start anew here.
    has_restarts: bool,
}

/// Where a word is written that holds nothing: what it held before is read for the last time in front of that.
#[derive(Clone, Copy, Debug)]
struct Restart {
    node: Node,
    word: Word,
    /// How many read it from there on, up to the next.
    unread: u32,
    /// It is read behind the region, or in the loop's next turn.
    stays: bool,
}

/// The nodes that are ready, and what that depends on: memory for one region after another.
#[derive(Debug, Default)]
pub(super) struct Queues {
    nodes: IndexVec<Node, NodeState>,
    pending: PendingNodes,
    /// The nodes that the node taken last made ready.
    became_ready: Vec<Node>,
    /// Who reads a word, and the reader before in the word's list, one up.
    readers: Vec<(Node, u32)>,
    /// In the order of the code.
    restarts: Vec<Restart>,
    /// Ready, soonest deadline first.
    ready: BinaryHeap<Reverse<(Node, Node)>>,
    /// Ready, and free at least as many words as they take when they are put here; that is checked again.
    freeing: BinaryHeap<Reverse<Node>>,
}

impl Queues {
    /// Nothing is ready.
    fn reset(
        &mut self,
        input: &Input<'_>,
        dependences: &Dependences,
        states: &mut IndexVec<Word, WordState>,
        order: Order,
    ) {
        self.nodes.clear();
        self.pending.reset(&dependences.graph);
        let state = |node| NodeState { deadline: node, ready: Node::new(0), is_join: false, has_restarts: false };
        self.nodes.extend(dependences.graph.nodes().map(state));
        self.find_restarts(dependences, states);
        self.find_readers(dependences, states);
        match order {
            Order::ByDeadlines => {
                self.find_joins(input, dependences, states);
                self.find_deadlines(input, dependences);
            }
            Order::ByReaders => self.find_places_of_readers(input, dependences),
        }
        self.ready.clear();
        self.freeing.clear();
    }

    /// The nodes that leave less live than they find, and for all when their operands are there, in the order of the
    /// code but for such nodes, which stand directly behind their operands.
    fn find_joins(&mut self, input: &Input<'_>, dependences: &Dependences, states: &IndexVec<Word, WordState>) {
        let Dependences { graph, reads, writes, .. } = dependences;
        for node in dependences.nodes() {
            let is_own = |word: &&Word| states[**word].unread == 1 && !states[**word].stays;
            let is_new = |word: &&Word| !reads.of(node).contains(*word);
            let is_join = input.footprint.behaviours.motion(dependences.inst(node)) == Motion::Free
                && reads.of(node).iter().filter(is_own).count() > writes.of(node).iter().filter(is_new).count();
            self.nodes[node].is_join = is_join;
            let place = if is_join { self.nodes[node].ready } else { node };
            for &successor in graph.successors.of(node) {
                let ready = &mut self.nodes[successor].ready;
                *ready = place.max(*ready);
            }
        }
    }

    /// As late as its readers allow for what may move, its own place for what may not.
    fn find_deadlines(&mut self, input: &Input<'_>, dependences: &Dependences) {
        let DependenceGraph { successors, .. } = &dependences.graph;
        let end = self.nodes.next_id();
        for node in dependences.nodes().rev() {
            if self.nodes[node].is_join {
                self.nodes[node].deadline = self.nodes[node].ready;
            } else if moves(input, dependences, node) {
                let soonest = successors.of(node).iter().map(|&successor| self.nodes[successor].deadline).min();
                self.nodes[node].deadline = soonest.unwrap_or(end).max(node);
            }
        }
    }

    /// In front of their first readers for loads and what has one operand, its own place for all else.
    fn find_places_of_readers(&mut self, input: &Input<'_>, dependences: &Dependences) {
        for node in dependences.nodes().rev() {
            let is_sunk = moves(input, dependences, node)
                && (dependences.reads.of(node).len() < 2
                    || input.footprint.behaviours.motion(dependences.inst(node)) == Motion::Load);
            if is_sunk {
                let successors = dependences.graph.successors.of(node).iter();
                let readers = successors.clone().filter(|&&successor| moves(input, dependences, successor));
                let first = readers.map(|&reader| self.nodes[reader].deadline).min();
                let first = first.or_else(|| successors.map(|&successor| self.nodes[successor].deadline).min());
                self.nodes[node].deadline = first.unwrap_or(node);
            }
        }
    }

    /// Where words start anew: only what they hold last stays.
    fn find_restarts(&mut self, dependences: &Dependences, states: &mut IndexVec<Word, WordState>) {
        let start = |&(node, word): &(Node, Word)| {
            let stays = std::mem::take(&mut states[word].stays);
            Restart { node, word, unread: 0, stays }
        };
        // From the last on: the first that asks takes what stays.
        self.restarts.clear();
        self.restarts.extend(dependences.restarts.iter().rev().map(start));
        self.restarts.reverse();
        for restart in &self.restarts {
            self.nodes[restart.node].has_restarts = true;
        }
    }

    /// The lists of readers, which the words' states point into, and how many there are up to each restart.
    fn find_readers(&mut self, dependences: &Dependences, states: &mut IndexVec<Word, WordState>) {
        self.readers.clear();
        for node in dependences.nodes() {
            for &word in dependences.reads.of(node) {
                let state = &mut states[word];
                self.readers.push((node, state.readers));
                state.readers = self.readers.len() as u32;
                match state.restart {
                    0 => state.unread += 1,
                    restart => self.restarts[restart as usize - 1].unread += 1,
                }
            }
            if self.nodes[node].has_restarts {
                for at in self.restarts_of(node) {
                    states[self.restarts[at].word].restart = at as u32 + 1;
                }
            }
        }
    }

    /// Which restarts are a node's.
    fn restarts_of(&self, node: Node) -> Range<usize> {
        let first = self.restarts.partition_point(|restart| restart.node < node);
        let behind = self.restarts[first..].iter().take_while(|restart| restart.node == node).count();
        first..first + behind
    }
}

/// Whether a node may stand elsewhere, between what it reads and who reads it.
fn moves(input: &Input<'_>, dependences: &Dependences, node: Node) -> bool {
    matches!(input.footprint.behaviours.motion(dependences.inst(node)), Motion::Free | Motion::Load)
}

struct List<'a> {
    dependences: &'a Dependences,
    states: &'a mut IndexVec<Word, WordState>,
    queues: &'a mut Queues,
    live: LiveWords,
    most: LiveWords,
    uniform: &'a IndexVec<Word, bool>,
}

/// Schedules a region and says what was live at most, or only that as much as is `wanted` was. `live` is what comes in;
/// `states` are those of the region's words at its start.
pub(super) fn schedule(
    input: &Input<'_>,
    dependences: &Dependences,
    live: LiveWords,
    states: &mut IndexVec<Word, WordState>,
    queues: &mut Queues,
    wanted: LiveWords,
    order: Order,
) -> LiveWords {
    queues.reset(input, dependences, states, order);
    let mut list = List { dependences, states, queues, live, most: live, uniform: input.pressures.uniform() };
    for node in dependences.nodes() {
        if list.queues.pending.is_ready(node) {
            list.offer(node);
        }
    }
    while let Some(node) = list.next() {
        list.take(node);
        if list.most.covers(wanted) {
            return list.most;
        }
    }
    debug_assert!(list.queues.pending.is_empty(), "dependences go forward: nothing waits for ever");
    list.most
}

impl List<'_> {
    fn offer(&mut self, node: Node) {
        self.queues.ready.push(Reverse((self.queues.nodes[node].deadline, node)));
        self.offer_if_freeing(node);
    }

    fn offer_if_freeing(&mut self, node: Node) {
        if self.frees(node) {
            self.queues.freeing.push(Reverse(node));
        }
    }

    /// Whether at least as many words die at a node as start there.
    fn frees(&self, node: Node) -> bool {
        let dies = |word: &&Word| self.states[**word].unread == 1 && !self.states[**word].stays;
        let starts = |word: &&Word| !self.states[**word].is_live;
        let Dependences { reads, writes, .. } = self.dependences;
        writes.of(node).iter().filter(starts).count() <= reads.of(node).iter().filter(dies).count()
    }

    fn next(&mut self) -> Option<Node> {
        while let Some(Reverse(node)) = self.queues.freeing.pop() {
            if !self.queues.pending.is_taken(node) && self.frees(node) {
                return Some(node);
            }
        }
        while let Some(Reverse((_, node))) = self.queues.ready.pop() {
            if !self.queues.pending.is_taken(node) {
                return Some(node);
            }
        }
        None
    }

    fn take(&mut self, node: Node) {
        let Dependences { reads, graph, writes, .. } = self.dependences;
        self.queues.became_ready.clear();
        let Queues { pending, became_ready, .. } = &mut *self.queues;
        pending.take(graph, node, |successor| became_ready.push(successor));
        for &word in reads.of(node) {
            self.states[word].unread -= 1;
            let state = self.states[word];
            if state.unread == 0 && !state.stays && state.is_live {
                self.states[word].is_live = false;
                self.count(word, -1);
            }
        }
        if self.queues.nodes[node].has_restarts {
            for &Restart { word, unread, stays, .. } in &self.queues.restarts[self.queues.restarts_of(node)] {
                self.states[word] = WordState { unread, stays, ..self.states[word] };
            }
        }
        // What nobody reads is gone at once.
        let mut dead = LiveWords::default();
        for &word in writes.of(node) {
            let state = self.states[word];
            if state.is_live {
                continue;
            }
            self.count(word, 1);
            if state.unread > 0 || state.stays {
                self.states[word].is_live = true;
            } else {
                dead.all += 1;
                dead.varying += u32::from(!self.uniform[word]);
            }
        }
        self.most.all = self.most.all.max(self.live.all);
        self.most.varying = self.most.varying.max(self.live.varying);
        self.live.all -= dead.all;
        self.live.varying -= dead.varying;
        for at in 0..self.queues.became_ready.len() {
            self.offer(self.queues.became_ready[at]);
        }
        // Whoever reads a word for the last time may free it now.
        for &word in reads.of(node) {
            let WordState { unread, mut readers, .. } = self.states[word];
            if unread != 1 {
                continue;
            }
            while let Some(&(reader, before)) = self.queues.readers.get((readers as usize).wrapping_sub(1)) {
                if self.queues.pending.is_ready(reader) {
                    self.offer_if_freeing(reader);
                }
                readers = before;
            }
        }
    }

    fn count(&mut self, word: Word, by: i32) {
        self.live.all = self.live.all.wrapping_add_signed(by);
        if !self.uniform[word] {
            self.live.varying = self.live.varying.wrapping_add_signed(by);
        }
    }
}
