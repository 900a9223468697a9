//! The instructions of spill code: their names in LLVM and in PTX, and their operands.

use crate::function::{AccessRegisters, MachineOp, MemorySpace, Operand, RegClass, Value};

/// The name of an instruction in LLVM, and its name in PTX or the end of its name in PTX.
struct Row {
    op: MachineOp,
    /// Empty if LLVM has no such instruction.
    llvm: &'static str,
    ptx: &'static str,
}

const fn row(op: MachineOp, llvm: &'static str, ptx: &'static str) -> Row {
    Row { op, llvm, ptx }
}

const fn load(class: RegClass, registers: u8, llvm: &'static str, ptx: &'static str) -> Row {
    row(MachineOp::Load(AccessRegisters { class, registers }), llvm, ptx)
}

const fn store(class: RegClass, registers: u8, llvm: &'static str, ptx: &'static str) -> Row {
    row(MachineOp::Store(AccessRegisters { class, registers }), llvm, ptx)
}

/// The PTX names of loads and stores lack the beginning: `ld` or `st`, and the state space. LLVM moves 128 bits in two
/// halves.
const TABLE: [Row; 24] = [
    load(RegClass::B16, 1, "LD_i16", "b16"),
    load(RegClass::B32, 1, "LD_i32", "b32"),
    load(RegClass::B64, 1, "LD_i64", "b64"),
    load(RegClass::B128, 1, "", "b128"),
    load(RegClass::B32, 2, "LDV_i32_v2", "v2.b32"),
    load(RegClass::B32, 4, "LDV_i32_v4", "v4.b32"),
    load(RegClass::B64, 2, "LDV_i64_v2", "v2.b64"),
    store(RegClass::B16, 1, "ST_i16", "b16"),
    store(RegClass::B32, 1, "ST_i32", "b32"),
    store(RegClass::B64, 1, "ST_i64", "b64"),
    store(RegClass::B128, 1, "", "b128"),
    store(RegClass::B32, 2, "STV_i32_v2", "v2.b32"),
    store(RegClass::B32, 4, "STV_i32_v4", "v4.b32"),
    store(RegClass::B64, 2, "STV_i64_v2", "v2.b64"),
    row(MachineOp::NumberOfPredicate, "SELP_b16ii", "selp.b16"),
    row(MachineOp::PredicateOfNumber, "SETP_i16ri", "setp.ne.s16"),
    row(MachineOp::Halves, "I128toV2I64", "mov.b128"),
    row(MachineOp::Whole, "V2I64toI128", "mov.b128"),
    row(MachineOp::Clear, "MOV_B32_i", "mov.b32"),
    row(MachineOp::Select, "SELP_b32ii", "selp.b32"),
    row(MachineOp::And, "AND_b32ri", "and.b32"),
    row(MachineOp::Or, "OR_b32rr", "or.b32"),
    row(MachineOp::Set, "OR_b32ri", "or.b32"),
    row(MachineOp::Test, "SETP_i32ri", "setp.ne.s32"),
];

/// Kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A register that is written.
    Write(RegClass),
    /// A register that is read.
    Read(RegClass),
    /// Any number.
    Number,
    /// A modifier of LLVM's instruction, with its valid values. LLVM aborts at other values.
    Mode(&'static [i64]),
}

/// Modifiers of a load or store in NVPTXInstrInfo.td: the volatility and the memory order.
const NOT_ATOMIC: i64 = 0;
const VOLATILE: i64 = 8;
const THREAD_SCOPE: &[i64] = &[0];
const SPACES: &[i64] = &[MemorySpace::Shared as i64, MemorySpace::Local as i64];
/// Modifier of a load: the bits are neither a signed integer nor a float.
const UNTYPED: &[i64] = &[3];
const ALL_BYTES: &[i64] = &[-1];
/// Modifier of a comparison.
const NOT_EQUAL: &[i64] = &[1];

/// Returns LLVM's names of all instructions, in the order of their numbers in edits. The name is empty if LLVM does not
/// have the instruction.
pub fn llvm_names() -> impl ExactSizeIterator<Item = &'static str> {
    TABLE.iter().map(|row| row.llvm)
}

/// Returns the number of an instruction in the table.
pub fn number_of(op: MachineOp) -> Option<u32> {
    TABLE.iter().position(|row| row.op == op).map(|number| number as u32)
}

