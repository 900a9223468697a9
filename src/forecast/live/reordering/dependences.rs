//! Dependences between the instructions of a region, as if its blocks were one block.

use super::Input;
use crate::analysis::{DependenceGraph, Edges, Grouping, Node};
use crate::forecast::footprint::memory_accesses::{Accesses, Spaces};
use crate::forecast::footprint::words::Word;
use crate::function::{Inst, Role};

/// The order that a region's instructions must keep, and the words that they read and write. The memory is reused for
/// the next region.
#[derive(Debug, Default)]
pub(super) struct Dependences {
    /// First instruction of the region.
    first: u32,
    /// Dependences between the nodes.
    pub(super) graph: DependenceGraph,
    /// Words that each node reads, each word once.
    pub(super) reads: Grouping<Node, Word>,
    /// Words that each node writes.
    pub(super) writes: Grouping<Node, Word>,
    /// Restarts of words, in the order of the code: see [`Regions::restarts`](super::regions::Regions::restarts).
    pub(super) restarts: Vec<(Node, Word)>,
    edges: Edges,
    memory: Memory,
}

impl Dependences {
    /// Computes the dependences of the instructions from `first` up to `end`, through registers and through memory.
    /// Branches keep their order with all instructions. `restarts` are those of the region. O(operands + edges).
    pub(super) fn compute(&mut self, input: &Input<'_>, first: Inst, end: Inst, restarts: &[(Inst, Word)]) {
        self.first = first.0;
        self.edges.begin();
        self.memory.begin();
        self.reads.clear();
        self.writes.clear();
        for inst in (first.0..end.0).map(Inst) {
            let node = Node(inst.0 - first.0);
            self.memory.order(node, input.footprint.behaviours.accesses(inst), &mut self.edges);
            // Debug values keep no register live and block no instruction: they emit no code.
            if input.function.role(inst) != Role::Debug {
                self.edges.accesses_of(input.function, node, inst);
                self.collect_words(input, inst);
            }
            self.reads.finish_group();
            self.writes.finish_group();
        }
        self.restarts.clear();
        self.restarts.extend(restarts.iter().map(|&(inst, word)| (Node(inst.0 - first.0), word)));
        self.edges.finish_into((end.0 - first.0) as usize, &mut self.graph);
    }

    /// Collects the words that an instruction reads and writes. A read of an undefined value does not count.
    fn collect_words(&mut self, input: &Input<'_>, inst: Inst) {
        for operand in input.function.operands(inst) {
            if let Some(reg) = operand.def() {
                input.footprint.words.occupied(reg).for_each(|word| self.writes.push(word));
            } else if let Some(reg) = operand.use_reg() {
                for word in input.footprint.words.occupied(reg) {
                    if !self.reads.current().contains(&word) {
                        self.reads.push(word);
                    }
                }
            }
        }
    }

    /// Yields the nodes, in the order of the code.
    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + use<> {
        self.graph.nodes()
    }

    /// Returns the instruction of a node.
    pub(super) fn inst(&self, node: Node) -> Inst {
        Inst(self.first + node.0)
    }
}

/// Keeps the order of accesses to each memory.
#[derive(Debug, Default)]
struct Memory {
    spaces: [LastAccesses; Spaces::COUNT],
}

#[derive(Debug, Default)]
struct LastAccesses {
    write: Option<Node>,
    /// Reads since the last write.
    reads: Vec<Node>,
}

impl Memory {
    fn begin(&mut self) {
        for space in &mut self.spaces {
            space.write = None;
            space.reads.clear();
        }
    }

    fn order(&mut self, node: Node, Accesses { reads, writes }: Accesses, edges: &mut Edges) {
        if (reads | writes).is_empty() {
            return;
        }
        let mut last = None;
        for number in (reads | writes).numbers() {
            let write = self.spaces[number].write;
            if let Some(write) = write.filter(|_| write != last) {
                edges.add(write, node);
            }
            last = write;
        }
        for number in writes.numbers() {
            let LastAccesses { write, reads } = &mut self.spaces[number];
            reads.drain(..).for_each(|read| edges.add(read, node));
            *write = Some(node);
        }
        for number in (reads - writes).numbers() {
            self.spaces[number].reads.push(node);
        }
    }
}
