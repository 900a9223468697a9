//! Selects the operation of an instruction.

use super::decoder::{Decoder, Refusal};
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{Op, Row, SINK, ZERO};
use crate::emulate::pure::{MOST_SOURCES, Pure, find};
use crate::emulate::types::Ty;
use crate::function::Effects;
use crate::ptx::Operand;
use crate::target::ptx::{Control, Meaning, Writes};

/// Returns the mnemonic as in the PTX file.
pub(super) fn full(mnemonic: &Mnemonic<'_>) -> String {
    std::iter::once(mnemonic.word).chain(mnemonic.modifiers.iter().copied()).collect::<Vec<_>>().join(".")
}

impl Decoder<'_, '_> {
    /// Appends the operations of an instruction.
    pub(super) fn select(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<(), Refusal> {
        if let Some(done) = self.control(mnemonic, operands)? {
            return Ok(done);
        }
        if let Some(done) = self.cluster(mnemonic, operands)? {
            return Ok(done);
        }
        if let Some(done) = self.access(mnemonic, operands)? {
            return Ok(done);
        }
        if let Some(done) = self.warp(mnemonic, operands)? {
            return Ok(done);
        }
        if let Some(done) = self.matrix(mnemonic, operands)? {
            return Ok(done);
        }
        if let Some(done) = self.group(mnemonic, operands)? {
            return Ok(done);
        }
        if let Some(done) = self.tensor(mnemonic, operands)? {
            return Ok(done);
        }
        if mnemonic.word == "mov" {
            return self.move_of(mnemonic, operands);
        }
        if let ("min" | "max", [to, first, second, third]) = (mnemonic.word, operands) {
            return self.extreme_of_three(mnemonic, to, [first, second, third]);
        }
        match find(mnemonic) {
            Some(pure) => self.computed(mnemonic, pure, operands),
            None => self.hashed(mnemonic, operands),
        }
    }

    /// Decodes a pure instruction.
    fn computed(&mut self, mnemonic: &Mnemonic<'_>, pure: Pure, operands: &[Operand]) -> Result<(), Refusal> {
        let (first, rest) = operands.split_first().ok_or("no operands")?;
        let mut to = [SINK; 2];
        match first {
            Operand::Pair(pair) => to = [self.result(&pair[0])?, self.result(&pair[1])?],
            other => to[0] = self.result(other)?,
        }
        if pure.writes_carry {
            to[1] = self.carry_row();
        }
        let given = pure.sources.len() - usize::from(pure.reads_carry);
        // `vadd2` and similar instructions may omit the addend.
        if rest.len() != given {
            return Err(format!("{} operands", operands.len()));
        }
        let mut from = [ZERO; MOST_SOURCES];
        for (number, operand) in rest.iter().enumerate() {
            from[number] = self.source(operand, pure.sources[number])?;
        }
        if pure.reads_carry {
            from[given] = self.carry_row();
        }
        if mnemonic.word == "selp" {
            self.emit(Op::Select { to: to[0], yes: from[0], no: from[1], by: from[2] });
        } else {
            self.emit(Op::Pure { pure, to, from });
        }
        Ok(())
    }

    /// Decodes the minimum or maximum of three floats, as two operations.
    fn extreme_of_three(
        &mut self,
        mnemonic: &Mnemonic<'_>,
        to: &Operand,
        [first, second, third]: [&Operand; 3],
    ) -> Result<(), Refusal> {
        let ty = mnemonic.ty().filter(|ty| *ty == Ty::F32).ok_or("its operands are unknown")?;
        let of_two = || find(mnemonic).ok_or("it is unknown");
        let (to, between) = (self.result(to)?, self.temporary(ty));
        let [first, second, third] = [self.source(first, ty)?, self.source(second, ty)?, self.source(third, ty)?];
        for (result, left, right) in [(between, first, second), (to, between, third)] {
            let mut from = [ZERO; MOST_SOURCES];
            from[..2].copy_from_slice(&[left, right]);
            self.emit(Op::Pure { pure: of_two()?, to: [result, SINK], from });
        }
        Ok(())
    }

    fn carry_row(&mut self) -> Row {
        match self.carry {
            Some(row) => row,
            None => {
                let row = self.temporary(Ty::Pred);
                self.carry = Some(row);
                row
            }
        }
    }

    /// Decodes `mov`, with packing and unpacking.
    fn move_of(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<(), Refusal> {
        let ty = mnemonic.ty().ok_or("no type")?;
        let [to, from] = operands else { return Err("mov has two operands".into()) };
        let parts_of = |count: usize| match ty.bits() / count as u32 {
            bits @ (8 | 16 | 32 | 64) => Ok((bits, Ty::Unsigned(bits as u8))),
            bits => Err(format!("parts of {bits} bits")),
        };
        match (to, from) {
            (Operand::Vector(parts), from) => {
                let (bits, _) = parts_of(parts.len())?;
                let parts = parts.iter().map(|part| self.result(part)).collect::<Result<Vec<_>, _>>()?;
                let from = self.source(from, ty)?;
                if ty.bits() == 128 {
                    for (number, part) in parts.into_iter().enumerate().filter(|_| bits == 64) {
                        self.emit(Op::Move { to: part, from: Row(from.0 + number as u32) });
                    }
                    return if bits == 64 { Ok(()) } else { Err("four parts of 128 bits".into()) };
                }
                self.emit(Op::Unpack { parts, from, bits });
            }
            (to, Operand::Vector(parts)) => {
                let (bits, part_ty) = parts_of(parts.len())?;
                let parts = parts.iter().map(|part| self.source(part, part_ty)).collect::<Result<Vec<_>, _>>()?;
                let to = self.result(to)?;
                if ty.bits() == 128 {
                    for (number, part) in parts.into_iter().enumerate().filter(|_| bits == 64) {
                        self.emit(Op::Move { to: Row(to.0 + number as u32), from: part });
                    }
                    return if bits == 64 { Ok(()) } else { Err("four parts of 128 bits".into()) };
                }
                self.emit(Op::Pack { to, parts, bits });
            }
            (to, from) => {
                let (to, from) = (self.result(to)?, self.source(from, ty)?);
                self.emit(Op::Move { to, from });
                if ty.bits() == 128 {
                    self.emit(Op::Move { to: Row(to.0 + 1), from: Row(from.0 + 1) });
                }
            }
        }
        Ok(())
    }

    /// Decodes an instruction whose function is unknown.
    pub(super) fn hashed(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<(), Refusal> {
        let name = full(mnemonic);
        let meaning = Meaning::of(&name).ok_or("it is unknown")?;
        let (effects, _) = meaning.effects(&name);
        let beyond = Effects::WRITE | Effects::READ | Effects::ORDERED | Effects::OPAQUE | Effects::CONVERGENT;
        let carries = mnemonic.word.ends_with('c') && matches!(mnemonic.word, "addc" | "subc" | "madc");
        if effects.intersects(beyond | Effects::TRAP | Effects::TERMINATOR)
            || meaning.control != Control::Next
            || meaning.is_asynchronous
            || mnemonic.has("cc")
            || carries
        {
            return Err("it is not modelled and has effects besides its results".into());
        }
        let results = match meaning.writes {
            Writes::First | Writes::FirstIfRegister => 1,
            Writes::FirstTwo => 2,
            _ => return Err("it is not modelled".into()),
        };
        let (mut to, mut from) = (Vec::new(), Vec::new());
        for (number, operand) in operands.iter().enumerate() {
            let parts: Vec<&Operand> = match operand {
                Operand::Pair(pair) => pair.iter().collect(),
                Operand::Vector(parts) => parts.iter().collect(),
                other => vec![other],
            };
            for part in parts {
                if number < results {
                    to.push(self.result(part)?);
                } else {
                    from.push(self.source(part, Ty::Unsigned(64))?);
                }
            }
        }
        let name = self.hashed_name(&name);
        self.emit(Op::Hashed { name, to, from });
        Ok(())
    }

    /// Returns the number of a hashed instruction's name.
    pub(super) fn hashed_name(&mut self, name: &str) -> usize {
        self.hashed.iter().position(|known| known == name).unwrap_or_else(|| {
            self.hashed.push(name.to_owned());
            self.hashed.len() - 1
        })
    }
}
