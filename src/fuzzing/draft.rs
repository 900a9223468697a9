//! A function under construction: instructions can be inserted anywhere in its blocks.

use super::opcodes::opcode_table;
use crate::function::{
    Block, Effects, Function, FunctionBuilder, LaunchBounds, MemorySpace, Opcode, Operand, OperandFlags, RegClass,
    VReg, Value,
};
use crate::index::{EntityIndex, IndexVec};

/// Numbers of stack slots and symbols of a generated function.
pub(super) const SLOTS: usize = 2;
pub(super) const SYMBOLS: usize = 3;

/// An instruction of a draft.
#[derive(Clone, Debug)]
pub(super) struct DraftInst {
    pub(super) opcode: Opcode,
    pub(super) operands: Vec<Operand>,
    pub(super) effects: Effects,
    pub(super) space: MemorySpace,
    pub(super) line: u32,
}

/// A PHI of a draft.
#[derive(Clone, Debug)]
pub(super) struct DraftPhi {
    pub(super) dst: VReg,
    pub(super) inputs: Vec<(VReg, Block)>,
}

/// A block of a draft.
#[derive(Clone, Debug, Default)]
pub(super) struct DraftBlock {
    pub(super) succs: Vec<Block>,
    pub(super) phis: Vec<DraftPhi>,
    pub(super) body: Vec<DraftInst>,
    pub(super) terminators: Vec<DraftInst>,
    pub(super) depth: u32,
}

/// A function under construction.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) blocks: IndexVec<Block, DraftBlock>,
    pub(super) classes: IndexVec<VReg, RegClass>,
}

/// Returns the opcode of a name in the generator's table.
pub(super) fn opcode(name: &str) -> Opcode {
    opcode_table().find(name).unwrap_or_else(|| panic!("the generator's table has no opcode {name}"))
}

impl DraftInst {
    /// Returns a pure instruction.
    pub(super) fn pure(name: &str, operands: Vec<Operand>) -> Self {
        Self::with_effects(name, operands, Effects::empty())
    }

    /// Returns an instruction with effects.
    pub(super) fn with_effects(name: &str, operands: Vec<Operand>, effects: Effects) -> Self {
        Self { opcode: opcode(name), operands, effects, space: MemorySpace::Generic, line: 0 }
    }

    /// Returns `dst = COPY src`.
    pub(super) fn copy(dst: VReg, src: VReg) -> Self {
        Self::pure("COPY", vec![Operand::write(dst), Operand::read(src)])
    }
}

impl Draft {
    /// Creates a register.
    pub(super) fn reg(&mut self, class: RegClass) -> VReg {
        self.classes.push(class)
    }

    /// Returns the function. Half of the definitions of unread registers are marked dead.
    pub(super) fn finish(&self) -> Function {
        let mut is_read = IndexVec::<VReg, bool>::filled(false, self.classes.len());
        for block in self.blocks.iter() {
            let insts = block.body.iter().chain(&block.terminators);
            let reads = insts.flat_map(|inst| &inst.operands).filter_map(Operand::read_reg);
            for reg in reads.chain(block.phis.iter().flat_map(|phi| &phi.inputs).map(|&(reg, _)| reg)) {
                is_read[reg] = true;
            }
        }
        let mut builder = FunctionBuilder::new("generated", opcode_table());
        for (reg, &class) in self.classes.iter_enumerated() {
            let name = (reg.index() % 8 == 5).then(|| format!("v{}", reg.index()));
            builder.named_reg(class, name.as_deref());
        }
        // Properties of the whole function, in all its forms.
        let size = self.classes.len() as u32;
        let bound = |every: u32| (!size.is_multiple_of(every)).then_some(size);
        if !size.is_multiple_of(4) {
            builder.kernel(LaunchBounds {
                max_threads: bound(2),
                required_threads: bound(3),
                min_blocks: bound(5),
                max_registers: bound(7),
            });
        }
        if size % 3 != 2 {
            builder.file(&format!("/source \"{size}\"/k.cu"));
        }
        for slot in 0..SLOTS {
            let name = (slot % 2 == 1).then(|| format!("variable \"{slot}\""));
            builder.named_slot(4 << slot, 4, name.as_deref(), 10 * (slot as u32 % 3));
        }
        for symbol in 0..SYMBOLS {
            builder.shared_symbol(&format!("@g{symbol}"), 1024 * symbol as u64);
        }
        for block in self.blocks.iter() {
            builder.block(&block.succs, 10f64.powi(block.depth as i32), block.depth);
            for phi in &block.phis {
                let mut operands = vec![Operand::write(phi.dst)];
                for &(reg, from) in &phi.inputs {
                    operands.extend([Operand::read(reg), Operand::plain(Value::Block(from))]);
                }
                builder.inst(opcode("PHI"), &operands, Effects::empty());
            }
            for inst in block.body.iter().chain(&block.terminators) {
                let mut operands = inst.operands.clone();
                for operand in &mut operands {
                    if operand.def().is_some_and(|reg| !is_read[reg] && reg.index() % 2 == 0) {
                        operand.flags |= OperandFlags::DEAD;
                    }
                }
                builder.full_inst(inst.opcode, &operands, inst.effects, inst.space, inst.line);
            }
        }
        builder.finish()
    }
}
