//! The dependence graph of consecutive instructions: which instructions must stay before which others.
//!
//! This file computes the dependences through registers, which are the same for all callers. The caller adds all other
//! dependences, because a forecast of ptxas's schedule and a proven order need different ones.

use super::Grouping;
use crate::define_index;
use crate::function::{Function, Inst, Operand, VReg};
use crate::index::IndexVec;

define_index! {
    /// An instruction's position in a stretch of consecutive instructions.
    Node, "n"
}

/// The order that a stretch of instructions must keep. All edges point forward in the code.
#[derive(Debug, Default)]
pub(crate) struct DependenceGraph {
    /// The nodes that depend on each node.
    pub(crate) successors: Grouping<Node, Node>,
    /// The number of edges into each node, repeated edges included.
    pub(crate) num_predecessors: IndexVec<Node, u32>,
}

impl DependenceGraph {
    /// Returns the nodes in code order.
    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + use<> {
        self.num_predecessors.ids()
    }
}

/// Collects the edges of a [`DependenceGraph`], for one stretch after another.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    found: Vec<(Node, Node)>,
    /// The last accesses to each register. The vector outlives a stretch, so that a short stretch costs no more than
    /// its operands.
    accesses: IndexVec<VReg, Accesses>,
    /// Readers, each with the index plus one of the previous reader in the same list.
    readers: Vec<(Node, u32)>,
    /// The number of the current stretch.
    stretch: u32,
}

/// The last accesses to a register.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    /// The stretch to which the accesses belong. Accesses of another stretch are ignored.
    stretch: u32,
    definition: Option<Node>,
    /// The index plus one of the last reader since that definition; 0 if there is none.
    readers: u32,
}

impl Edges {
    /// Begins the next stretch.
    pub(crate) fn begin(&mut self) {
        self.found.clear();
        self.readers.clear();
        self.stretch += 1;
    }

    /// Adds an edge: `from` comes before `to`.
    pub(crate) fn add(&mut self, from: Node, to: Node) {
        debug_assert!(from <= to, "the order of the code meets its own dependences");
        if from != to {
            self.found.push((from, to));
        }
    }

    /// Adds the register dependences of the instructions from `first` up to `end`: read after write, write after read,
    /// and write after write. O(operands), and once O(registers).
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn registers(&mut self, function: &Function, first: Inst, end: Inst) {
        for inst in (first.0..end.0).map(Inst) {
            self.accesses_of(function, Node(inst.0 - first.0), inst);
        }
    }

    /// Adds the register dependences of one instruction on those before it. O(operands), and once O(registers).
    pub(crate) fn accesses_of(&mut self, function: &Function, node: Node, inst: Inst) {
        if self.accesses.len() < function.num_regs() {
            self.accesses.resize(function.num_regs(), Accesses::default());
        }
        let operands = function.operands(inst).iter();
        for reg in operands.clone().filter_map(Operand::read_reg) {
            self.read(reg, node);
        }
        for reg in operands.filter_map(Operand::def) {
            self.define(reg, node);
        }
    }

    /// Adds the dependences of an implicit write: the register is not an operand of the instruction. Call `accesses_of`
    /// for the instruction first.
    pub(crate) fn overwrite(&mut self, reg: VReg, node: Node) {
        self.define(reg, node);
    }

    fn accesses(&mut self, reg: VReg) -> Accesses {
        let accesses = self.accesses[reg];
        let is_old = accesses.stretch != self.stretch;
        if is_old { Accesses { stretch: self.stretch, ..Accesses::default() } } else { accesses }
    }

    fn read(&mut self, reg: VReg, node: Node) {
        let accesses = self.accesses(reg);
        if let Some(definition) = accesses.definition {
            self.add(definition, node);
        }
        self.readers.push((node, accesses.readers));
        self.accesses[reg] = Accesses { readers: self.readers.len() as u32, ..accesses };
    }

    fn define(&mut self, reg: VReg, node: Node) {
        let accesses = self.accesses(reg);
        if let Some(definition) = accesses.definition {
            self.add(definition, node);
        }
        let mut at = accesses.readers;
        while let Some(&(reader, before)) = self.readers.get((at as usize).wrapping_sub(1)) {
            self.add(reader, node);
            at = before;
        }
        self.accesses[reg] = Accesses { definition: Some(node), readers: 0, ..accesses };
    }

