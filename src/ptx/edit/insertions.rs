//! The PTX of instructions that edits insert.

use super::registers::Registers;
use super::slots::Slots;
use super::substitutions::new_label;
use crate::function::{AccessRegisters, Function, Inst, RegClass, Role, VReg, Value};
use crate::spill::lower::steps::Access;

/// Returns the type suffix of a move, load or store.
fn type_of(class: RegClass) -> &'static str {
    match class {
        RegClass::B1 => "pred",
        RegClass::B16 => "b16",
        RegClass::B32 => "b32",
        RegClass::B64 => "b64",
        RegClass::B128 | RegClass::Other => "b128",
    }
}

/// Returns a number as an operand of a class.
fn number(value: i64, class: RegClass) -> String {
    match class {
        RegClass::B1 => if value == 0 { "0" } else { "-1" }.to_owned(),
        RegClass::B16 => (value as i16).to_string(),
        RegClass::B32 => (value as i32).to_string(),
        _ => value.to_string(),
    }
}

/// Returns the PTX of an inserted instruction: a copy, a constant, a store to a slot, a load from a slot, or a branch.
/// `label_of` returns the label of a block.
pub(super) fn text_of(
    function: &Function,
    inst: Inst,
    registers: &Registers,
    slots: &Slots,
    label_of: impl Fn(crate::function::Block) -> String,
) -> Result<String, String> {
    let operands = function.operands(inst);
    let reg =
        |at: usize| operands.get(at).and_then(|operand| operand.reg()).ok_or("an inserted operand is no register");
    let class = |reg: VReg| function.class(reg);
    Ok(match (function.role(inst), operands) {
        (Role::Copy, [_, _]) => {
            let (to, from) = (reg(0)?, reg(1)?);
            format!("mov.{} {}, {};", type_of(class(to)), registers.name(to), registers.name(from))
        }
        (Role::Constant, [_, value]) => {
            let to = reg(0)?;
            let value = match value.value {
                Value::Immediate(value) => number(value, class(to)),
                Value::Float(bits) if class(to) == RegClass::B64 => format!("0d{bits:016X}"),
                Value::Float(bits) => format!("0f{bits:08X}"),
                Value::Symbol(symbol) => function.symbol(symbol).trim_start_matches('@').to_owned(),
                other => return Err(format!("an inserted constant is {other:?}")),
            };
            format!("mov.{} {}, {value};", type_of(class(to)), registers.name(to))
        }
        (Role::Spill | Role::Reload, [_, slot, ..]) => {
            let (value, Value::Slot(slot)) = (reg(0)?, slot.value) else {
                return Err("a slot operand is no slot".into());
            };
            let class = class(value);
            let access_registers = AccessRegisters { class, registers: operands.len().div_ceil(2) as u8 };
            let constant = function.constant_ahead(inst, value);
            let access =
                Access { role: function.role(inst), registers: access_registers, place: slots.place(slot)?, constant };
            let names = (0..operands.len()).step_by(2).map(|at| Ok(registers.name(reg(at)?)));
            return slots.access(&access, &names.collect::<Result<Vec<_>, String>>()?);
        }
        (_, [target]) => match target.value {
            Value::Block(block) => format!("bra.uni {};", label_of(block)),
            other => return Err(format!("an inserted branch goes to {other:?}")),
        },
        _ => {
            return Err(format!(
                "an inserted {} cannot be written in PTX",
                function.opcodes().name(function.opcode(inst))
            ));
        }
    })
}

/// Returns the label of a block that has no label in the PTX.
pub(super) fn label_text(block: crate::function::Block) -> String {
    format!("\n{}:", new_label(block))
}
