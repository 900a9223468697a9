//! Reconvergence of the threads of a warp: convergence registers, and instructions that wait for threads.
//!
//! BSSY records the threads that are converged. BSYNC waits for all of them that have not exited or left by BREAK.
//! Diverged threads on both sides of a branch may use one register at once, because each thread has its own mask.

use super::super::instruction::Instruction;
use super::super::operand::Operand;
use super::Refusal;
use super::lowerer::{File, Lowerer};
use crate::emulate::program::{Op, Row, WarpOp, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::Ty;

const U32: Ty = Ty::Unsigned(32);

impl Lowerer<'_> {
    /// Lowers an instruction of this family. Returns whether the instruction belongs to the family.
    pub(super) fn convergence(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        let operands = instruction.operands.as_slice();
        match (instruction.word(), operands) {
            ("BSSY", [Operand::Convergence(number), ..]) => {
                let to = self.row(File::Convergence, *number);
                self.emit(Op::ActiveMask { to, is_known: true });
            }
            ("BSYNC", [Operand::Convergence(number)]) => {
                let mask = self.row(File::Convergence, *number);
                self.emit(Op::Warp { op: WarpOp::Synchronise, mask });
            }
            ("BREAK", [rest @ .., Operand::Convergence(number)]) => {
                match *rest {
                    [] => {}
                    [Operand::Predicate(by)] => self.narrow_guard(by),
                    _ => return Err("unknown operands".into()),
                }
                let mask = self.row(File::Convergence, *number);
                let leaving = self.temporary(32);
                self.is_uniform = true;
                self.emit(Op::ActiveMask { to: leaving, is_known: true });
                let without = Pure::new(U32, |[mask, leaving]: [u64; 2]| [mask & !leaving]);
                self.emit_pure(without, &[mask], &[mask, leaving]);
            }
            ("BMOV", [Operand::Register(to, _), Operand::Convergence(number)]) => {
                let mask = self.row(File::Convergence, *number);
                let to = self.written_register(*to);
                self.emit(Op::Move { to, from: mask });
                if instruction.has("CLEAR") {
                    self.emit(Op::Move { to: mask, from: ZERO });
                }
            }
            ("BMOV", [Operand::Convergence(number), Operand::Register(from, _)]) => {
                let mask = self.row(File::Convergence, *number);
                let from = self.read_register(*from);
                self.emit(Op::Move { to: mask, from });
            }
            ("WARPSYNC", []) if instruction.has("ALL") => {
                let mask = self.constant(u64::from(u32::MAX), 32);
                self.emit(Op::Warp { op: WarpOp::Synchronise, mask });
            }
            ("WARPSYNC", [mask, ..]) => {
                let mask = match *mask {
                    Operand::Register(mask, _) => self.read_register(mask),
                    Operand::Immediate(mask) => self.constant(mask.into(), 32),
                    _ => return Err("unknown mask".into()),
                };
                self.emit(Op::Warp { op: WarpOp::Synchronise, mask });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns a row with the mask of the threads that are converged here.
    pub(super) fn together(&mut self) -> Row {
        let to = self.temporary(32);
        self.emit(Op::ActiveMask { to, is_known: true });
        to
    }
}