/// Returns the instruction with a number.
pub fn by_number(number: u32) -> Option<MachineOp> {
    TABLE.get(number as usize).map(|row| row.op)
}

/// Returns the PTX name of an instruction. For loads and stores, the name begins at the type.
pub(crate) fn ptx_name(op: MachineOp) -> Option<&'static str> {
    TABLE.iter().find(|row| row.op == op).map(|row| row.ptx)
}

/// Whether LLVM has an instruction.
pub(super) fn is_in_llvm(op: MachineOp) -> bool {
    TABLE.iter().any(|row| row.op == op && !row.llvm.is_empty())
}

/// Returns the operands of an instruction in LLVM's order.
pub(crate) fn operands_of(op: MachineOp) -> Vec<OperandKind> {
    use OperandKind::{Mode, Number, Read, Write};
    use RegClass::{B1, B16, B32, B64, B128};
    match op {
        MachineOp::Load(moved) => {
            let modes = [Mode(&[NOT_ATOMIC]), Mode(THREAD_SCOPE), Mode(SPACES), Mode(UNTYPED), Mode(bits(moved))];
            let registers = vec![Write(moved.class); moved.registers.into()];
            [&registers[..], &modes, &[Mode(ALL_BYTES), Read(B32), Number]].concat()
        }
        MachineOp::Store(moved) => {
            let modes = [Mode(&[NOT_ATOMIC, VOLATILE]), Mode(THREAD_SCOPE), Mode(SPACES), Mode(bits(moved))];
            [&vec![Read(moved.class); moved.registers.into()][..], &modes, &[Read(B32), Number]].concat()
        }
        MachineOp::NumberOfPredicate => vec![Write(B16), Number, Number, Read(B1)],
        MachineOp::PredicateOfNumber => vec![Write(B1), Read(B16), Number, Mode(NOT_EQUAL)],
        MachineOp::Halves => vec![Write(B64), Write(B64), Read(B128)],
        MachineOp::Whole => vec![Write(B128), Read(B64), Read(B64)],
        MachineOp::Clear => vec![Write(B32), Number],
        MachineOp::Select => vec![Write(B32), Number, Number, Read(B1)],
        MachineOp::And | MachineOp::Set => vec![Write(B32), Read(B32), Number],
        MachineOp::Or => vec![Write(B32), Read(B32), Read(B32)],
        MachineOp::Test => vec![Write(B1), Read(B32), Number, Mode(NOT_EQUAL)],
    }
}

/// Returns the width of each register in bits.
fn bits(moved: AccessRegisters) -> &'static [i64] {
    match moved.class {
        RegClass::B16 => &[16],
        RegClass::B32 => &[32],
        _ => &[64],
    }
}

/// Whether an operand of an instruction accepts a number.
pub fn takes_number(op: MachineOp, operand: usize, value: i64) -> bool {
    match operands_of(op).get(operand) {
        Some(OperandKind::Number) => true,
        Some(OperandKind::Mode(modes)) => modes.contains(&value),
        _ => false,
    }
}

/// Whether an operand of an instruction accepts a register of a class; `is_write` if the instruction writes it.
pub fn takes_register(op: MachineOp, operand: usize, class: RegClass, is_write: bool) -> bool {
    let wanted = if is_write { OperandKind::Write(class) } else { OperandKind::Read(class) };
    operands_of(op).get(operand) == Some(&wanted)
}

/// Returns all operands of an instruction, including the operands that the table fills in. A load or store has the
/// given state space and volatility.
pub(super) fn completed(op: MachineOp, given: &[Value], (space, is_volatile): (MemorySpace, bool)) -> Vec<Operand> {
    let mut given = given.iter().copied();
    let mut operands = Vec::new();
    for kind in operands_of(op) {
        operands.push(match kind {
            OperandKind::Mode(&[only]) => Operand::immediate(only),
            OperandKind::Mode(modes) if modes == SPACES => Operand::immediate(space as i64),
            OperandKind::Mode(_) => Operand::immediate(if is_volatile { VOLATILE } else { NOT_ATOMIC }),
            OperandKind::Number | OperandKind::Read(_) => Operand::plain(given.next().unwrap_or(Value::NoReg)),
            OperandKind::Write(_) => match given.next() {
                Some(Value::Reg(reg)) => Operand::write(reg),
                other => Operand::plain(other.unwrap_or(Value::NoReg)),
            },
        });
    }
    operands
}
