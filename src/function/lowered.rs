//! Edits as they cross to LLVM: what accesses slots has become instructions of the target.
//!
//! `spill::lower` makes such a list of an [`EditList`](super::EditList), and `check::lowered` holds it against that list.
//! Instructions are numbered anew, because one edit may have become several.

use super::{Edit, Inst, MemorySpace, Operand, Position, RegClass, VReg};

/// The registers that one load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccessRegisters {
    /// The class of each.
    pub class: RegClass,
    /// How many: 1, 2 or 4.
    pub registers: u8,
}

/// An instruction of the target that lowering inserts. The table of `spill::lower` has its names and operands.
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

/// What an instruction accesses in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// Which memory.
    pub space: MemorySpace,
    /// Bytes.
    pub bytes: u32,
    /// Bytes, a power of two.
    pub align: u32,
    /// Whether it stores; else it loads.
    pub is_store: bool,
    /// Whether no compiler may move, repeat or leave out the access.
    pub is_volatile: bool,
}

/// A new instruction of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Insertion {
    /// The number it gets.
    pub inst: Inst,
    /// Where.
    pub at: Position,
    /// What it is.
    pub op: MachineOp,
    /// All of its operands, in LLVM's order.
    pub operands: Vec<Operand>,
    /// What it accesses.
    pub memory: Option<MemoryAccess>,
}

/// An edit of a lowered list.
#[derive(Clone, Debug, PartialEq)]
pub enum LoweredEdit {
    /// An edit that has nothing to do with slots.
    Kept(Edit),
    /// A new instruction of the target.
    Insert(Insertion),
    /// New inline assembly without inputs. It computes addresses.
    InsertAssembly {
        /// The number it gets.
        inst: Inst,
        /// Where.
        at: Position,
        /// The text, with `$N` for its results.
        text: String,
        /// The registers written.
        results: Vec<VReg>,
    },
}
