//! Instructions of the view under construction, with the tokens of their operands.

use super::names::Names;
use crate::function::{Block, Effects, MemorySpace, Operand, OperandFlags, RegClass, VReg, Value};
use crate::ptx::statement::Statement;
use crate::ptx::token::Token;

/// An operand and its tokens: the name of its register, or the offset of an address with its sign. Operands of other
/// kinds and operands that the PTX does not contain have no tokens.
#[derive(Clone, Debug)]
pub(super) struct DraftOperand {
    pub(super) operand: Operand,
    pub(super) tokens: Vec<Token>,
}

/// An instruction of the view under construction.
#[derive(Clone, Debug)]
pub(super) struct DraftInst {
    pub(super) first: Statement,
    pub(super) last: Statement,
    pub(super) block: Block,
    pub(super) name: String,
    pub(super) operands: Vec<DraftOperand>,
    pub(super) effects: Effects,
    pub(super) space: MemorySpace,
    pub(super) line: u32,
    /// The guard predicate, and whether the instruction executes if it is false.
    pub(super) guard: Option<(VReg, bool)>,
    /// Whether control may reach the next instruction.
    pub(super) goes_on: bool,
    /// Whether the instruction is asynchronous, and whether it waits for asynchronous instructions.
    pub(super) is_asynchronous: bool,
    pub(super) is_wait: bool,
}

impl DraftInst {
    pub(super) fn push(&mut self, operand: Operand) {
        self.operands.push(DraftOperand { operand, tokens: Vec::new() });
    }

    pub(super) fn push_named(&mut self, operand: Operand, token: Token) {
        self.operands.push(DraftOperand { operand, tokens: vec![token] });
    }

    /// Adds an operand with its tokens.
    pub(super) fn push_written(&mut self, operand: Operand, tokens: Vec<Token>) {
        self.operands.push(DraftOperand { operand, tokens });
    }

    /// Ties each definition, from operand `first` on, to an added read of the old value, unless the definition is
    /// already tied. Such definitions keep a part of the register or are under a predicate. The error is an operand
    /// number that is too large for a tie.
    pub(super) fn keep_old_values(&mut self, first: usize) -> Result<(), String> {
        for def in first..self.operands.len() {
            let operand = self.operands[def].operand;
            let (Some(reg), None) = (operand.def(), operand.tied) else { continue };
            let at = self.operands.len();
            let numbers = (u16::try_from(def), u16::try_from(at));
            let (Ok(def_number), Ok(at)) = numbers else { return Err("an instruction has too many operands".into()) };
            self.operands[def].operand.tied = Some(at);
            let flags = OperandFlags::IMPLICIT;
            self.push(Operand { value: Value::Reg(reg), flags, tied: Some(def_number) });
        }
        Ok(())
    }

    /// Adds reads of the old values for registers with several parts, because the instruction writes only one part.
    pub(super) fn keep_old_values_of_parts(&mut self, names: &Names<'_>) -> Result<(), String> {
        let is_in_parts =
            |operand: &DraftOperand| operand.operand.def().is_some_and(|reg| names.class(reg) == RegClass::Other);
        if self.operands.iter().any(is_in_parts) { self.keep_old_values(0) } else { Ok(()) }
    }
}
