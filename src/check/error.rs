//! Errors of the checker.

use std::fmt;

use crate::function::{ApplyError, Inst, VReg};

/// The rule that an edited function breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The edits do not fit the function.
    Edits,
    /// An operand reads another value than before the edits.
    Operand,
    /// A debug value shows another value than before the edits.
    DebugValue,
    /// An instruction with effects is deleted.
    Deleted,
    /// An instruction with effects is in another block.
    Moved,
    /// Two instructions with conflicting effects have changed their order.
    Order,
    /// A new instruction is between the members of a call sequence.
    CallSequence,
    /// An instruction that may fault executes on a path on which it did not execute before the edits.
    Speculated,
    /// A new instruction follows a terminator.
    Terminator,
    /// Tied operands are different registers.
    Tied,
    /// An early-clobber definition writes a register that the instruction reads.
    EarlyClobber,
    /// Two definitions of one instruction, or two PHIs of one block, write one register.
    DoubleDefinition,
    /// A jump goes to another block.
    Branch,
    /// An opcode is replaced by an opcode that is not known to compute the same.
    Opcode,
}

impl ErrorKind {
    /// Returns a short name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edits => "edits",
            Self::Operand => "operand",
            Self::DebugValue => "debug value",
            Self::Deleted => "deleted",
            Self::Moved => "moved",
            Self::Order => "order",
            Self::CallSequence => "call sequence",
            Self::Speculated => "speculated",
            Self::Terminator => "terminator",
            Self::Tied => "tied operands",
            Self::EarlyClobber => "early clobber",
            Self::DoubleDefinition => "double definition",
            Self::Branch => "branch",
            Self::Opcode => "opcode",
        }
    }
}

/// One place where an edited function is not proven to compute the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CheckError {
    /// The broken rule.
    pub kind: ErrorKind,
    /// The instruction's number in the view.
    pub before: Option<Inst>,
    /// The instruction's number in the edited function.
    pub after: Option<Inst>,
    /// The operand's number.
    pub operand: Option<u32>,
    /// The register that the operand read in the view.
    pub read_before: Option<VReg>,
    /// The register that the operand reads in the edited function.
    pub read_after: Option<VReg>,
    /// The difference, on one line.
    pub reason: String,
}

impl CheckError {
    /// Creates an error at an instruction of the view.
    pub(super) fn at(kind: ErrorKind, before: Inst, after: Option<Inst>, reason: String) -> Self {
        Self { before: Some(before), after, ..Self::new(kind, reason) }
    }

    /// Creates an error without a place.
    pub(super) fn new(kind: ErrorKind, reason: String) -> Self {
        Self { kind, before: None, after: None, operand: None, read_before: None, read_after: None, reason }
    }
}

impl From<ApplyError> for CheckError {
    fn from(error: ApplyError) -> Self {
        Self::new(ErrorKind::Edits, error.to_string())
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(before) = self.before {
            write!(f, ": {before}")?;
        }
        if let Some(after) = self.after {
            write!(f, " (now {after})")?;
        }
        if let Some(operand) = self.operand {
            write!(f, " operand {operand}")?;
        }
        if let Some(reg) = self.read_before {
            write!(f, " read {reg}")?;
        }
        if let Some(reg) = self.read_after {
            write!(f, ", reads {reg} now")?;
        }
        write!(f, ": {}", self.reason)
    }
}
