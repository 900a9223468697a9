//! What debug values say where their register is gone.

use super::{Function, Inst, Operand, Value};

impl Function {
    /// How a debug value describes what an instruction of role [`Constant`](super::Role::Constant) writes: as a number,
    /// a floating-point one by its bits; a symbol's address it cannot.
    pub fn described_constant(&self, constant: Inst) -> Value {
        match self.operands(constant) {
            [_, Operand { value: Value::Immediate(value), .. }] => Value::Immediate(*value),
            [_, Operand { value: Value::Float(bits), .. }] => Value::Immediate(*bits as i64),
            _ => Value::NoReg,
        }
    }

    /// What a debug value can say of a variable that has this value and no register: nothing, where it does not say
    /// that one register holds its variable. One whose second operand is a number describes an address, and one that
    /// begins with something else computes the variable from several operands.
    pub fn describable(&self, debug: Inst, value: Value) -> Value {
        match self.operands(debug) {
            [Operand { value: Value::Reg(_), .. }, Operand { value: Value::NoReg, .. }, ..] => value,
            _ => Value::NoReg,
        }
    }
}
