//! Bulk copies and tensor copies. The warp starts each copy once.

use super::super::instruction::Instruction;
use super::super::operand::{Address as Place, Operand, Register};
use super::Refusal;
use super::lowerer::Lowerer;
use crate::emulate::bulk::{Bulk, BulkCopy, Tensor};
use crate::emulate::program::{Address, AtomicOp, Op, Row, Space};
use crate::emulate::pure::Pure;
use crate::emulate::types::Ty;

const U32: Ty = Ty::Unsigned(32);

impl Lowerer<'_> {
    /// Lowers a bulk copy. Returns whether the instruction is a bulk copy.
    pub(super) fn bulk(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        let copy = match instruction.word() {
            "UTMACMDFLUSH" => {
                self.emit(Op::Fence);
                return Ok(true);
            }
            "UBLKPF" | "UTMAPF" | "UTMACCTL" => {
                self.emit(Op::Nothing);
                return Ok(true);
            }
            "UBLKCP" | "UBLKRED" => self.bulk_copy(instruction)?,
            "UTMALDG" | "UTMASTG" | "UTMAREDG" => self.tensor_copy(instruction)?,
            _ => return Ok(false),
        };
        self.emit(Op::Bulk(Box::new(Bulk { copy, is_of_warp: true })));
        Ok(true)
    }

    /// Lowers `UBLKCP` and `UBLKRED`. The last register has the size in units of 16 bytes. If shared memory is the
    /// destination, the address of the mbarrier follows the destination's address.
    fn bulk_copy(&mut self, instruction: &Instruction) -> Result<BulkCopy, Refusal> {
        let modifiers: Vec<&str> = instruction.modifiers().collect();
        let [Operand::Address(to), Operand::Address(from), Operand::Register(size, _), ..] =
            *instruction.operands.as_slice()
        else {
            return Err("unknown operands".into());
        };
        let (to, from) = (start(to)?, start(from)?);
        let (size, bytes) = (self.read_register(size), self.temporary(32));
        let in_bytes = Pure::new(U32, |[size]: [u64; 1]| [(size & 0xffff) << 4]).sources(&[U32]);
        self.emit_pure(in_bytes, &[bytes], &[size]);
        match modifiers.as_slice() {
            ["S", "G", hints @ ..] if instruction.word() == "UBLKCP" => {
                let is_hint = |hint: &&str| matches!(*hint, "MULTICAST" | "LTC64B" | "LTC128B");
                if let Some(other) = hints.iter().find(|hint| !is_hint(hint)) {
                    return Err(format!("the modifier {other}"));
                }
                let mbarrier = self.near_address(behind(to, 1));
                Ok(BulkCopy::ToShared { to: self.near_address(to), from: self.far_address(from), bytes, mbarrier })
            }
            ["G", "S", rest @ ..] => {
                let reduction = match (instruction.word(), rest) {
                    ("UBLKCP", []) => None,
                    ("UBLKRED", [op, ty @ ..]) => {
                        let ty = of_elements(ty).ok_or("unknown type")?;
                        let op = operation(op).ok_or("unknown operation")?;
                        let is_known = ty.is_integer() || op == AtomicOp::Add;
                        is_known.then_some(Some((op, ty))).ok_or("unknown operation")?
                    }
                    _ => return Err("unknown form".into()),
                };
                Ok(BulkCopy::ToGlobal { to: self.far_address(to), from: self.near_address(from), bytes, reduction })
            }
            _ => Err("unknown form".into()),
        }
    }

    /// Lowers a tensor copy. For `UTMALDG`, consecutive registers have the address in shared memory, the mbarrier, and
    /// the coordinates. `UTMASTG` and `UTMAREDG` have no mbarrier. The second operand is the address of the tensor map.
    fn tensor_copy(&mut self, instruction: &Instruction) -> Result<BulkCopy, Refusal> {
        let modifiers: Vec<&str> = instruction.modifiers().collect();
        let [Operand::Address(near), Operand::Address(map), ..] = *instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        let (near, map) = (start(near)?, start(map)?);
        let (&dimensions, rest) = modifiers.split_first().ok_or("unknown dimensions")?;
        let count = ["1D", "2D", "3D", "4D", "5D"].iter().position(|&name| name == dimensions);
        let count = count.ok_or("unknown dimensions")? as u8 + 1;
        let is_load = instruction.word() == "UTMALDG";
        let first = if is_load { 2 } else { 1 };
        let coordinates: Vec<Row> =
            (first..first + count).map(|number| self.read_register(behind(near, number))).collect();
        let tensor = Tensor { map: self.far_address(map), coordinates };
        match (instruction.word(), rest) {
            ("UTMALDG", [] | ["MULTICAST"]) => {
                let mbarrier = self.near_address(behind(near, 1));
                Ok(BulkCopy::OfTensor { to: self.near_address(near), tensor, mbarrier })
            }
            ("UTMASTG", []) => Ok(BulkCopy::ToTensor { from: self.near_address(near), tensor, reduction: None }),
            ("UTMAREDG", [op]) => {
                let reduction = Some(operation(op).ok_or("unknown operation")?);
                Ok(BulkCopy::ToTensor { from: self.near_address(near), tensor, reduction })
            }
            _ => Err("unknown form".into()),
        }
    }

    /// Returns the shared-memory address in a register.
    fn near_address(&mut self, register: Register) -> Address {
        Address { space: Space::Shared, base: self.read_register(register), offset: 0 }
    }

    /// Returns the generic address in two registers.
    fn far_address(&mut self, register: Register) -> Address {
        Address { space: Space::Generic, base: self.pair(register), offset: 0 }
    }
}

/// Returns the first register of an operand in brackets.
fn start(place: Place) -> Result<Register, Refusal> {
    let number = place.uniform.filter(|_| place.base.is_none() && place.offset == 0);
    Ok(Register { number: number.ok_or("an address that is no uniform register")?, is_uniform: true })
}

fn behind(register: Register, distance: u8) -> Register {
    Register { number: register.number.saturating_add(distance), ..register }
}

fn operation(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "ADD" => AtomicOp::Add,
        "MIN" => AtomicOp::Min,
        "MAX" => AtomicOp::Max,
        "INC" => AtomicOp::Increment,
        "DEC" => AtomicOp::Decrement,
        "AND" => AtomicOp::And,
        "OR" => AtomicOp::Or,
        "XOR" => AtomicOp::Xor,
        _ => return None,
    })
}

/// Returns the type of the elements. Unsigned 32 bits have no modifier.
fn of_elements(names: &[&str]) -> Option<Ty> {
    Some(match names {
        [] => U32,
        ["S32"] => Ty::Signed(32),
        ["U64"] => Ty::Unsigned(64),
        ["S64"] => Ty::Signed(64),
        ["F16", "RN"] => Ty::F16,
        ["BF16", "RN"] => Ty::BF16,
        ["F32", "RN"] => Ty::F32,
        ["F64", "RN"] => Ty::F64,
        _ => return None,
    })
}
