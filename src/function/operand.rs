//! Operands: the values that an instruction reads and writes.

use bitflags::bitflags;

use super::{Block, Slot, Symbol, VReg};

bitflags! {
    /// Properties of a register operand.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct OperandFlags: u8 {
        /// The register is written. Without this flag, it is read.
        const DEF = 1 << 0;
        /// Not printed in the assembly text.
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

/// The kind and value of an operand.
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
    /// The kind and value.
    pub value: Value,
    /// Properties of the register; empty if the operand is not a register.
    pub flags: OperandFlags,
    /// The operand of the same instruction that must be the same register, if there is one.
    pub tied: Option<u16>,
}

impl Operand {
    /// Returns an operand that reads a register.
    pub fn read(reg: VReg) -> Self {
        Self::plain(Value::Reg(reg))
    }

    /// Returns an operand that writes a register.
    pub fn write(reg: VReg) -> Self {
        Self { value: Value::Reg(reg), flags: OperandFlags::DEF, tied: None }
    }

    /// Returns an integer immediate.
    pub fn immediate(value: i64) -> Self {
        Self::plain(Value::Immediate(value))
    }

    /// Returns an operand without flags.
    pub fn plain(value: Value) -> Self {
        Self { value, flags: OperandFlags::empty(), tied: None }
    }

    /// Returns the virtual register, whether read or written.
    #[inline]
    pub fn reg(&self) -> Option<VReg> {
        match self.value {
            Value::Reg(reg) => Some(reg),
            _ => None,
        }
    }

    /// Returns the integer immediate.
    #[inline]
    pub fn as_immediate(&self) -> Option<i64> {
        match self.value {
            Value::Immediate(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the operand writes a register.
    #[inline]
    pub fn is_def(&self) -> bool {
        self.flags.contains(OperandFlags::DEF)
    }

    /// Returns the virtual register if the operand writes it.
    #[inline]
    pub fn def(&self) -> Option<VReg> {
        if self.is_def() { self.reg() } else { None }
    }

    /// Returns the virtual register if the operand reads it, including a read of an undefined value.
    #[inline]
    pub fn read_reg(&self) -> Option<VReg> {
        if self.is_def() { None } else { self.reg() }
    }

    /// Returns the virtual register if the operand reads its value. `None` if the value read is undefined.
    #[inline]
    pub fn use_reg(&self) -> Option<VReg> {
        if self.flags.intersects(OperandFlags::DEF.union(OperandFlags::UNDEF)) { None } else { self.reg() }
    }
}