    /// Returns the number of edges.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns the graph of `len` nodes. O(nodes + edges).
    pub(crate) fn finish(&self, len: usize) -> DependenceGraph {
        let mut graph = DependenceGraph::default();
        self.finish_into(len, &mut graph);
        graph
    }

    /// Computes in `graph` the graph of `len` nodes. O(nodes + edges).
    pub(crate) fn finish_into(&self, len: usize, graph: &mut DependenceGraph) {
        graph.num_predecessors.clear();
        graph.num_predecessors.resize(len, 0);
        self.found.iter().for_each(|&(_, to)| graph.num_predecessors[to] += 1);
        graph.successors.compute(len, self.found.iter().copied());
    }

    /// Returns the predecessors of each node. O(nodes + edges).
    pub(crate) fn predecessors(&self, len: usize) -> Grouping<Node, Node> {
        Grouping::new(len, self.found.iter().map(|&(from, to)| (to, from)))
    }
}

#[cfg(test)]
impl Edges {
    /// Returns whether a path leads from `from` to `to`, for all pairs of `len` nodes.
    pub(crate) fn reaches(&self, len: usize) -> Vec<Vec<bool>> {
        let predecessors = self.predecessors(len);
        let mut reached = vec![vec![false; len]; len];
        for to in 0..len {
            for &Node(from) in predecessors.of(Node(to as u32)) {
                reached[from as usize][to] = true;
                for row in &mut reached {
                    row[to] |= row[from as usize];
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Edges, Node};
    use crate::function::{Effects, Function, FunctionBuilder, Inst, OpcodeTable, Operand, RegClass, Role, VReg};

    /// Builds a block of instructions that write and read the registers with the given numbers.
    fn function(insts: &[(Vec<u32>, Vec<u32>)]) -> Function {
        let mut opcodes = OpcodeTable::new();
        let opcode = opcodes.intern("op", Role::Other);
        let mut builder = FunctionBuilder::new("f", Arc::new(opcodes));
        for _ in 0..4 {
            builder.reg(RegClass::B32);
        }
        builder.block(&[], 1.0, 0);
        for (writes, reads) in insts {
            let writes = writes.iter().map(|&reg| Operand::write(VReg(reg)));
            let operands: Vec<Operand> = writes.chain(reads.iter().map(|&reg| Operand::read(VReg(reg)))).collect();
            builder.inst(opcode, &operands, Effects::empty());
        }
        builder.finish()
    }

    /// If two instructions access the same register and at least one of them writes it, the later depends on the
    /// earlier. There are no other dependences. The previous stretch in the same memory leaves none either.
    #[test]
    fn registers_hold_what_conflicts() {
        arbtest::arbtest(|source| {
            let regs = |source: &mut arbitrary::Unstructured<'_>| {
                (0..source.int_in_range(0..=2)?)
                    .map(|_| source.int_in_range(0..=3))
                    .collect::<arbitrary::Result<Vec<u32>>>()
            };
            let count = source.int_in_range(0..=10usize)?;
            let insts: Vec<(Vec<u32>, Vec<u32>)> =
                (0..count).map(|_| Ok((regs(source)?, regs(source)?))).collect::<arbitrary::Result<_>>()?;
            let function = function(&insts);
            let split = source.int_in_range(0..=count)?;
            let mut edges = Edges::default();
            for (first, end) in [(0, split), (split, count)] {
                edges.begin();
                edges.registers(&function, Inst(first as u32), Inst(end as u32));
                let mut expected = Edges::default();
                for (to, (writes, reads)) in insts[first..end].iter().enumerate() {
                    for (from, (earlier_writes, earlier_reads)) in insts[first..first + to].iter().enumerate() {
                        let meets = |a: &[u32], b: &[u32]| a.iter().any(|reg| b.contains(reg));
                        if meets(earlier_writes, writes) || meets(earlier_writes, reads) || meets(earlier_reads, writes)
                        {
                            expected.add(Node(from as u32), Node(to as u32));
                        }
                    }
                }
                assert_eq!(edges.reaches(end - first), expected.reaches(end - first), "{insts:?}, {first}..{end}");
            }
            Ok(())
        });
    }
}
