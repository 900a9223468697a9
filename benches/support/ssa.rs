//! Converts a function that has left SSA form to the input of regalloc2: SSA form with block parameters and split
//! critical edges.

use std::collections::HashMap;
use std::ops::Range;

use nvptx_ra::analysis::{Cfg, Dominators, LiveRanges, Occurrences, Point, ValueDef, ValueNumber};
use nvptx_ra::function::{self as view, Function, OperandFlags, Role};
use regalloc2::{Block, Inst, InstRange, Operand, OperandConstraint, OperandKind, OperandPos, PRegSet, RegClass, VReg};

#[derive(Clone, Copy, PartialEq)]
enum End {
    None,
    Branch,
    Return,
}

#[derive(Default)]
struct Node {
    insts: Range<usize>,
    succs: Vec<Block>,
    preds: Vec<Block>,
    params: Vec<VReg>,
    /// Block arguments, by successor.
    args: Vec<Vec<VReg>>,
}

/// The input of regalloc2. Its registers are the values of the live ranges, and values that meet are block parameters.
/// Unreachable blocks are omitted.
pub(crate) struct Ssa {
    nodes: Vec<Node>,
    ends: Vec<End>,
    /// Index of each instruction's first operand in `operands`.
    starts: Vec<usize>,
    operands: Vec<Operand>,
    num_values: usize,
}

/// Returns the class of a value. regalloc2 has three classes and no pairs of registers, so 64-bit values have a
/// separate class. The numbers of values, instructions and operands equal those of our problem, but a wide value
/// occupies no narrow registers.
fn class(class: view::RegClass) -> RegClass {
    match class {
        view::RegClass::B1 => RegClass::Vector,
        view::RegClass::B16 | view::RegClass::B32 => RegClass::Int,
        _ => RegClass::Float,
    }
}

/// Returns the SSA register for a value of a register.
fn vreg(function: &Function, reg: view::VReg, value: ValueNumber) -> VReg {
    VReg::new(value.0 as usize, class(function.class(reg)))
}

/// The definitions of values.
#[derive(Default)]
struct Values {
    /// The value that each operand of an instruction defines.
    defined: HashMap<(view::Inst, u32), VReg>,
    /// Values that are undefined at the entry.
    undefined: Vec<VReg>,
    /// Block parameters: by block, each register whose values meet there, and the new value.
    params: HashMap<view::Block, Vec<(view::VReg, VReg)>>,
}

impl Values {
    fn new(function: &Function, ranges: &LiveRanges, regs: &[view::VReg]) -> Self {
        let mut values = Self::default();
        for &reg in regs {
            for value in (ranges.values_of(reg).start.0..ranges.values_of(reg).end.0).map(ValueNumber) {
                let new = vreg(function, reg, value);
                match ranges.value_def(value) {
                    ValueDef::Inst { inst, operand } => drop(values.defined.insert((inst, operand), new)),
                    ValueDef::Phi(block) => values.params.entry(block).or_default().push((reg, new)),
                    ValueDef::Undefined(block) if block.0 == 0 => values.undefined.push(new),
                    ValueDef::Undefined(_) => {}
                }
            }
        }
        values
    }

    fn params(&self, block: view::Block) -> impl Iterator<Item = (view::VReg, VReg)> {
        self.params.get(&block).into_iter().flatten().copied()
    }
}

/// The state of a function's conversion into SSA form.
struct Builder<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    ranges: &'a LiveRanges,
    values: Values,
    numbers: HashMap<view::Block, Block>,
    ssa: Ssa,
}

fn is_critical(function: &Function, cfg: &Cfg, block: view::Block, succ: view::Block) -> bool {
    function.succs(block).len() > 1 && cfg.preds(succ).len() > 1
}

/// Numbers the blocks. regalloc2 infers loops from the block order, and its checker expects a block's predecessors
/// before the block. The order is therefore reverse postorder. The block of a split edge directly follows the block
/// that the edge leaves.
fn numbers(function: &Function, cfg: &Cfg) -> HashMap<view::Block, Block> {
    let mut next = 0;
    let number = |&block: &view::Block| {
        let number = Block::new(next);
        next += 1 + function.succs(block).iter().filter(|&&succ| is_critical(function, cfg, block, succ)).count();
        (block, number)
    };
    cfg.rpo().iter().map(number).collect()
}

impl Builder<'_> {
    /// Adds a block, and the blocks on the critical edges that leave it.
    fn add_block(&mut self, block: view::Block) {
        let (function, cfg) = (self.function, self.cfg);
        let first = self.ssa.ends.len();
        if block.0 == 0 {
            self.values.undefined.iter().for_each(|&value| self.ssa.push(&[Operand::reg_def(value)]));
        }
        for inst in function.block_insts(block) {
            let value_at = |reg| self.ranges.value_at(reg, Point::early(inst)).expect("it is live");
            let read = |reg| vreg(function, reg, value_at(reg));
            self.ssa.push(&operands(function, inst, &read, &self.values.defined));
        }
        let succs = function.succs(block);
        let merges = succs.iter().any(|&succ| cfg.preds(succ).len() > 1 && succs.len() == 1);
        self.ssa.end_block(first, succs, merges);

        let number = self.numbers[&block];
        let params = self.values.params(block).map(|(_, param)| param).collect();
        let mut node = Node { insts: first..self.ssa.ends.len(), params, ..Node::default() };
        let mut edges = Vec::new();
        for &succ in succs {
            let args = self.args(block, succ);
            if !is_critical(function, cfg, block, succ) {
                node.succs.push(self.numbers[&succ]);
                node.args.push(args);
                continue;
            }
            node.succs.push(Block::new(number.index() + 1 + edges.len()));
            node.args.push(Vec::new());
            let at = self.ssa.ends.len();
            self.ssa.push(&[]);
            self.ssa.ends[at] = End::Branch;
            let succs = vec![self.numbers[&succ]];
            edges.push(Node { insts: at..at + 1, succs, args: vec![args], ..Node::default() });
        }
        self.ssa.nodes.push(node);
        self.ssa.nodes.append(&mut edges);
    }

    /// Returns the arguments that a block passes to the parameters of its successor.
    fn args(&self, block: view::Block, succ: view::Block) -> Vec<VReg> {
        let arg = |(reg, _)| {
            let value = self.ranges.live_out_value(self.function, reg, block);
            vreg(self.function, reg, value.expect("it is live into a successor"))
        };
        self.values.params(succ).map(arg).collect()
    }
}

