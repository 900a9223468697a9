//! Functions of any size for the benchmarks, shaped like kernels after PHI elimination: nested loops and branches, a
//! temporary for most instructions, and variables that one copy initialises and another updates.

use std::sync::Arc;

use nvptx_ra::function::{
    Block, Effects, Function, FunctionBuilder, Opcode, OpcodeTable, Operand, RegClass, Role, VReg,
};

/// Returns a function of about `size` instructions. The same size always gives the same function.
pub(crate) fn kernel(size: usize) -> Function {
    let mut opcodes = OpcodeTable::new();
    let (op, copy) = (opcodes.intern("op", Role::Other), opcodes.intern("COPY", Role::Copy));
    let mut shape = Shape { op, copy, blocks: vec![Draft::default()], num_regs: 1, num_insts: 0, state: 1 };
    while shape.num_insts < size {
        shape.region(&[VReg(0)], 0);
    }
    let mut builder = FunctionBuilder::new("kernel", Arc::new(opcodes));
    for _ in 0..shape.num_regs {
        builder.reg(RegClass::B32);
    }
    for draft in &shape.blocks {
        builder.block(&draft.succs, 1.0, 0);
        for (opcode, operands) in &draft.insts {
            builder.inst(*opcode, operands, Effects::empty());
        }
    }
    builder.finish()
}

#[derive(Default)]
struct Draft {
    insts: Vec<(Opcode, Vec<Operand>)>,
    succs: Vec<Block>,
}

struct Shape {
    op: Opcode,
    copy: Opcode,
    blocks: Vec<Draft>,
    num_regs: u32,
    num_insts: usize,
    state: u64,
}

impl Shape {
    /// Knuth's linear congruential generator.
    fn random(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    fn reg(&mut self) -> VReg {
        self.num_regs += 1;
        VReg(self.num_regs - 1)
    }

    fn current(&self) -> Block {
        Block(self.blocks.len() as u32 - 1)
    }

    fn inst(&mut self, opcode: Opcode, operands: Vec<Operand>) {
        self.num_insts += 1;
        self.blocks.last_mut().expect("there is an entry").insts.push((opcode, operands));
    }

    fn copy(&mut self, to: VReg, from: VReg) {
        self.inst(self.copy, vec![Operand::write(to), Operand::read(from)]);
    }

    /// Begins the next block, with an edge from each of `preds`.
    fn begin(&mut self, preds: &[Block]) -> Block {
        self.blocks.push(Draft::default());
        let block = self.current();
        for pred in preds {
            self.blocks[pred.0 as usize].succs.push(block);
        }
        block
    }

    /// Adds a few instructions that read the variables and each other. Returns the last result.
    fn straight(&mut self, variables: &[VReg]) -> VReg {
        let mut results = variables.to_vec();
        for _ in 0..4 + self.random(12) {
            let recent = results.len().min(8) as u64;
            let [a, b] = [0, 1].map(|_| results[results.len() - 1 - self.random(recent) as usize]);
            let result = self.reg();
            self.inst(self.op, vec![Operand::write(result), Operand::read(a), Operand::read(b), Operand::immediate(1)]);
            results.push(result);
        }
        results[results.len() - 1]
    }

    /// Adds straight code, a branch or a loop. Later code continues in the block that is current afterwards.
    fn region(&mut self, variables: &[VReg], depth: u32) {
        let seed = self.straight(variables);
        let kind = if depth < 4 { self.random(3) } else { 0 };
        let merged = self.reg();
        let inner = [variables, &[merged]].concat();
        let inner = &inner[inner.len().saturating_sub(6)..];
        match kind {
            1 => {
                let fork = self.current();
                let ends = [0, 1].map(|_| {
                    self.begin(&[fork]);
                    let result = self.straight(variables);
                    self.copy(merged, result);
                    self.current()
                });
                self.begin(&ends);
                self.region(inner, depth + 1);
            }
            2 => {
                self.copy(merged, seed);
                let header = self.begin(&[self.current()]);
                for _ in 0..1 + self.random(3) {
                    self.region(inner, depth + 1);
                }
                let result = self.straight(inner);
                self.copy(merged, result);
                let latch = self.current();
                self.blocks[latch.0 as usize].succs.push(header);
                self.begin(&[latch]);
                self.straight(inner);
            }
            _ => self.copy(merged, seed),
        }
    }
}
