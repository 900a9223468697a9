//! The edits that are passed to LLVM. Accesses to slots are replaced by instructions of the target.
//!
//! `spill::lower` makes such a list from an [`EditList`](super::EditList), and `check::lowered` compares the two lists.
//! Instructions are renumbered, because one edit may become several.

use super::{Edit, Inst, MemorySpace, Operand, Position, RegClass, VReg};

/// The registers that one load or store transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccessRegisters {
    /// The class of each register.
    pub class: RegClass,
    /// The number of registers: 1, 2 or 4.
    pub registers: u8,
}

/// An instruction of the target that lowering inserts. `spill::lower` has the table of names and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MachineOp {
    /// A load from an address and an offset.
    Load(AccessRegisters),
    /// A store to an address and an offset.
    Store(AccessRegisters),
    /// `number of 16 bits = predicate ? 1 : 0`
    NumberOfPredicate,
    /// `predicate = number of 16 bits != 0`
    PredicateOfNumber,
    /// `{low, high} = register of 128 bits`
    Halves,
    /// `register of 128 bits = {low, high}`
    Whole,
    /// `word = 0`
    Clear,
    /// `part = predicate ? mask : 0`
    Select,
    /// `part = word & mask`
    And,
    /// `word = part | part`
    Or,
    /// `word = word | mask`
    Set,
    /// `predicate = part != 0`
    Test,
}

/// A memory access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// The memory space.
    pub space: MemorySpace,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Whether the access is a store; otherwise a load.
    pub is_store: bool,
    /// Whether compilers must not move, repeat or omit the access.
    pub is_volatile: bool,
}

/// A new instruction of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Insertion {
    /// The new id.
    pub inst: Inst,
    /// The position.
    pub at: Position,
    /// The operation.
    pub op: MachineOp,
    /// All operands, in LLVM's order.
    pub operands: Vec<Operand>,
    /// The memory access, if there is one.
    pub memory: Option<MemoryAccess>,
}

/// An edit of a lowered list.
#[derive(Clone, Debug, PartialEq)]
pub enum LoweredEdit {
    /// An edit that does not concern slots.
    Kept(Edit),
    /// A new instruction of the target.
    Insert(Insertion),
    /// New inline assembly without inputs, which computes addresses.
    InsertAssembly {
        /// The new id.
        inst: Inst,
        /// The position.
        at: Position,
        /// The text, with `$N` for its results.
        text: String,
        /// The registers written.
        results: Vec<VReg>,
    },
}