impl Ssa {
    /// Converts a function. `None` if PHIs are left, or if the entry has predecessors, which regalloc2 cannot express.
    pub(crate) fn new(function: &Function) -> Option<Self> {
        let cfg = Cfg::new(function);
        let has_phis = function.insts().any(|inst| function.role(inst) == Role::Phi);
        if has_phis || !cfg.preds(view::Block(0)).is_empty() {
            return None;
        }
        let occurrences = Occurrences::new(function, &|reg| function.class(reg) != view::RegClass::Other);
        let regs: Vec<view::VReg> = function.regs().filter(|&reg| !occurrences.of(reg).is_empty()).collect();
        let ranges = LiveRanges::new(function, &cfg, &Dominators::new(function, &cfg), &occurrences, &regs);
        let num_values = ranges.num_values();
        let mut builder = Builder {
            function,
            cfg: &cfg,
            ranges: &ranges,
            values: Values::new(function, &ranges, &regs),
            numbers: numbers(function, &cfg),
            ssa: Self { nodes: Vec::new(), ends: Vec::new(), starts: vec![0], operands: Vec::new(), num_values },
        };
        cfg.rpo().iter().for_each(|&block| builder.add_block(block));
        let mut ssa = builder.ssa;
        for block in 0..ssa.nodes.len() {
            for succ in ssa.nodes[block].succs.clone() {
                ssa.nodes[succ.index()].preds.push(Block::new(block));
            }
        }
        Some(ssa)
    }

    fn push(&mut self, operands: &[Operand]) {
        self.operands.extend(operands);
        self.starts.push(self.operands.len());
        self.ends.push(End::None);
    }

    /// Makes the last instruction of a block its branch or return. A new instruction is added for this if the last
    /// instruction writes a register, or if it reads one and the next block has parameters: regalloc2 inserts moves
    /// at that point.
    fn end_block(&mut self, first: usize, succs: &[view::Block], merges: bool) {
        let last = self.ends.len();
        let operands = if last > first { &self.operands[self.starts[last - 1]..] } else { &[] };
        let writes = operands.iter().any(|operand| operand.kind() == OperandKind::Def);
        if last == first || writes || (merges && !operands.is_empty()) {
            self.push(&[]);
        }
        let last = self.ends.len() - 1;
        self.ends[last] = if succs.is_empty() { End::Return } else { End::Branch };
    }
}

/// Returns the reads of an instruction, then its writes.
fn operands(
    function: &Function,
    inst: view::Inst,
    read: &dyn Fn(view::VReg) -> VReg,
    defined: &HashMap<(view::Inst, u32), VReg>,
) -> Vec<Operand> {
    if function.role(inst) == Role::Debug {
        return Vec::new();
    }
    let all = function.operands(inst);
    let is_allocated = |reg: &view::VReg| function.class(*reg) != view::RegClass::Other;
    let sources = || all.iter().enumerate().filter_map(|(at, o)| Some((at, o.use_reg().filter(is_allocated)?)));
    let mut operands: Vec<Operand> = sources().map(|(_, reg)| Operand::reg_use(read(reg))).collect();
    for (at, operand) in all.iter().enumerate().filter(|(_, operand)| operand.def().is_some()) {
        let Some(&value) = defined.get(&(inst, at as u32)) else { continue };
        let is_early = operand.flags.contains(OperandFlags::EARLY_CLOBBER);
        // A source that is read twice must not be overwritten, so the tie is omitted.
        let tied = operand.tied.and_then(|tied| sources().position(|(source, _)| source == usize::from(tied)));
        let tied = tied.filter(|&tied| {
            let same = operands.iter().filter(|other| other.vreg() == operands[tied].vreg()).count();
            same == 1 && tied < 32 && !is_early && value.class() == operands[tied].class()
        });
        let constraint = tied.map_or(OperandConstraint::Reg, OperandConstraint::Reuse);
        let position = if is_early { OperandPos::Early } else { OperandPos::Late };
        operands.push(Operand::new(value, constraint, OperandKind::Def, position));
    }
    operands
}

impl regalloc2::Function for Ssa {
    fn num_insts(&self) -> usize {
        self.ends.len()
    }

    fn num_blocks(&self) -> usize {
        self.nodes.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        let Range { start, end } = self.nodes[block.index()].insts;
        InstRange::new(Inst::new(start), Inst::new(end))
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.nodes[block.index()].succs
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.nodes[block.index()].preds
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.nodes[block.index()].params
    }

    fn is_ret(&self, inst: Inst) -> bool {
        self.ends[inst.index()] == End::Return
    }

    fn is_branch(&self, inst: Inst) -> bool {
        self.ends[inst.index()] == End::Branch
    }

    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[VReg] {
        &self.nodes[block.index()].args[succ]
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        &self.operands[self.starts[inst.index()]..self.starts[inst.index() + 1]]
    }

    fn inst_clobbers(&self, _: Inst) -> PRegSet {
        PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.num_values
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == RegClass::Float { 2 } else { 1 }
    }
}
