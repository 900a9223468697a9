//! Atomic operations.

use super::super::instruction::Instruction;
use super::super::operand::{Operand, RZ, Register};
use super::Refusal;
use super::lowerer::Lowerer;
use crate::emulate::program::{AtomicOp, Op, Row, SINK, Space, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::{Kind, Ty};

impl Lowerer<'_> {
    /// Lowers an atomic operation. Returns whether the instruction is an atomic operation.
    pub(super) fn atomic(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        let space = match instruction.word() {
            "ATOM" | "ATOMG" | "RED" | "REDG" => Space::Generic,
            "ATOMS" => Space::Shared,
            _ => return Ok(false),
        };
        if instruction.mnemonic.as_ref() == "ATOMS.POPC.INC.32" {
            return self.count_up(instruction);
        }
        let (op, ty) = operation(instruction)?;
        // A predicate before the result says whether the operation executed, and is always true. If there is no result
        // (ATOMS.CAST since sm_100), the predicate says whether the value was exchanged.
        let mut operands = instruction.operands.as_slice();
        let mut exchanged = None;
        if let [Operand::Predicate(done), rest @ ..] = operands {
            operands = rest;
            let (to, truth) = (self.written_predicate(*done), self.constant(1, 1));
            self.keep_guard();
            if instruction.has("CAST") && !matches!(rest, [Operand::Register(..), ..]) {
                exchanged = Some(to);
            } else if to != SINK {
                self.emit(Op::Move { to, from: truth });
            }
        }
        let result = match operands {
            [Operand::Register(to, _), rest @ ..] => {
                operands = rest;
                Some(*to)
            }
            _ => None,
        };
        let [Operand::Address(place), values @ ..] = operands else { return Err("unknown operands".into()) };
        let mut sources = [ZERO; 2];
        for (source, value) in sources.iter_mut().zip(values) {
            let Operand::Register(register, _) = *value else { return Err("unknown operands".into()) };
            *source = self.atomic_source(register, ty);
        }
        if op == AtomicOp::CompareAndSwap && values.len() != 2 {
            return Err("unknown operands".into());
        }
        let address = self.place(*place, space);
        let (to, wide) = match result {
            None => (SINK, None),
            Some(register) if ty.bits() == 64 => self.wide_result(register),
            Some(register) => (self.written_register(register), None),
        };
        let is_asked = instruction.has("CAST");
        let to = exchanged.unwrap_or(to);
        let found = if is_asked { self.temporary(ty.bits()) } else { to };
        self.emit(Op::Atomic { address, op, ty, to: found, from: sources, kind: Kind::default() });
        if is_asked && to != SINK {
            // The predicate of `.CAST` says whether the value was exchanged.
            let is_same = Pure::new(ty, |[a, b]: [u64; 2]| [u64::from(a == b)]);
            let is_same = if exchanged.is_some() { is_same.results(&[Ty::Pred]) } else { is_same };
            self.emit_pure(is_same, &[to], &[found, sources[0]]);
        }
        self.settle(wide);
        Ok(true)
    }

    /// Lowers `ATOMS.POPC.INC`, which adds the number of active threads: each thread adds one.
    fn count_up(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        let [Operand::Register(Register { number: RZ, .. }, _), Operand::Address(place)] =
            *instruction.operands.as_slice()
        else {
            return Err("unknown operands".into());
        };
        let (address, one) = (self.place(place, Space::Shared), self.constant(1, 32));
        let (op, ty, from) = (AtomicOp::Add, Ty::Unsigned(32), [one, ZERO]);
        self.emit(Op::Atomic { address, op, ty, to: SINK, from, kind: Kind::default() });
        Ok(true)
    }

    fn atomic_source(&mut self, register: Register, ty: Ty) -> Row {
        if ty.bits() == 64 { self.pair(register) } else { self.read_register(register) }
    }
}

/// Returns the operation and its type.
fn operation(instruction: &Instruction) -> Result<(AtomicOp, Ty), Refusal> {
    let (mut op, mut ty) = (None, Ty::Unsigned(32));
    for modifier in instruction.modifiers() {
        match modifier {
            "ADD" => op = Some(AtomicOp::Add),
            "MIN" => op = Some(AtomicOp::Min),
            "MAX" => op = Some(AtomicOp::Max),
            "AND" => op = Some(AtomicOp::And),
            "OR" => op = Some(AtomicOp::Or),
            "XOR" => op = Some(AtomicOp::Xor),
            "EXCH" => op = Some(AtomicOp::Exchange),
            "CAS" | "CAST" => op = Some(AtomicOp::CompareAndSwap),
            "INC" => op = Some(AtomicOp::Increment),
            "DEC" => op = Some(AtomicOp::Decrement),
            "U32" | "32" => {}
            "S32" => ty = Ty::Signed(32),
            "64" | "U64" => ty = Ty::Unsigned(64),
            "S64" => ty = Ty::Signed(64),
            "F32" => ty = Ty::F32,
            "F64" => ty = Ty::F64,
            "F16x2" => ty = Ty::F16x2,
            "BF16x2" | "BF16_V2" => ty = Ty::BF16x2,
            "E" | "STRONG" | "GPU" | "SYS" | "SM" | "CTA" | "SPIN" | "FTZ" | "RN" | "EF" | "EL" => {}
            other => return Err(format!("the modifier {other}")),
        }
    }
    Ok((op.ok_or("unknown operation")?, ty))
}
