//! Aggressive coalescing as a graph problem, with simplifications that preserve its optimum.
//!
//! A node is a register, or several registers that are already merged. A copy is saved if its target is in one class
//! with one of its *sources*: the registers that hold the copied value at the copy. A solution is a partition into
//! classes without a conflict between two members. Its cost is the weight of the copies that are not saved.

use crate::define_index;
use crate::disjoint_sets::DisjointSets;
use crate::function::VReg;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A register, or several merged registers.
    Node, "node"
}

/// A copy that is neither saved nor lost so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) target: Node,
    /// Nodes that save the copy if they share the target's class. The list is sorted and has no node in conflict with
    /// the target.
    pub(super) sources: Vec<Node>,
    pub(super) weight: f64,
}

/// The undecided part of a problem, and the cost of the decided part.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    conflicts: Conflicts,
    /// Registers that are merged into each node; empty for nodes that were merged into another.
    pub(super) members: IndexVec<Node, Vec<VReg>>,
    pub(super) moves: Vec<Move>,
    /// Weight of the copies that can no longer be saved.
    pub(super) cost: f64,
}

/// A symmetric relation as a bit matrix.
#[derive(Clone, Debug)]
struct Conflicts {
    words: usize,
    bits: Vec<u64>,
}

impl Conflicts {
    fn new(len: usize) -> Self {
        let words = len.div_ceil(64);
        Self { words, bits: vec![0; len * words] }
    }

    fn row(&self, node: Node) -> &[u64] {
        &self.bits[node.index() * self.words..][..self.words]
    }

    fn row_mut(&mut self, node: Node) -> &mut [u64] {
        &mut self.bits[node.index() * self.words..][..self.words]
    }

    fn contains(&self, a: Node, b: Node) -> bool {
        self.row(a)[b.index() / 64] >> (b.index() % 64) & 1 != 0
    }

    fn insert(&mut self, a: Node, b: Node) {
        self.row_mut(a)[b.index() / 64] |= 1 << (b.index() % 64);
        self.row_mut(b)[a.index() / 64] |= 1 << (a.index() % 64);
    }

    /// Removes the conflicts of a node, and returns them.
    fn take(&mut self, node: Node) -> Vec<Node> {
        let neighbours: Vec<Node> = self.neighbours(node).collect();
        for &other in &neighbours {
            self.row_mut(other)[node.index() / 64] &= !(1 << (node.index() % 64));
        }
        self.row_mut(node).fill(0);
        neighbours
    }

    fn neighbours(&self, node: Node) -> impl Iterator<Item = Node> {
        self.row(node).iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors(Some(word), |word| Some(word & (word.wrapping_sub(1))))
                .take_while(|&word| word != 0)
                .map(move |word| Node::new(index * 64 + word.trailing_zeros() as usize))
        })
    }
}

