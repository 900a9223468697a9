//! A list scheduler that minimises registers alone.
//!
//! An instruction that frees at least as many words as it takes goes first. Among the others, the instruction with the
//! soonest deadline goes first. Deadlines follow the order of the code, and each is as late as the instruction's
//! readers allow. An instruction that leaves fewer words live than before, and is the only reader of its operands, is
//! due as soon as its operands are available: LLVM sinks such instructions to the ends of loops, far after their
//! operands, and ptxas brings them back.
//!
//! If all values end in the same sums, all instructions are due at once. A second order serves these regions: the order
//! of the code with loads directly before their readers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::dependences::Dependences;
use super::{Input, LiveWords, WordState};
use crate::analysis::{DependenceGraph, Node, PendingNodes};
use crate::forecast::footprint::opcode_facts::Motion;
use crate::forecast::footprint::words::Word;
use crate::index::{EntityIndex, IndexVec};

/// Order of the instructions that free no words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// By deadline: each instruction is as late as its readers allow.
    ByDeadlines,
    /// Order of the code. Loads and instructions with one operand are placed before their first readers.
    ByReaders,
}

/// State of a node.
#[derive(Clone, Copy, Debug)]
struct NodeState {
    /// Latest place at which the node is needed.
    deadline: Node,
    /// Earliest node after which the operands are available.
    ready: Node,
    /// Whether the node writes fewer words than it reads as their only reader.
    is_join: bool,
    /// Whether words restart at this node.
    has_restarts: bool,
}

/// A write to a word after the last read of the word's previous value.
#[derive(Clone, Copy, Debug)]
struct Restart {
    node: Node,
    word: Word,
    /// Number of reads from this restart up to the word's next restart.
    unread: u32,
    /// Whether the word is read after the region, or in the loop's next iteration.
    stays: bool,
}

/// Ready nodes, and the data that decide their order. The memory is reused for the next region.
#[derive(Debug, Default)]
pub(super) struct Queues {
    nodes: IndexVec<Node, NodeState>,
    pending: PendingNodes,
    /// Nodes that the last scheduled node made ready.
    became_ready: Vec<Node>,
    /// Readers of the words. Each entry has the index plus one of the previous reader in its word's list.
    readers: Vec<(Node, u32)>,
    /// In the order of the code.
    restarts: Vec<Restart>,
    /// Ready nodes; the soonest deadline comes first.
    ready: BinaryHeap<Reverse<(Node, Node)>>,
    /// Ready nodes that free at least as many words as they take when they are inserted. The condition is checked again
    /// on removal.
    freeing: BinaryHeap<Reverse<Node>>,
}

impl Queues {
    /// Prepares the queues for a region. No node is ready.
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

    /// Finds the nodes that leave fewer words live than before, and the places at which the operands of each node are
    /// available. In this order, the nodes found follow directly after their operands, and all other nodes are in the
    /// order of the code.
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

    /// Computes deadlines: as late as the readers allow for nodes that may move, and the node's own place for others.
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

    /// Places loads and nodes with one operand before their first readers. Others keep their own places.
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

    /// Finds the restarts of words. Only the last value of a word may be read after the region.
    fn find_restarts(&mut self, dependences: &Dependences, states: &mut IndexVec<Word, WordState>) {
        let start = |&(node, word): &(Node, Word)| {
            let stays = std::mem::take(&mut states[word].stays);
            Restart { node, word, unread: 0, stays }
        };
        // Backward, so that the last restart of a word takes `stays`.
        self.restarts.clear();
        self.restarts.extend(dependences.restarts.iter().rev().map(start));
        self.restarts.reverse();
        for restart in &self.restarts {
            self.nodes[restart.node].has_restarts = true;
        }
    }

    /// Builds the lists of readers, to which the words' states point, and counts the readers up to each restart.
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

    /// Returns the range of a node's restarts.
    fn restarts_of(&self, node: Node) -> Range<usize> {
        let first = self.restarts.partition_point(|restart| restart.node < node);
        let behind = self.restarts[first..].iter().take_while(|restart| restart.node == node).count();
        first..first + behind
    }
}

/// Whether a node may be placed elsewhere between its operands and its readers.
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

/// Schedules a region and returns its highest pressure. Stops as soon as the pressure reaches `wanted`, with a result
/// of at least `wanted`. `live` are the words that are live at the start; `states` are the states of the region's words
/// there.
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
        // Results that are not read die at once.
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
        // The last reader of a word may free it.
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
