//! A function that has left SSA form as what regalloc2 takes: SSA form with block parameters, critical edges split.

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
    /// By successor.
    args: Vec<Vec<VReg>>,
}

/// What the live ranges number as values are its registers; values that meet are block parameters. Unreachable blocks
/// are left out.
pub(crate) struct Ssa {
    nodes: Vec<Node>,
    ends: Vec<End>,
    /// By instruction: its operands in `operands`.
    starts: Vec<usize>,
    operands: Vec<Operand>,
    num_values: usize,
}

/// There are three classes and no pairs of registers: 64-bit values get a class of their own. There are as many values,
/// instructions and operands as in our problem, but a wide value takes nothing away from the narrow ones.
fn class(class: view::RegClass) -> RegClass {
    match class {
        view::RegClass::B1 => RegClass::Vector,
        view::RegClass::B16 | view::RegClass::B32 => RegClass::Int,
        _ => RegClass::Float,
    }
}

impl Ssa {
    /// None where the entry has predecessors, which regalloc2 has no form for, or PHIs are left.
    pub(crate) fn new(function: &Function) -> Option<Self> {
        let cfg = Cfg::new(function);
        let has_phis = function.insts().any(|inst| function.role(inst) == Role::Phi);
        if has_phis || !cfg.preds(view::Block(0)).is_empty() {
            return None;
        }
        let occurrences = Occurrences::new(function, &|reg| function.class(reg) != view::RegClass::Other);
        let regs: Vec<view::VReg> = function.regs().filter(|&reg| !occurrences.of(reg).is_empty()).collect();
        let ranges = LiveRanges::new(function, &cfg, &Dominators::new(function, &cfg), &occurrences, &regs);
        let vreg = |reg, value: ValueNumber| VReg::new(value.0 as usize, class(function.class(reg)));

        let mut defined = HashMap::new();
        let mut undefined = Vec::new();
        let mut params: HashMap<view::Block, Vec<(view::VReg, VReg)>> = HashMap::new();
        for &reg in &regs {
            for value in ranges.values_of(reg).start.0..ranges.values_of(reg).end.0 {
                let new = vreg(reg, ValueNumber(value));
                match ranges.value_def(ValueNumber(value)) {
                    ValueDef::Inst { inst, operand } => drop(defined.insert((inst, operand), new)),
                    ValueDef::Phi(block) => params.entry(block).or_default().push((reg, new)),
                    ValueDef::Undefined(block) if block.0 == 0 => undefined.push(new),
                    ValueDef::Undefined(_) => {}
                }
            }
        }

        // regalloc2 reads loops from the order of blocks, and its checker wants a block's predecessors first: reverse
        // postorder, and a split edge's block right behind the block that it leaves.
        let is_critical = |block, succ| function.succs(block).len() > 1 && cfg.preds(succ).len() > 1;
        let mut numbers = HashMap::new();
        let mut next = 0;
        for &block in cfg.rpo() {
            numbers.insert(block, Block::new(next));
            next += 1 + function.succs(block).iter().filter(|&&succ| is_critical(block, succ)).count();
        }
        let num_values = ranges.num_values();
        let mut ssa = Self { nodes: Vec::new(), ends: Vec::new(), starts: vec![0], operands: Vec::new(), num_values };
        for &block in cfg.rpo() {
            let first = ssa.ends.len();
            if block.0 == 0 {
                undefined.iter().for_each(|&value| ssa.push(&[Operand::reg_def(value)]));
            }
            for inst in function.block_insts(block) {
                let operands = operands(
                    function,
                    inst,
                    &|reg| vreg(reg, ranges.value_at(reg, Point::early(inst)).expect("it is live")),
                    &defined,
                );
                ssa.push(&operands);
            }
            let succs = function.succs(block);
            ssa.end_block(first, succs, succs.iter().any(|&succ| cfg.preds(succ).len() > 1 && succs.len() == 1));

            let number = numbers[&block];
            let own_params = params.get(&block).into_iter().flatten().map(|&(_, param)| param).collect();
            let mut node = Node { insts: first..ssa.ends.len(), params: own_params, ..Node::default() };
            let mut edges = Vec::new();
            for &succ in succs {
                let args = params.get(&succ).into_iter().flatten().map(|&(reg, _)| {
                    vreg(reg, ranges.live_out_value(function, reg, block).expect("it is live into a successor"))
                });
                let args = args.collect();
                if !is_critical(block, succ) {
                    node.succs.push(numbers[&succ]);
                    node.args.push(args);
                    continue;
                }
                node.succs.push(Block::new(number.index() + 1 + edges.len()));
                node.args.push(Vec::new());
                let at = ssa.ends.len();
                ssa.push(&[]);
                ssa.ends[at] = End::Branch;
                let succs = vec![numbers[&succ]];
                edges.push(Node { insts: at..at + 1, succs, args: vec![args], ..Node::default() });
            }
            ssa.nodes.push(node);
            ssa.nodes.append(&mut edges);
        }
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

    /// Makes the last instruction of a block its branch or return; adds one where it writes, and where it reads though
    /// the block goes on to one with parameters: there regalloc2 has its moves in the way.
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

/// What an instruction reads, then what it writes.
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
        // A source that is read twice must not be overwritten: the tie is left out.
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
