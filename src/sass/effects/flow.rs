//! Where the next instruction is.

use crate::sass::instruction::Instruction;
use crate::sass::operand::{Operand, PT, Predicate};

/// Where the next instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Behind this one.
    Next,
    /// At the target, in bytes from the start of the function; where `may_pass`, behind this one too.
    Branch {
        /// The target.
        target: i64,
        /// A condition stands before it.
        may_pass: bool,
    },
    /// At one of many targets: a table has them.
    Indirect,
    /// At the target, and behind this one when that returns.
    Call {
        /// The target; none where it is another function or stands in a register.
        target: Option<i64>,
    },
    /// Behind the call that led here.
    Return {
        /// A condition stands before it.
        may_pass: bool,
    },
    /// Nowhere: the thread ends.
    Exit {
        /// A condition stands before it.
        may_pass: bool,
    },
    /// In another function.
    Leave {
        /// A condition stands before it.
        may_pass: bool,
    },
}

impl Flow {
    /// Where the next instruction is behind an instruction.
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
