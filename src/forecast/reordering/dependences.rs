//! What must come before what in a region, as if its blocks were one.

use super::Input;
use crate::analysis::{DependenceGraph, Edges, Grouping, Node};
use crate::forecast::behaviour::Motion;
use crate::forecast::words::Word;
use crate::function::Inst;

/// The order that a region's instructions must keep, and the words that they read and write.
pub(super) struct Dependences {
    /// The region's first instruction.
    first: Inst,
    /// Who waits for whom.
    pub(super) graph: DependenceGraph,
    /// The words that a node reads, each once.
    pub(super) reads: Grouping<Node, Word>,
    /// The words that a node writes.
    pub(super) writes: Grouping<Node, Word>,
}

impl Dependences {
    /// The dependences of the instructions from `first` up to `end`: through registers, and between loads, stores and
    /// what is ordered. Branches are ordered and hold nothing else back. O(n log n) in the operands, and the edges.
    pub(super) fn new(input: &Input<'_>, first: Inst, end: Inst) -> Self {
        let len = (end.0 - first.0) as usize;
        let mut edges = Edges::default();
        let mut memory = Memory::default();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for inst in (first.0..end.0).map(Inst) {
            let node = Node(inst.0 - first.0);
            memory.order(node, input.behaviours.motion(inst), &mut edges);
            for operand in input.function.operands(inst) {
                let Some(reg) = operand.reg() else { continue };
                let list = if operand.is_def() { &mut writes } else { &mut reads };
                list.extend(input.words.held(input.function, reg).map(|word| (node, word)));
            }
        }
        edges.registers(input.function, first, end);
        reads.sort_unstable();
        reads.dedup();
        Self {
            first,
            graph: edges.finish(len),
            reads: Grouping::new(len, reads.iter().copied()),
            writes: Grouping::new(len, writes.iter().copied()),
        }
    }

    /// The nodes, in the order of the code.
    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + use<> {
        self.graph.nodes()
    }

    /// The instruction of a node.
    pub(super) fn inst(&self, node: Node) -> Inst {
        Inst(self.first.0 + node.0)
    }
}

/// Keeps the order of memory and of everything else that does not move freely.
#[derive(Default)]
struct Memory {
    /// The last that keeps its order with all.
    ordered: Option<Node>,
    /// Loads since then.
    loads: Vec<Node>,
}

impl Memory {
    fn order(&mut self, node: Node, motion: Motion, edges: &mut Edges) {
        if motion == Motion::Free {
            return;
        }
        if let Some(ordered) = self.ordered {
            edges.add(ordered, node);
        }
        if motion == Motion::Load {
            self.loads.push(node);
            return;
        }
        for load in std::mem::take(&mut self.loads) {
            edges.add(load, node);
        }
        self.ordered = Some(node);
    }
}
