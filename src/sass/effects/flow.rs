//! The successors of an instruction.

use crate::sass::instruction::Instruction;
use crate::sass::operand::{Operand, PT, Predicate};

/// The successors of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The next instruction in the code.
    Next,
    /// A branch to the target, in bytes from the start of the function. If `may_pass`, also the next instruction.
    Branch {
        /// The target.
        target: i64,
        /// Whether the branch is conditional.
        may_pass: bool,
    },
    /// A branch to one of many targets in a table.
    Indirect,
    /// A call: the target, and the next instruction after the callee returns.
    Call {
        /// The target. `None` if it is another function or is in a register.
        target: Option<i64>,
    },
    /// A return to the instruction after the call.
    Return {
        /// Whether the return is conditional.
        may_pass: bool,
    },
    /// The end of the thread.
    Exit {
        /// Whether the exit is conditional.
        may_pass: bool,
    },
    /// A jump into another function.
    Leave {
        /// Whether the jump is conditional.
        may_pass: bool,
    },
}

impl Flow {
    /// Returns the successors of an instruction.
    pub fn of(instruction: &Instruction) -> Self {
        let never = |predicate: Predicate| predicate.number == PT && predicate.negated;
        if instruction.guard.is_some_and(never) {
            return Self::Next;
        }
        let target = instruction.operands.iter().find_map(|operand| match operand {
            Operand::Target(target) => Some(*target),
            _ => None,
        });
        let is_condition = |operand: &Operand| matches!(operand, Operand::Predicate(one) if one.number != PT);
        let may_pass = instruction.guard.is_some_and(|guard| guard.number != PT)
            || instruction.operands.iter().any(is_condition)
            || instruction.has("DIV")
            || instruction.has("CONV");
        match instruction.word() {
            "BRA" | "JMP" => match target {
                Some(target) => Self::Branch { target, may_pass },
                None => Self::Leave { may_pass },
            },
            "BRX" | "BRXU" | "JMX" => Self::Indirect,
            "CALL" => Self::Call { target },
            "RET" => Self::Return { may_pass },
            "EXIT" | "KILL" => Self::Exit { may_pass },
            _ => Self::Next,
        }
    }
}
