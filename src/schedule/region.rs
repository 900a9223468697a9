//! A stretch of a block whose instructions may be reordered, with the facts that an order needs.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::effects::EffectOrder;
use super::facts::Facts;
use crate::analysis::{DependenceGraph, Edges, Grouping, Node, Point};
use crate::define_index;
use crate::function::{Block, Effects, Function, Inst, MemorySpace, Role, VReg};
use crate::index::{EntityIndex, IndexVec};
use crate::target::Purity;

define_index! {
    /// The contents of a register from one definition to the next, or from the start of a region.
    ScheduledValue, "h"
}

/// A value of a register in a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueData {
    /// 32-bit words of registers; 0 for a predicate.
    pub(super) words: u32,
    /// The node that defines it; `None` if it comes from outside.
    pub(super) definition: Option<Node>,
    /// Whether it is read after the region.
    pub(super) stays: bool,
}

/// Kind of a node for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A function of its operands.
    Pure,
    /// Only reads memory.
    Load,
    /// Any other instruction.
    Effect,
}

/// A stretch of a block, with the dependences between its instructions. Any order in which each node follows its
/// predecessors preserves the meaning.
pub(super) struct Region<'a> {
    function: &'a Function,
    first: Inst,
    /// The dependences between nodes.
    pub(super) graph: DependenceGraph,
    /// The nodes on which a node depends, in no particular order, with repetitions.
    pub(super) predecessors: Grouping<Node, Node>,
    /// Kind of each node.
    pub(super) kinds: IndexVec<Node, Kind>,
    /// The values of the registers in the region.
    pub(super) values: IndexVec<ScheduledValue, ValueData>,
    /// The values that a node reads, each once.
    pub(super) reads: Grouping<Node, ScheduledValue>,
    /// The values that a node defines.
    pub(super) writes: Grouping<Node, ScheduledValue>,
    /// The nodes that read a value.
    pub(super) readers: Grouping<ScheduledValue, Node>,
    /// Number of items that an order has taken off its heaps or stacks: the cost of the order.
    pub(super) work: Cell<u64>,
}

/// Returns the regions of a block: the stretches between PHIs, members of call sequences and terminators, which keep
/// their places. No instruction may be placed between two successive members of a call sequence.
pub(super) fn regions(function: &Function, block: Block) -> Vec<(Inst, Inst)> {
    let mut regions = Vec::new();
    let mut start = None;
    for inst in function.block_insts(block) {
        let effects = function.effects(inst);
        let is_fixed = function.role(inst) == Role::Phi || effects.intersects(Effects::CALL_SEQUENCE);
        let is_end = effects.contains(Effects::TERMINATOR);
        if is_fixed || is_end {
            regions.extend(start.take().map(|start| (start, inst)));
        } else {
            start.get_or_insert(inst);
        }
        if is_end {
            return regions;
        }
    }
    regions.extend(start.map(|start| (start, function.block_range(block).end)));
    regions
}

impl<'a> Region<'a> {
    /// Builds the region of the instructions from `first` up to `end`, which [`regions`] has returned. `edges` is
    /// memory for reuse. O(n log n) in the operands.
    pub(super) fn new(facts: &Facts<'a>, edges: &mut Edges, first: Inst, end: Inst) -> Self {
        let function = facts.function;
        let len = (end.0 - first.0) as usize;
        edges.begin();
        let mut order = EffectOrder::default();
        for node in (0..len).map(Node::new) {
            let inst = Inst(first.0 + node.0);
            order.next(node, facts.effects(inst), function.memory_space(inst), edges);
        }
        for node in (0..len).map(Node::new) {
            let inst = Inst(first.0 + node.0);
            edges.accesses_of(function, node, inst);
            facts.settled_by(inst).iter().for_each(|&reg| edges.overwrite(reg, node));
        }
        let predecessors = edges.predecessors(len);
        let mut values = Values::default();
        for node in (0..len).map(Node::new) {
            values.take(facts, node, Inst(first.0 + node.0));
        }
        values.finish(facts, end);
        let kinds = (0..len).map(|node| kind(facts, Inst(first.0 + node as u32))).collect();
        Self {
            function,
            first,
            graph: edges.finish(len),
            predecessors,
            kinds,
            reads: Grouping::new(len, values.reads.iter().copied()),
            writes: Grouping::new(len, values.writes.iter().copied()),
            readers: Grouping::new(values.found.len(), values.reads.iter().map(|&(node, value)| (value, node))),
            values: values.found,
            work: Cell::new(0),
        }
    }

