//! The computation of a definition, as far as the role of its opcode determines it.

use crate::function::{Function, Inst, RegClass, Role, Value};

/// The computation of one definition of an instruction. Sources are operand numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Computation {
    /// An arbitrary value.
    Undefined,
    /// The value of an operand.
    Copy { source: u32 },
    /// A value that depends on no register.
    Constant,
    /// All register operands that are read, concatenated, lowest part first.
    Pack(Division),
    /// One part of an operand.
    Part { index: u8, of: Division, source: u32 },
    /// The value of the operand for the predecessor.
    Phi,
    /// An unknown function of the operands.
    Unknown,
}

/// A register divided into equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Division {
    pub(super) whole: RegClass,
    pub(super) part: RegClass,
    pub(super) parts: u8,
}

/// An upper bound of the parts of a register.
const MAX_PARTS: usize = 16;

impl Division {
    /// `None` unless the parts fill the whole register.
    fn new(whole: RegClass, part: RegClass, parts: usize) -> Option<Self> {
        let fits = parts <= MAX_PARTS && part.bits() > 0 && part.bits() * parts as u32 == whole.bits();
        fits.then_some(Self { whole, part, parts: parts as u8 })
    }
}

/// Returns the computation of definition `operand` of an instruction. The computation is unknown if the operands do not
/// have the shape that the opcode's role requires.
pub(super) fn computation(function: &Function, inst: Inst, operand: u32) -> Computation {
    match function.role(inst) {
        Role::Copy if operand == 0 && function.as_copy(inst).is_some() => Computation::Copy { source: 1 },
        Role::Undef if operand == 0 => Computation::Undefined,
        Role::Constant if operand == 0 && is_constant(function, inst) => Computation::Constant,
        Role::Phi if operand == 0 => Computation::Phi,
        Role::Pack if operand == 0 => pack(function, inst).map_or(Computation::Unknown, Computation::Pack),
        Role::Unpack => unpack(function, inst, operand).unwrap_or(Computation::Unknown),
        Role::Extract { index, parts } if operand == 0 => {
            extract(function, inst, index, parts).unwrap_or(Computation::Unknown)
        }
        _ => Computation::Unknown,
    }
}

fn is_constant(function: &Function, inst: Inst) -> bool {
    let is_literal = |value| !matches!(value, Value::Reg(_) | Value::Physical(_));
    match function.operands(inst) {
        [def, rest @ ..] => def.def().is_some() && rest.iter().all(|operand| is_literal(operand.value)),
        [] => false,
    }
}

fn pack(function: &Function, inst: Inst) -> Option<Division> {
    let [def, parts @ ..] = function.operands(inst) else { return None };
    let whole = function.class(def.def()?);
    let part = function.class(parts.first()?.read_reg()?);
    let same = parts.iter().all(|operand| operand.read_reg().is_some_and(|reg| function.class(reg) == part));
    if same { Division::new(whole, part, parts.len()) } else { None }
}

fn unpack(function: &Function, inst: Inst, operand: u32) -> Option<Computation> {
    let [parts @ .., source] = function.operands(inst) else { return None };
    if parts.len() > MAX_PARTS {
        return None;
    }
    let whole = function.class(source.read_reg()?);
    let part = function.class(parts.first()?.def()?);
    let same = parts.iter().all(|operand| operand.def().is_some_and(|reg| function.class(reg) == part));
    let of = Division::new(whole, part, parts.len())?;
    same.then_some(Computation::Part { index: operand as u8, of, source: parts.len() as u32 })
}

fn extract(function: &Function, inst: Inst, index: u8, parts: u8) -> Option<Computation> {
    let [def, source] = function.operands(inst) else { return None };
    let (part, whole) = (function.class(def.def()?), function.class(source.read_reg()?));
    let of = Division::new(whole, part, parts.into())?;
    (index < parts).then_some(Computation::Part { index, of, source: 1 })
}
