//! Instructions of the view while it is made, with the tokens that their operands are.

use super::names::Names;
use crate::function::{Block, Effects, MemorySpace, Operand, OperandFlags, RegClass, VReg, Value};
use crate::ptx::statement::Statement;
use crate::ptx::token::Token;

/// An operand and the tokens that name its register, or that are the offset of an address, with its sign. Other operands
/// have none, as one that stands nowhere in the text.
#[derive(Clone, Debug)]
pub(super) struct DraftOperand {
    pub(super) operand: Operand,
    pub(super) tokens: Vec<Token>,
}

/// An instruction.
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
    /// The predicate that it stands under, and whether it runs where that is false.
    pub(super) guard: Option<(VReg, bool)>,
    /// Whether control may go on to the next instruction.
    pub(super) goes_on: bool,
    /// Whether it goes on when the next instruction begins, and whether it waits for such.
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

    /// Adds an operand that is so many tokens.
    pub(super) fn push_written(&mut self, operand: Operand, tokens: Vec<Token>) {
        self.operands.push(DraftOperand { operand, tokens });
    }

    /// Adds a read of what the register held before, for each definition from `first` on that has none: the definition
    /// keeps it, in part or under a predicate. Registers that a tie cannot reach stay as they are, which is an error.
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

    /// The same for registers of several parts, of which one is written.
    pub(super) fn keep_old_values_of_parts(&mut self, names: &Names<'_>) -> Result<(), String> {
        let is_in_parts =
            |operand: &DraftOperand| operand.operand.def().is_some_and(|reg| names.class(reg) == RegClass::Other);
        if self.operands.iter().any(is_in_parts) { self.keep_old_values(0) } else { Ok(()) }
    }
}
