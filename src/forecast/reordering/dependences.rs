//! What must come before what in a region, as if its blocks were one.

use super::Input;
use crate::analysis::Grouping;
use crate::define_index;
use crate::forecast::behaviour::Motion;
use crate::forecast::words::Word;
use crate::function::{Inst, VReg};
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// An instruction of a region, by its place in it.
    Node, "n"
}

/// The order that a region's instructions must keep, and the words that they read and write.
pub(super) struct Dependences {
    /// The region's first instruction.
    first: Inst,
    len: usize,
    /// Who waits for a node.
    pub(super) successors: Grouping<Node, Node>,
    /// How many a node waits for, repetitions included.
    pub(super) num_predecessors: IndexVec<Node, u32>,
    /// The words that a node reads, each once.
    pub(super) reads: Grouping<Node, Word>,
    /// The words that a node writes.
    pub(super) writes: Grouping<Node, Word>,
}

/// Makes the edges of a region.
#[derive(Default)]
struct Edges {
    found: Vec<(Node, Node)>,
    /// The last that keeps its order with all.
    ordered: Option<Node>,
    /// Loads since then.
    loads: Vec<Node>,
}

impl Dependences {
    /// The dependences of the instructions from `first` up to `end`: through registers, and between loads, stores and
    /// what is ordered. Branches are ordered and hold nothing else back. O(operands, and edges).
    pub(super) fn new(input: &Input<'_>, first: Inst, end: Inst) -> Self {
        let len = (end.0 - first.0) as usize;
        let mut edges = Edges::default();
        let mut accesses: Vec<(VReg, Node, bool)> = Vec::new();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for node in (0..len).map(Node::new) {
            let inst = Inst(first.0 + node.0);
            edges.order(node, input.behaviours.motion(inst));
            for operand in input.function.operands(inst) {
                let Some(reg) = operand.reg() else { continue };
                accesses.push((reg, node, operand.is_def()));
                let list = if operand.is_def() { &mut writes } else { &mut reads };
                list.extend(input.words.held(input.function, reg).map(|word| (node, word)));
            }
        }
        edges.registers(&mut accesses);
        reads.sort_unstable();
        reads.dedup();
        let mut num_predecessors = IndexVec::filled(0, len);
        edges.found.iter().for_each(|&(_, to)| num_predecessors[to] += 1);
        Self {
            first,
            len,
            successors: Grouping::new(len, edges.found.iter().copied()),
            num_predecessors,
            reads: Grouping::new(len, reads.iter().copied()),
            writes: Grouping::new(len, writes.iter().copied()),
        }
    }

    /// The nodes, in the order of the code.
    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + use<> {
        (0..self.len).map(Node::new)
    }

    /// The instruction of a node.
    pub(super) fn inst(&self, node: Node) -> Inst {
        Inst(self.first.0 + node.0)
    }
}

impl Edges {
    fn add(&mut self, from: Node, to: Node) {
        if from != to {
            self.found.push((from, to));
        }
    }

    /// Memory and everything else that does not move freely.
    fn order(&mut self, node: Node, motion: Motion) {
        if motion == Motion::Free {
            return;
        }
        if let Some(ordered) = self.ordered {
            self.add(ordered, node);
        }
        if motion == Motion::Load {
            self.loads.push(node);
            return;
        }
        for load in std::mem::take(&mut self.loads) {
            self.add(load, node);
        }
        self.ordered = Some(node);
    }

    /// Definitions before reads, reads before the next definition, definitions in their order.
    fn registers(&mut self, accesses: &mut [(VReg, Node, bool)]) {
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
}
