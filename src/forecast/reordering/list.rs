//! A list scheduler that cares about registers alone.
//!
//! Whatever frees at least as many words as it takes goes first; of the others the one that is wanted soonest, in the
//! order of the code, where each is as late as its readers allow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dependences::Dependences;
use super::{Input, Reached, WordState};
use crate::analysis::Node;
use crate::forecast::behaviour::Motion;
use crate::forecast::words::Word;
use crate::index::{EntityIndex, IndexVec};

struct List<'a> {
    input: &'a Input<'a>,
    dependences: &'a Dependences,
    states: &'a mut IndexVec<Word, WordState>,
    /// Where each node is wanted at the latest.
    deadlines: IndexVec<Node, Node>,
    waits_for: IndexVec<Node, u32>,
    is_done: IndexVec<Node, bool>,
    /// Ready, soonest deadline first.
    ready: BinaryHeap<Reverse<(Node, Node)>>,
    /// Ready, and free at least as many words as they take when they are put here; that is checked again.
    freeing: BinaryHeap<Reverse<Node>>,
    live: Reached,
    most: Reached,
}

/// Schedules a region and says what was live at most. `words` are those live in it, with their states at its start.
pub(super) fn schedule(
    input: &Input<'_>,
    dependences: &Dependences,
    words: &[Word],
    states: &mut IndexVec<Word, WordState>,
) -> Reached {
    for node in dependences.nodes() {
        dependences.reads.of(node).iter().for_each(|&word| states[word].unread += 1);
    }
    let mut readers: Vec<(Word, Node)> =
        dependences.nodes().flat_map(|node| dependences.reads.of(node).iter().map(move |&word| (word, node))).collect();
    readers.sort_unstable();
    let len = dependences.graph.num_predecessors.len();
    let mut list = List {
        input,
        dependences,
        states,
        deadlines: deadlines(input, dependences),
        waits_for: dependences.graph.num_predecessors.clone(),
        is_done: IndexVec::filled(false, len),
        ready: BinaryHeap::new(),
        freeing: BinaryHeap::new(),
        live: Reached::default(),
        most: Reached::default(),
    };
    for &word in words {
        if list.states[word].is_live {
            list.count(word, 1);
        }
    }
    list.most = list.live;
    for node in dependences.nodes().filter(|&node| dependences.graph.num_predecessors[node] == 0) {
        list.offer(node);
    }
    while let Some(node) = list.next() {
        list.take(node, &readers);
    }
    debug_assert!(list.is_done.iter().all(|&is_done| is_done), "dependences go forward: nothing waits for ever");
    list.most
}

/// As late as its readers allow for what may move, its own place for what may not.
fn deadlines(input: &Input<'_>, dependences: &Dependences) -> IndexVec<Node, Node> {
    let mut deadlines: IndexVec<Node, Node> = dependences.nodes().collect();
    for node in dependences.nodes().rev() {
        if matches!(input.behaviours.motion(dependences.inst(node)), Motion::Free | Motion::Load) {
            let soonest = dependences.graph.successors.of(node).iter().map(|&successor| deadlines[successor]).min();
            deadlines[node] = soonest.unwrap_or(Node::new(deadlines.len())).max(node);
        }
    }
    deadlines
}

impl List<'_> {
    fn offer(&mut self, node: Node) {
        self.ready.push(Reverse((self.deadlines[node], node)));
        self.offer_if_freeing(node);
    }

    fn offer_if_freeing(&mut self, node: Node) {
        if self.frees(node) {
            self.freeing.push(Reverse(node));
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
        while let Some(Reverse(node)) = self.freeing.pop() {
            if !self.is_done[node] && self.frees(node) {
                return Some(node);
            }
        }
        while let Some(Reverse((_, node))) = self.ready.pop() {
            if !self.is_done[node] {
                return Some(node);
            }
        }
        None
    }

    fn take(&mut self, node: Node, readers: &[(Word, Node)]) {
        let Dependences { reads, graph, writes, .. } = self.dependences;
        self.is_done[node] = true;
        let mut last_reads = Vec::new();
        for &word in reads.of(node) {
            self.states[word].unread -= 1;
            let state = self.states[word];
            if state.unread == 0 && !state.stays && state.is_live {
                self.states[word].is_live = false;
                self.count(word, -1);
            } else if state.unread == 1 {
                last_reads.push(word);
            }
        }
        let mut dead = Vec::new();
        for &word in writes.of(node) {
            if self.states[word].is_live {
                continue;
            }
            self.count(word, 1);
            if self.states[word].unread > 0 || self.states[word].stays {
                self.states[word].is_live = true;
            } else {
                dead.push(word);
            }
        }
        self.most.all = self.most.all.max(self.live.all);
        self.most.varying = self.most.varying.max(self.live.varying);
        dead.into_iter().for_each(|word| self.count(word, -1));
        for &successor in graph.successors.of(node) {
            self.waits_for[successor] -= 1;
            if self.waits_for[successor] == 0 {
                self.offer(successor);
            }
        }
        // Whoever reads a word for the last time may free it now.
        for word in last_reads {
            let from = readers.partition_point(|reader| reader.0 < word);
            for &(_, reader) in readers[from..].iter().take_while(|reader| reader.0 == word) {
                if !self.is_done[reader] && self.waits_for[reader] == 0 {
                    self.offer_if_freeing(reader);
                }
            }
        }
    }

    fn count(&mut self, word: Word, by: i32) {
        self.live.all = self.live.all.wrapping_add_signed(by);
        if !self.input.uniform[word] {
            self.live.varying = self.live.varying.wrapping_add_signed(by);
        }
    }
}
