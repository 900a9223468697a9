//! What must come before what among instructions that follow each other.
//!
//! Dependences through registers are the same for everybody and made here. What keeps its order for other reasons is the
//! caller's to say: a forecast of what ptxas may do and an order that has to be proven differ there.

use super::Grouping;
use crate::define_index;
use crate::function::{Function, Inst, VReg};
use crate::index::IndexVec;

define_index! {
    /// An instruction of a stretch of code, by its place in it.
    Node, "n"
}

/// The order that a stretch of instructions must keep. Every edge goes forward in the code.
#[derive(Debug)]
pub(crate) struct DependenceGraph {
    /// Who waits for a node.
    pub(crate) successors: Grouping<Node, Node>,
    /// How many a node waits for, repetitions included.
    pub(crate) num_predecessors: IndexVec<Node, u32>,
}

impl DependenceGraph {
    /// The nodes, in the order of the code.
    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + use<> {
        self.num_predecessors.ids()
    }
}

/// Makes the edges of a [`DependenceGraph`].
#[derive(Debug, Default)]
pub(crate) struct Edges {
    found: Vec<(Node, Node)>,
}

impl Edges {
    /// `from` comes before `to`.
    pub(crate) fn add(&mut self, from: Node, to: Node) {
        debug_assert!(from <= to, "the order of the code meets its own dependences");
        if from != to {
            self.found.push((from, to));
        }
    }

    /// Definitions before reads, reads before the next definition, definitions in their order, for the instructions from
    /// `first` up to `end`. O(n log n) in the operands.
    pub(crate) fn registers(&mut self, function: &Function, first: Inst, end: Inst) {
        let mut accesses: Vec<(VReg, Node, bool)> = Vec::new();
        for inst in (first.0..end.0).map(Inst) {
            let node = Node(inst.0 - first.0);
            let of_inst = function.operands(inst).iter();
            accesses.extend(of_inst.filter_map(|operand| Some((operand.reg()?, node, operand.is_def()))));
        }
        // Of one instruction the reads come first.
        accesses.sort_unstable();
        let mut readers: Vec<Node> = Vec::new();
        for of_register in accesses.chunk_by(|a, b| a.0 == b.0) {
            let mut definition = None;
            readers.clear();
            for &(_, node, is_def) in of_register {
                if let Some(definition) = definition {
                    self.add(definition, node);
                }
                if !is_def {
                    readers.push(node);
                    continue;
                }
                for reader in readers.drain(..) {
                    self.add(reader, node);
                }
                definition = Some(node);
            }
        }
    }

    /// How many edges there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// The graph of `len` nodes. O(nodes + edges).
    pub(crate) fn finish(self, len: usize) -> DependenceGraph {
        let mut num_predecessors = IndexVec::filled(0, len);
        self.found.iter().for_each(|&(_, to)| num_predecessors[to] += 1);
        DependenceGraph { successors: Grouping::new(len, self.found.iter().copied()), num_predecessors }
    }

    /// The same edges the other way round: whom a node waits for. O(nodes + edges).
    pub(crate) fn predecessors(&self, len: usize) -> Grouping<Node, Node> {
        Grouping::new(len, self.found.iter().map(|&(from, to)| (to, from)))
    }
}
