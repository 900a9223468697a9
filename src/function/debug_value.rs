//! Debug values whose register is removed.

use super::{Function, Inst, Operand, Value};

impl Function {
    /// Returns the debug value for the result of an instruction of role [`Constant`](super::Role::Constant): a number,
    /// or the bits of a float. [`Value::NoReg`] for the address of a symbol.
    pub fn described_constant(&self, constant: Inst) -> Value {
        match self.operands(constant) {
            [_, Operand { value: Value::Immediate(value), .. }] => Value::Immediate(*value),
            [_, Operand { value: Value::Float(bits), .. }] => Value::Immediate(*bits as i64),
            _ => Value::NoReg,
        }
    }

    /// Returns the value with which a debug instruction can describe its variable without a register. [`Value::NoReg`]
    /// unless one register holds the variable. If the second operand is a number, the instruction describes an address.
    /// If the first operand is not a register, the variable is computed from several operands.
    pub fn describable(&self, debug: Inst, value: Value) -> Value {
        match self.operands(debug) {
            [Operand { value: Value::Reg(_), .. }, Operand { value: Value::NoReg, .. }, ..] => value,
            _ => Value::NoReg,
        }
    }
}
