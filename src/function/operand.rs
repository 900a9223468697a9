//! Operands: what an instruction reads and writes.

use bitflags::bitflags;

use super::{Block, Slot, Symbol, VReg};

bitflags! {
    /// How an operand's register is used.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct OperandFlags: u8 {
        /// The register is written; without it, read.
        const DEF = 1 << 0;
        /// Not written in the assembly text.
        const IMPLICIT = 1 << 1;
        /// The value read does not matter.
        const UNDEF = 1 << 2;
        /// The value written is never read.
        const DEAD = 1 << 3;
        /// The last read of the value (LLVM's hint; the analyses do not rely on it).
        const KILL = 1 << 4;
        /// Written before the uses of the instruction are read.
        const EARLY_CLOBBER = 1 << 5;
    }
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A virtual register.
    Reg(VReg),
    /// A physical register of LLVM (`%SP`, `%Depot`, an environment register), by LLVM's number. Never coalesced.
    Physical(u32),
    /// No register: LLVM's `$noreg`.
    NoReg,
    /// An integer immediate.
    Immediate(i64),
    /// A floating-point immediate, by the bits of its own format.
    Float(u64),
    /// Anything else (global, external symbol, metadata …): two operands with the same symbol are identical.
    Symbol(Symbol),
    /// A block.
    Block(Block),
    /// A stack slot.
    Slot(Slot),
}

/// One operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// What it is.
    pub value: Value,
    /// How its register is used; empty for anything that is not a register.
    pub flags: OperandFlags,
    /// The operand of the same instruction that must be the same register, if there is one.
    pub tied: Option<u16>,
}

impl Operand {
    /// A register that is read.
    pub fn read(reg: VReg) -> Self {
        Self::plain(Value::Reg(reg))
    }

    /// A register that is written.
    pub fn write(reg: VReg) -> Self {
        Self { value: Value::Reg(reg), flags: OperandFlags::DEF, tied: None }
    }

    /// An integer immediate.
    pub fn immediate(value: i64) -> Self {
        Self::plain(Value::Immediate(value))
    }

    /// An operand without flags.
    pub fn plain(value: Value) -> Self {
        Self { value, flags: OperandFlags::empty(), tied: None }
    }

    /// Its virtual register, read or written.
    #[inline]
    pub fn reg(&self) -> Option<VReg> {
        match self.value {
            Value::Reg(reg) => Some(reg),
            _ => None,
        }
    }

    /// The integer that it is.
    #[inline]
    pub fn as_immediate(&self) -> Option<i64> {
        match self.value {
            Value::Immediate(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it writes a register.
    #[inline]
    pub fn is_def(&self) -> bool {
        self.flags.contains(OperandFlags::DEF)
    }

    /// The virtual register that it writes.
    #[inline]
    pub fn def(&self) -> Option<VReg> {
        if self.is_def() { self.reg() } else { None }
    }

    /// The virtual register that it reads, a read of an undefined value included.
    #[inline]
    pub fn read_reg(&self) -> Option<VReg> {
        if self.is_def() { None } else { self.reg() }
    }

    /// The virtual register whose value it reads: none where the value does not matter.
    #[inline]
    pub fn use_reg(&self) -> Option<VReg> {
        if self.flags.intersects(OperandFlags::DEF.union(OperandFlags::UNDEF)) { None } else { self.reg() }
    }
}
