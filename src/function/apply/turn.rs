//! Edits of loop ends: exchanging the targets of two jumps, and inserting a pragma where ptxas honours it.

use super::editor::Editor;
use super::ids::Reason;
use crate::function::two_jumps::{TwoJumps, target_operand};
use crate::function::{Block, Complement, Inst, NoUnroll, Operand, Role, Value, complement};

impl Editor<'_> {
    pub(super) fn turn_branch(&mut self, block: Block, comparison: Inst) -> Result<(), Reason> {
        if block.0 as usize >= self.before.num_blocks() {
            return Err(format!("{block} is not a block of the view"));
        }
        if comparison.0 as usize >= self.before.num_insts() {
            return Err(format!("{comparison} is not an instruction of the view"));
        }
        let Some(jumps) = TwoJumps::of(self.before, block) else {
            return Err(format!("{block} does not end in a conditional and an unconditional jump"));
        };
        let Some(complement) = complement(self.before, comparison) else {
            return Err(format!("{comparison} does not compare two integers of 32 or 64 bits"));
        };
        if !self.turned.insert((Some(block), None)) || !self.turned.insert((None, Some(comparison))) {
            return Err(format!("{block} or {comparison} is turned twice"));
        }
        match complement {
            Complement::Number { operand, value } => {
                *self.operand_mut(comparison, operand)? = Operand::immediate(value);
            }
            Complement::Opcode(name) => {
                let opcode = self.intern(&name, Role::Other)?;
                self.work.inst_opcode[comparison] = opcode;
            }
        }
        for (inst, to) in [(jumps.branch, jumps.other), (jumps.jump, jumps.taken)] {
            let operand = target_operand(self.before, inst).expect("a jump names its block");
            self.operand_mut(inst, operand)?.value = Value::Block(to);
        }
        Ok(())
    }

    pub(super) fn insert_pragma(&mut self, block: Block) -> Result<(), Reason> {
        if block.0 as usize >= self.before.num_blocks() {
            return Err(format!("{block} is not a block of the view"));
        }
        if self.work.no_unroll(block) != NoUnroll::Ahead {
            return Err(format!("there is no pragma directly before {block}"));
        }
        self.work.blocks[block].no_unroll = NoUnroll::Here;
        Ok(())
    }
}
