//! Instructions that only compute: functions of operands, selections and moves.

use super::super::instruction::Instruction;
use super::super::meaning;
use super::super::operand::{Changes, Operand, RZ, Register};
use super::Refusal;
use super::lowerer::Lowerer;
use crate::emulate::program::{Op, Row, ZERO};
use crate::emulate::types::Ty;

const U32: Ty = Ty::Unsigned(32);

impl Lowerer<'_> {
    /// Lowers an instruction that only computes. Returns whether the instruction only computes.
    pub(super) fn computed(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        let word = instruction.word();
        let result = instruction.operands.first();
        self.is_uniform = match result {
            Some(Operand::Register(register, _)) => register.is_uniform,
            Some(Operand::Predicate(predicate)) => predicate.is_uniform,
            _ => false,
        };
        match word {
            "MOV" | "UMOV" if instruction.has("64") => self.copy_pair(instruction)?,
            "MOV" | "UMOV" | "MOV32I" => self.copy(instruction, false)?,
            "CS2R" | "CS2UR" if is_zero(instruction) => self.copy(instruction, !instruction.has("32"))?,
            "SEL" | "USEL" if instruction.has("64") => self.choose_pair(instruction)?,
            "SEL" | "USEL" => self.choose(instruction, U32)?,
            "FSEL" if instruction.mnemonic.len() == 4 && is_unchanged(instruction) => {
                self.choose(instruction, Ty::F32)?
            }
            _ => {
                let Some(functions) = meaning::find(instruction, self.approximation) else { return Ok(false) };
                self.functions(instruction, functions)?;
            }
        }
        Ok(true)
    }

    /// Lowers the functions of an instruction. All of them read the old values of the operands.
    fn functions(&mut self, instruction: &Instruction, functions: Vec<meaning::Function>) -> Result<(), Refusal> {
        let is_one = functions.len() == 1;
        let mut moves: Vec<(Row, Row)> = Vec::new();
        let mut wides = Vec::new();
        for function in functions {
            let mut from = Vec::new();
            for (&at, &ty) in function.from.iter().zip(&function.pure.sources) {
                from.push(self.source(instruction, at, ty)?);
            }
            let mut to = Vec::new();
            for (&at, &ty) in function.to.iter().zip(&function.pure.results) {
                let (row, wide) = self.result(instruction, at, ty)?;
                if is_one || wide.is_some() {
                    to.push(row);
                } else {
                    let temporary = self.temporary(ty.bits());
                    moves.push((row, temporary));
                    to.push(temporary);
                }
                wides.push(wide);
            }
            self.emit_pure(function.pure, &to, &from);
        }
        // The guard is read before the results are written.
        if moves.len() + wides.iter().flatten().count() > 1 {
            self.keep_guard();
        }
        for (to, from) in moves {
            self.emit(Op::Move { to, from });
        }
        wides.into_iter().for_each(|wide| self.settle(wide));
        Ok(())
    }

    /// Copies the guard so that the instruction's own results do not change it.
    pub(super) fn keep_guard(&mut self) {
        if let Some((row, negated)) = self.guard.take() {
            let kept = self.temporary(1);
            let is_uniform = std::mem::take(&mut self.is_uniform);
            self.emit(Op::Move { to: kept, from: row });
            self.is_uniform = is_uniform;
            self.guard = Some((kept, negated));
        }
    }

    fn copy(&mut self, instruction: &Instruction, is_wide: bool) -> Result<(), Refusal> {
        let [Operand::Register(to, _), source, ..] = instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        if is_wide {
            for register in [*to, super::operands::next(*to)].into_iter().filter(|_| to.number != RZ) {
                let to = self.written_register(register);
                self.emit(Op::Move { to, from: ZERO });
            }
            return Ok(());
        }
        let is_plain = match *source {
            Operand::Register(_, changes) | Operand::Constant(_, changes) => changes == Changes::default(),
            Operand::Immediate(_) => true,
            _ => false,
        };
        if !is_plain {
            return Err("unknown source".into());
        }
        let from = self.source(instruction, 1, U32)?;
        let to = self.written_register(*to);
        self.emit(Op::Move { to, from });
        Ok(())
    }

    /// Returns the two rows of a source of 64 bits: a register pair, or the two words of an immediate, which are two
    /// operands.
    fn words(&mut self, operands: &[Operand]) -> Result<[Row; 2], Refusal> {
        match *operands {
            [Operand::Register(first, changes)] if changes == Changes::default() => {
                Ok([first, super::operands::next_of(first)].map(|register| self.read_register(register)))
            }
            [Operand::Immediate(lower), Operand::Immediate(upper)] => {
                Ok([lower, upper].map(|word| self.constant(word.into(), 32)))
            }
            _ => Err("unknown source".into()),
        }
    }

    /// Lowers `MOV.64`. A source may overlap the result, so both words are read first.
    fn copy_pair(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let [Operand::Register(to, _), source @ ..] = instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        let parts = self.words(source)?.to_vec();
        let (row, wide) = self.wide_result(*to);
        self.emit(Op::Pack { to: row, parts, bits: 32 });
        self.settle(wide);
        Ok(())
    }

    /// Lowers `SEL.64`.
    fn choose_pair(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let [Operand::Register(to, _), first, second @ .., Operand::Predicate(by)] = instruction.operands.as_slice()
        else {
            return Err("unknown operands".into());
        };
        let row = self.read_predicate(*by);
        let mut chosen = [self.words(&[*first])?, self.words(second)?].map(|parts| {
            let whole = self.temporary(64);
            self.emit(Op::Pack { to: whole, parts: parts.to_vec(), bits: 32 });
            whole
        });
        if by.negated {
            chosen.reverse();
        }
        let [yes, no] = chosen;
        let (result, wide) = self.wide_result(*to);
        self.emit(Op::Select { to: result, yes, no, by: row });
        self.settle(wide);
        Ok(())
    }

    /// Lowers a selection by a predicate. The value that is not selected may be undefined.
    fn choose(&mut self, instruction: &Instruction, ty: Ty) -> Result<(), Refusal> {
        let [Operand::Register(to, _), first, second, Operand::Predicate(by)] = *instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        for operand in [first, second] {
            if let Operand::Register(_, changes) | Operand::Constant(_, changes) = operand
                && changes != Changes::default()
            {
                return Err("an operand with modifiers".into());
            }
        }
        let (yes, no) = (self.source(instruction, 1, ty)?, self.source(instruction, 2, ty)?);
        let row = self.read_predicate(by);
        let [yes, no] = if by.negated { [no, yes] } else { [yes, no] };
        let to = self.written_register(to);
        self.emit(Op::Select { to, yes, no, by: row });
        Ok(())
    }

    /// Copies the first active thread's value of a row to a uniform row.
    pub(super) fn spread(&mut self, to: Row, from: Row) {
        self.is_uniform = true;
        self.emit(Op::First { to, from });
        self.is_uniform = false;
    }

    /// Lowers `R2UR` and `S2UR`: a value of a thread becomes uniform.
    pub(super) fn share(&mut self, to: Register, from: Row) {
        let to = self.written_register(to);
        self.spread(to, from);
    }
}

/// Whether the instruction reads a special register that is zero.
fn is_zero(instruction: &Instruction) -> bool {
    matches!(instruction.operands.get(1), Some(Operand::Special(number)) if super::super::special::name(*number) == "SRZ")
}

/// Whether the sources of a selection have no modifiers.
fn is_unchanged(instruction: &Instruction) -> bool {
    instruction.operands.iter().all(|operand| match operand {
        Operand::Register(_, changes) | Operand::Constant(_, changes) => *changes == Changes::default(),
        _ => true,
    })
}
