//! A machine instruction, as far as it matters: where it is, whether it moves memory, and where control goes.

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// In bytes from the start of the function.
    pub(crate) address: u32,
    pub(crate) kind: Kind,
    /// Whether something decides if it is done.
    pub(crate) is_conditional: bool,
    /// The address that it names, where it is one that control may go to.
    pub(crate) target: Option<u32>,
}

/// What matters of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// NOP.
    Nothing,
    /// LDL, STL: with the bytes that it moves from or to a fixed place of the stack, 0 for another place.
    Local(u32),
    /// LDS, STS: with the bytes that it moves.
    Shared(u32),
    /// A branch to an address that it names.
    Branch,
    /// A branch to an address in a register.
    IndirectBranch,
    /// A call.
    Call,
    /// EXIT, RET, KILL.
    End,
    /// BSSY, whose address is where a thread that waits at BSYNC continues.
    Meeting,
    /// Any other.
    Other,
}

impl Instruction {
    /// The address that it may continue at, beside the next one. A call comes back to the next. Subroutines stand
    /// behind what calls them; other functions have code of their own.
    pub(super) fn successor(&self) -> Option<u32> {
        match self.kind {
            Kind::Branch | Kind::Meeting => self.target,
            Kind::Call => self.target.filter(|&target| target > self.address),
            _ => None,
        }
    }

    /// Whether what follows it begins a block.
    pub(super) fn leaves(&self) -> bool {
        !matches!(self.kind, Kind::Nothing | Kind::Local(_) | Kind::Shared(_) | Kind::Other)
    }

    /// Whether the next instruction may follow it.
    pub(super) fn falls_through(&self) -> bool {
        match self.kind {
            Kind::Branch | Kind::IndirectBranch | Kind::End => self.is_conditional,
            _ => true,
        }
    }
}
