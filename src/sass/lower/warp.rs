//! Operations across threads: shuffles, votes, matches, reductions, barriers, and special registers.

use super::super::instruction::Instruction;
use super::super::operand::{Operand, PT, Predicate, Register};
use super::super::special;
use super::Refusal;
use super::lowerer::{File, Lowerer};
use crate::emulate::layout;
use crate::emulate::program::{
    BarrierMode, Init, LaneMask, Op, Reduction, Row, SINK, ShuffleMode, Special, Vote, WarpOp, ZERO,
};
use crate::emulate::pure::Pure;
use crate::emulate::types::Ty;

const U32: Ty = Ty::Unsigned(32);

impl Lowerer<'_> {
    /// Lowers an instruction of this family. Returns whether the instruction belongs to the family.
    pub(super) fn of_warp(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        match instruction.word() {
            "SHFL" => self.shuffle(instruction)?,
            "VOTE" | "VOTEU" => self.vote(instruction)?,
            "MATCH" => self.match_values(instruction)?,
            "REDUX" | "CREDUX" => self.reduce(instruction)?,
            "ELECT" => match *instruction.operands.as_slice() {
                [Operand::Predicate(elected), Operand::Register(to, _), Operand::Predicate(by)]
                    if by.number == PT && !by.negated =>
                {
                    let (leader, mask) = (self.temporary(32), self.together());
                    let is_elected = self.written_predicate(elected);
                    self.emit(Op::Warp { op: WarpOp::Elect { to: leader, is_elected }, mask });
                    self.share(to, leader);
                }
                _ => return Err("unknown operands".into()),
            },
            "BAR" => self.barrier(instruction)?,
            "B2R" => self.barrier_result(instruction)?,
            "S2R" | "S2UR" | "CS2R" => self.special_register(instruction)?,
            "R2UR" => match *instruction.operands.as_slice() {
                [Operand::Register(to, _), Operand::Register(from, _)] => {
                    let from = self.read_register(from);
                    self.share(to, from);
                }
                _ => return Err("unknown operands".into()),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn number(&mut self, operand: Operand) -> Result<Row, Refusal> {
        match operand {
            Operand::Register(register, _) => Ok(self.read_register(register)),
            Operand::Immediate(value) => Ok(self.constant(value.into(), 32)),
            _ => Err("unknown operand".into()),
        }
    }

    fn shuffle(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let mode = match instruction.modifiers().next() {
            Some("UP") => ShuffleMode::Up,
            Some("DOWN") => ShuffleMode::Down,
            Some("BFLY") => ShuffleMode::Butterfly,
            Some("IDX") => ShuffleMode::Index,
            _ => return Err("unknown mode".into()),
        };
        let [Operand::Predicate(inside), Operand::Register(to, _), Operand::Register(value, _), lane, control] =
            *instruction.operands.as_slice()
        else {
            return Err("unknown operands".into());
        };
        let (lane, control) = (self.number(lane)?, self.number(control)?);
        let value = self.read_register(value);
        let (to, is_inside) = (self.written_register(to), self.written_predicate(inside));
        let mask = self.together();
        self.emit(Op::Warp { op: WarpOp::Shuffle { mode, to, is_inside, value, lane, control }, mask });
        Ok(())
    }

    fn vote(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let vote = match instruction.modifiers().next() {
            Some("ALL") => Vote::All,
            Some("ANY") => Vote::Any,
            Some("EQ") => Vote::Uniform,
            _ => return Err("unknown mode".into()),
        };
        let mut operands = instruction.operands.as_slice();
        let ballot = match operands {
            [Operand::Register(to, _), rest @ ..] => {
                operands = rest;
                Some(*to)
            }
            _ => None,
        };
        let [Operand::Predicate(truth), Operand::Predicate(by)] = *operands else {
            return Err("unknown operands".into());
        };
        let (predicate, mask) = (self.truth(by), self.together());
        let is_uniform = instruction.word() == "VOTEU";
        if let Some(register) = ballot {
            let to = if is_uniform { self.temporary(32) } else { self.written_register(register) };
            self.emit(Op::Warp { op: WarpOp::Vote { vote: Vote::Ballot, to, predicate }, mask });
            if is_uniform {
                self.share(register, to);
            }
        }
        let result = self.written_predicate(truth);
        if result != SINK {
            let to = if is_uniform { self.temporary(1) } else { result };
            self.emit(Op::Warp { op: WarpOp::Vote { vote, to, predicate }, mask });
            if is_uniform {
                self.spread(result, to);
            }
        }
        Ok(())
    }

    fn match_values(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let is_all = instruction.has("ALL");
        let mut operands = instruction.operands.as_slice();
        let mut is_same = SINK;
        if let [Operand::Predicate(same), rest @ ..] = operands {
            is_same = self.written_predicate(*same);
            operands = rest;
        }
        let [Operand::Register(to, _), Operand::Register(value, _)] = *operands else {
            return Err("unknown operands".into());
        };
        let value = if instruction.has("U64") { self.pair(value) } else { self.read_register(value) };
        let (to, mask) = (self.written_register(to), self.together());
        self.emit(Op::Warp { op: WarpOp::Match { is_all, to, is_same, value }, mask });
        Ok(())
    }

    fn reduce(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let (mut reduction, mut ty) = (None, U32);
        for modifier in instruction.modifiers() {
            match modifier {
                "SUM" => reduction = Some(Reduction::Add),
                "MIN" => reduction = Some(Reduction::Min),
                "MAX" => reduction = Some(Reduction::Max),
                "AND" => reduction = Some(Reduction::And),
                "OR" => reduction = Some(Reduction::Or),
                "XOR" => reduction = Some(Reduction::Xor),
                "S32" => ty = Ty::Signed(32),
                "U32" => {}
                other => return Err(format!("the modifier {other}")),
            }
        }
        let [Operand::Register(to, _), Operand::Register(value, _)] = *instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        let reduction = reduction.unwrap_or(Reduction::And);
        let (value, all, mask) = (self.read_register(value), self.temporary(32), self.together());
        self.emit(Op::Warp { op: WarpOp::Reduce { reduction, ty, to: all, value }, mask });
        if to.is_uniform {
            self.share(to, all);
        } else {
            let to = self.written_register(to);
            self.emit(Op::Move { to, from: all });
        }
        Ok(())
    }

    fn barrier(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let mut mode = None;
        for modifier in instruction.modifiers() {
            match modifier {
                "SYNC" => mode = Some(BarrierMode::Sync),
                "ARV" => mode = Some(BarrierMode::Arrive),
                "POPC" => mode = Some(BarrierMode::Count),
                "AND" => mode = Some(BarrierMode::And),
                "OR" => mode = Some(BarrierMode::Or),
                "RED" | "DEFER_BLOCKING" => {}
                other => return Err(format!("the modifier {other}")),
            }
        }
        let mode = mode.ok_or("unknown mode")?;
        let mut operands = instruction.operands.as_slice();
        let (mut predicate, mut negated) = (ZERO, false);
        if let [rest @ .., Operand::Predicate(by)] = operands {
            operands = rest;
            (predicate, negated) = (self.read_predicate(*by), by.negated);
        }
        let (id, count) = match *operands {
            [id] => (self.number(id)?, None),
            [id, count] => (self.number(id)?, Some(self.number(count)?)),
            _ => return Err("unknown operands".into()),
        };
        let to = self.row(File::Barrier, 0);
        self.emit(Op::Barrier { mode, id, count, to, predicate, negated });
        Ok(())
    }

    /// Lowers `B2R.RESULT`: the result of the last barrier, as a number or as a predicate.
    fn barrier_result(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        if !instruction.has("RESULT") {
            return Err("unknown mode".into());
        }
        let from = self.row(File::Barrier, 0);
        for operand in &instruction.operands {
            match *operand {
                Operand::Register(register, _) => {
                    let to = self.written_register(register);
                    self.emit(Op::Move { to, from });
                }
                Operand::Predicate(Predicate { negated: false, .. }) => {
                    let Operand::Predicate(predicate) = *operand else { continue };
                    let to = self.written_predicate(predicate);
                    let is_true = Pure::new(U32, |[a]: [u64; 1]| [u64::from(a != 0)]).results(&[Ty::Pred]);
                    self.emit_pure(is_true, &[to], &[from]);
                }
                _ => return Err("unknown operands".into()),
            }
        }
        Ok(())
    }

    fn special_register(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let [Operand::Register(to, _), Operand::Special(number)] = *instruction.operands.as_slice() else {
            return Err("unknown operands".into());
        };
        let from = match special::name(number) {
            "LANEID" => self.special(Special::Lane),
            "TID.X" => self.special(Special::Tid(0)),
            "TID.Y" => self.special(Special::Tid(1)),
            "TID.Z" => self.special(Special::Tid(2)),
            "CTAID.X" => self.special(Special::Ctaid(0)),
            "CTAID.Y" => self.special(Special::Ctaid(1)),
            "CTAID.Z" => self.special(Special::Ctaid(2)),
            "EQMASK" => self.special(Special::LaneMask(LaneMask::Equal)),
            "LTMASK" => self.special(Special::LaneMask(LaneMask::Less)),
            "LEMASK" => self.special(Special::LaneMask(LaneMask::LessEqual)),
            "GTMASK" => self.special(Special::LaneMask(LaneMask::Greater)),
            "GEMASK" => self.special(Special::LaneMask(LaneMask::GreaterEqual)),
            "CgaCtaId" | "SRZ" => ZERO,
            "SWINHI" => self.constant(layout::SHARED >> 32, 32),
            "LWINHI" => self.constant(layout::LOCAL >> 32, 32),
            name if !name.is_empty() => self.new_row(Init::Special(Special::Unknown(name)), 32),
            _ => return Err(format!("the special register {number}")),
        };
        if to.is_uniform {
            self.share(to, from);
        } else {
            let row: Row = self.written_register(to);
            self.emit(Op::Move { to: row, from });
            if instruction.word() == "CS2R" && !instruction.has("32") {
                let upper: Row = self.written_register(Register { number: to.number.saturating_add(1), ..to });
                self.emit(Op::Move { to: upper, from });
            }
        }
        Ok(())
    }
}