impl Problem {
    /// Creates a problem with a node for each register, without conflicts.
    pub(super) fn new(registers: impl Iterator<Item = VReg>) -> Self {
        let members: IndexVec<Node, Vec<VReg>> = registers.map(|register| vec![register]).collect();
        Self { conflicts: Conflicts::new(members.len()), members, moves: Vec::new(), cost: 0.0 }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether two nodes may not share a class.
    pub(super) fn conflict(&self, a: Node, b: Node) -> bool {
        self.conflicts.contains(a, b)
    }

    /// Adds a conflict: the two nodes may not share a class.
    pub(super) fn separate(&mut self, a: Node, b: Node) {
        self.conflicts.insert(a, b);
    }

    /// Merges two nodes, which do not conflict, into the first.
    pub(super) fn merge(&mut self, into: Node, from: Node) {
        let moved = std::mem::take(&mut self.members[from]);
        self.members[into].extend(moved);
        for other in self.conflicts.take(from) {
            self.conflicts.insert(into, other);
        }
        for copy in &mut self.moves {
            if copy.target == from {
                copy.target = into;
            }
            copy.sources.iter_mut().filter(|source| **source == from).for_each(|source| *source = into);
        }
    }

    /// Makes forced decisions: removes copies that are saved or lost, and makes merges that at least one optimal
    /// solution has.
    pub(super) fn simplify(&mut self) {
        loop {
            self.settle();
            let Some((into, from)) = self.find_safe_merge() else { return };
            self.merge(into, from);
        }
    }

    /// Removes sources that conflict with their target, saved copies, and lost copies. Lost copies add to the cost.
    fn settle(&mut self) {
        let Self { conflicts, moves, cost, .. } = self;
        moves.retain_mut(|copy| {
            if copy.sources.contains(&copy.target) {
                return false;
            }
            copy.sources.retain(|&source| !conflicts.contains(copy.target, source));
            copy.sources.sort_unstable();
            copy.sources.dedup();
            if copy.sources.is_empty() {
                *cost += copy.weight;
            }
            !copy.sources.is_empty()
        });
        // Copies that are saved by the same merges become one copy.
        moves.sort_by(|a, b| a.ends().cmp(&b.ends()));
        moves.dedup_by(|next, kept| {
            let same = kept.ends() == next.ends();
            if same {
                kept.weight += next.weight;
            }
            same
        });
    }

    /// Finds a node that may join another node without loss, whatever class a solution puts the first node in. This
    /// requires two conditions. First, every node that conflicts with the first node also conflicts with the other
    /// node. Second, the saving by joining is at least the greatest loss by leaving the first node's class. A copy with
    /// other sources may already be saved in that class.
    fn find_safe_merge(&self) -> Option<(Node, Node)> {
        let mut weights = IndexVec::filled(0.0, self.len());
        for copy in &self.moves {
            weights[copy.target] += copy.weight;
            copy.sources.iter().for_each(|&source| weights[source] += copy.weight);
        }
        // If a copy between the two nodes has no other source, it counts on both sides of the comparison.
        let worth = |copy: &Move| if copy.sources.len() == 1 { 2.0 * copy.weight } else { copy.weight };
        let joining = |a: Node, b: Node| -> f64 {
            let joins = |copy: &&Move| {
                (copy.target == a && copy.sources.contains(&b)) || (copy.target == b && copy.sources.contains(&a))
            };
            self.moves.iter().filter(joins).map(worth).sum()
        };
        let sums_are_cheap = self.moves.len() < 256;
        for copy in &self.moves {
            for &source in &copy.sources {
                for (into, from) in [(source, copy.target), (copy.target, source)] {
                    let is_heavy =
                        worth(copy) >= weights[from] || (sums_are_cheap && joining(into, from) >= weights[from]);
                    if is_heavy && self.conflicts_within(from, into) {
                        return Some((into, from));
                    }
                }
            }
        }
        None
    }

    /// Whether each node that conflicts with `one` also conflicts with `other`. Only nodes with copies count.
    fn conflicts_within(&self, one: Node, other: Node) -> bool {
        self.conflicts.row(one).iter().zip(self.conflicts.row(other)).all(|(one, other)| one & !other == 0)
    }

    /// Returns the connected components, each with cost 0. Nodes without copies are left out.
    pub(super) fn components(&self) -> Vec<Problem> {
        let mut connected = DisjointSets::new(self.len());
        for copy in &self.moves {
            copy.sources.iter().for_each(|&source| connected.unite(copy.target, source));
        }
        let mut moves: Vec<(Node, &Move)> = self.moves.iter().map(|copy| (connected.find(copy.target), copy)).collect();
        moves.sort_by_key(|&(part, _)| part);
        moves.chunk_by(|a, b| a.0 == b.0).map(|part| self.part(part.iter().map(|&(_, copy)| copy))).collect()
    }

    fn part<'a>(&self, moves: impl Iterator<Item = &'a Move> + Clone) -> Problem {
        let mut nodes: Vec<Node> =
            moves.clone().flat_map(|copy| copy.sources.iter().copied().chain([copy.target])).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |node: &Node| Node::new(nodes.binary_search(node).expect("every node of a copy is numbered"));
        let renamed = |copy: &Move| Move {
            target: number(&copy.target),
            sources: copy.sources.iter().map(number).collect(),
            weight: copy.weight,
        };
        let members = nodes.iter().map(|&node| self.members[node].clone()).collect();
        let moves = moves.map(renamed).collect();
        let mut part = Self { conflicts: Conflicts::new(nodes.len()), members, moves, cost: 0.0 };
        for (at, &node) in nodes.iter().enumerate() {
            for other in self.conflicts.neighbours(node) {
                if let Ok(other) = nodes.binary_search(&other) {
                    part.separate(Node::new(at), Node::new(other));
                }
            }
        }
        part
    }
}

impl Move {
    /// Returns the sort key of a copy. For a copy with one source, the key is the pair of nodes, in either direction.
    /// For other copies, it is the target and the sources. Pairs come first.
    fn ends(&self) -> (Node, bool, Option<Node>, &[Node]) {
        match self.sources[..] {
            [source] => (self.target.min(source), false, Some(self.target.max(source)), &[]),
            _ => (self.target, true, None, &self.sources),
        }
    }
}
