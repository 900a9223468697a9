//! Values in words, for error messages.

use super::equality::Prover;
use super::pair::Which;
use super::terms::{Operation, Value};
use crate::function::{self, Function, RegClass, Slot, VReg};
use crate::index::EntityIndex;

/// Describes a value in words. Terms are printed to a depth of 3.
pub(super) fn describe(prover: &Prover<'_>, which: Which, value: Value) -> String {
    describe_to_depth(prover, which, value, 3)
}

fn describe_to_depth(prover: &Prover<'_>, which: Which, value: Value, depth: u32) -> String {
    let values = prover.values(which);
    let function = values.function();
    match value {
        Value::Undefined => "an undefined value".into(),
        Value::Unknown => "a value that is computed later".into(),
        Value::Constant(id) => {
            let constant = prover.terms().get_constant(id);
            let operands: Vec<String> = constant.operands.iter().map(|&value| literal(function, value)).collect();
            let opcode = constant.opcode.map_or(constant.class.name(), |opcode| function.opcodes().name(opcode));
            format!("{opcode} {}", operands.join(", "))
        }
        Value::Entry(location) if location.index() < function.num_regs() => {
            format!("{} at its entry", VReg::new(location.index()))
        }
        Value::Entry(location) if values.is_carried(location) => "the last result of the instruction".into(),
        Value::Entry(location) => {
            let slot = Slot::new((location.index() - function.num_regs()) / RegClass::ALL.len());
            format!("{slot} at its entry")
        }
        Value::Kept(..) | Value::Own(..) => match values.definition(value) {
            Some((inst, operand)) => {
                let name = function.opcodes().name(function.opcode(inst));
                format!("operand {operand} of {inst} {name}")
            }
            None => "the result of a deleted instruction".into(),
        },
        Value::Term(_) if depth == 0 => "…".into(),
        Value::Term(id) => {
            let (operation, args) = prover.terms().get_term(id);
            let args: Vec<String> = args.iter().map(|&arg| describe_to_depth(prover, which, arg, depth - 1)).collect();
            let name = match *operation {
                Operation::Pack(_) => "pack".to_owned(),
                Operation::Part { index, of } => format!("part {index} of {}", of.parts),
                Operation::Other(skeleton) => {
                    let skeleton = prover.terms().get_skeleton(skeleton);
                    function.opcodes().name(skeleton.opcode).to_owned()
                }
            };
            format!("{name}({})", args.join(", "))
        }
    }
}

fn literal(function: &Function, value: function::Value) -> String {
    match value {
        function::Value::Immediate(value) => value.to_string(),
        function::Value::Float(bits) => format!("{bits:#x}"),
        function::Value::Symbol(symbol) if symbol.index() < function.symbols.len() => {
            function.symbol(symbol).to_owned()
        }
        other => format!("{other:?}"),
    }
}