    /// Returns the nodes, in the order of the code.
    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + use<> {
        self.graph.nodes()
    }

    /// Returns the instruction of a node.
    pub(super) fn inst(&self, node: Node) -> Inst {
        Inst(self.first.0 + node.0)
    }

    /// Returns the memory space that a node accesses.
    pub(super) fn space(&self, node: Node) -> MemorySpace {
        self.function.memory_space(self.inst(node))
    }

    /// Whether a node is convergent: an exchange between threads, or a matrix operation.
    pub(super) fn is_convergent(&self, node: Node) -> bool {
        self.function.effects(self.inst(node)).contains(Effects::CONVERGENT)
    }

    /// Returns the words of the values that a node defines.
    pub(super) fn words_written(&self, node: Node) -> u32 {
        self.writes.of(node).iter().map(|&value| self.values[value].words).sum()
    }

    /// Counts one step of an order.
    pub(super) fn step(&self) {
        self.work.set(self.work.get() + 1);
    }
}

fn kind(facts: &Facts<'_>, inst: Inst) -> Kind {
    let effects = facts.effects(inst);
    let purity = facts.purity(inst);
    let reads = matches!(purity, Purity::Reads | Purity::ReadsInvariant);
    match effects {
        Effects::READ if purity == Purity::InlineAsm => Kind::Load,
        _ if reads && (effects.is_pure() || effects == Effects::READ) => Kind::Load,
        _ if effects.is_pure() => Kind::Pure,
        _ => Kind::Effect,
    }
}

/// Collects the values of a region.
#[derive(Default)]
struct Values {
    found: IndexVec<ScheduledValue, ValueData>,
    reads: Vec<(Node, ScheduledValue)>,
    writes: Vec<(Node, ScheduledValue)>,
    /// The current value of each register. The result does not depend on the order of the entries.
    current: FxHashMap<VReg, ScheduledValue>,
}

impl Values {
    fn take(&mut self, facts: &Facts<'_>, node: Node, inst: Inst) {
        let function = facts.function;
        // A debug instruction does not keep a value live.
        if function.role(inst) == Role::Debug {
            return;
        }
        let first_read = self.reads.len();
        for reg in function.operands(inst).iter().filter(|operand| !operand.is_def()).filter_map(|o| o.reg()) {
            let value = match self.current.get(&reg) {
                Some(&value) => value,
                None => self.add(function, reg, None),
            };
            if !self.reads[first_read..].contains(&(node, value)) {
                self.reads.push((node, value));
            }
        }
        for reg in function.operands(inst).iter().filter_map(|operand| operand.def()) {
            let value = self.add(function, reg, Some(node));
            self.writes.push((node, value));
        }
    }

    fn add(&mut self, function: &Function, reg: VReg, definition: Option<Node>) -> ScheduledValue {
        let value = ValueData { words: function.class(reg).words(), definition, stays: false };
        let id = self.found.push(value);
        self.current.insert(reg, id);
        id
    }

    /// Marks the values that are read after the region.
    fn finish(&mut self, facts: &Facts<'_>, end: Inst) {
        let last = Point(Point::early(end).0 - 1);
        for (&reg, &value) in &self.current {
            self.found[value].stays = facts.live.value_at(reg, last).is_some();
        }
    }
}
