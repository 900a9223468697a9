//! Operands as rows and addresses.

use super::decoder::{Decoder, Refusal};
use super::globals::DYNAMIC;
use super::numbers::number;
use super::scopes::{Symbol, special};
use crate::emulate::layout;
use crate::emulate::program::{Address, Init, Op, Row, SINK, Space, ZERO, function_address};
use crate::emulate::types::{Ty, low};
use crate::ptx::{Name, Number, Operand};

impl<'a> Decoder<'a, '_> {
    pub(super) fn constant_number(&self, number_parts: &Number, ty: Ty) -> Result<u64, Refusal> {
        let digits = self.text.str(number_parts.digits);
        let value = number(digits, ty).ok_or_else(|| format!("the number {digits}"))?;
        let is_float = ty.is_float() || digits.contains('.');
        Ok(match (number_parts.is_negative, is_float) {
            (false, _) => value,
            (true, true) => value ^ 1 << (ty.bits() - 1),
            (true, false) => value.wrapping_neg(),
        })
    }

    /// Returns the register of a name.
    pub(super) fn register(&self, name: &Name) -> Result<(Row, Ty), Refusal> {
        let word = self.text.str(name.word);
        match (word, name.part) {
            ("_", None) => Ok((SINK, Ty::Unsigned(64))),
            (_, None) => match self.scopes.find(word) {
                Some(Symbol::Register(row, ty)) => Ok((row, ty)),
                _ => Err(format!("{word} is not a register")),
            },
            _ => Err(format!("{word} with a component")),
        }
    }

    /// Returns the register of a result operand.
    pub(super) fn result(&self, operand: &Operand) -> Result<Row, Refusal> {
        match operand {
            Operand::Name(name) => Ok(self.register(name)?.0),
            _ => Err("a result that is not a register".into()),
        }
    }

    /// Returns the registers of a result operand: one, or several in braces.
    pub(super) fn results(&self, operand: &Operand) -> Result<Vec<Row>, Refusal> {
        match operand {
            Operand::Vector(parts) => parts.iter().map(|part| self.result(part)).collect(),
            other => Ok(vec![self.result(other)?]),
        }
    }

    /// Returns a row with the value of an operand, read as a type.
    pub(super) fn source(&mut self, operand: &Operand, ty: Ty) -> Result<Row, Refusal> {
        match operand {
            Operand::Name(name) => self.named_source(name, ty),
            Operand::Number(number) => {
                let value = self.constant_number(number, ty)?;
                Ok(self.constant(low(value, ty.bits()), ty.bits()))
            }
            Operand::Not(name) => {
                let (row, _) = self.register(name)?;
                let to = self.temporary(Ty::Pred);
                let one = self.constant(1, 1);
                self.emit_select(to, ZERO, one, row);
                Ok(to)
            }
            Operand::Sum { .. } | Operand::Element { .. } => {
                let (symbol, offset) = self.based(operand)?;
                self.address_of(symbol, offset, ty)
            }
            _ => Err("an operand of an unknown form".into()),
        }
    }

    fn named_source(&mut self, name: &Name, ty: Ty) -> Result<Row, Refusal> {
        let word = self.text.str(name.word);
        let part = name.part.map(|part| self.text.str(part));
        if let Some(symbol) = self.scopes.find(word) {
            return match (symbol, part) {
                (Symbol::Register(row, _), None) => Ok(row),
                (Symbol::Register(row, _), Some(part)) => self.part_of(row, part, ty),
                (symbol, None) => self.address_of(symbol, 0, ty),
                _ => Err(format!("{word} with a component")),
            };
        }
        if let Some(&symbol) = self.globals.symbols.get(word) {
            return self.address_of(symbol, 0, ty);
        }
        if word == "WARP_SZ" {
            return Ok(self.constant(32, 32));
        }
        if let Some(row) = self.cluster_register(word, part) {
            return Ok(row);
        }
        let (special, bits) = special(word, part).ok_or_else(|| format!("{word} is unknown"))?;
        Ok(self.special(special, bits))
    }

    /// Extracts a byte or half of a word, as a video instruction selects it.
    fn part_of(&mut self, row: Row, part: &str, ty: Ty) -> Result<Row, Refusal> {
        let (shift, bits) = match part {
            ".b0" => (0, 8),
            ".b1" => (8, 8),
            ".b2" => (16, 8),
            ".b3" => (24, 8),
            ".h0" => (0, 16),
            ".h1" => (16, 16),
            _ => return Err(format!("the part {part}")),
        };
        if !ty.is_integer() || ty.bits() != 32 {
            return Err(format!("the part {part}"));
        }
        let to = self.temporary(ty);
        let (place, length) = (self.constant(shift, 32), self.constant(bits, 32));
        self.emit_pure(if ty.is_signed() { "bfe.s32" } else { "bfe.u32" }, &[to], &[row, place, length])?;
        Ok(to)
    }

    /// Returns a name and the offset that is added to it.
    fn based(&self, operand: &Operand) -> Result<(Symbol, i64), Refusal> {
        let (name, offset) = match operand {
            Operand::Name(name) => (name, 0),
            Operand::Sum { base, sign, offset } => {
                let value = self.constant_number(offset, Ty::Unsigned(64))? as i64;
                (base, if *sign == b'-' { value.wrapping_neg() } else { value })
            }
            Operand::Element { array, index } => (array, self.constant_number(index, Ty::Unsigned(64))? as i64),
            _ => return Err("an address of an unknown form".into()),
        };
        let word = self.text.str(name.word);
        if name.part.is_some() {
            return Err(format!("{word} with a component"));
        }
        let global = || self.globals.symbols.get(word).copied();
        let symbol = self.scopes.find(word).or_else(global).ok_or_else(|| format!("{word} is unknown"))?;
        Ok((symbol, offset))
    }

    /// Returns a row with the address of a symbol in its own space.
    pub(super) fn address_of(&mut self, symbol: Symbol, offset: i64, ty: Ty) -> Result<Row, Refusal> {
        let bits = ty.bits().max(32);
        Ok(match symbol {
            Symbol::Shared(start) => self.constant(start.wrapping_add(offset as u64), 64),
            Symbol::Constant(start) => self.constant(start.wrapping_add(offset as u64), 64),
            Symbol::Frame { offset: start, .. } => {
                let offset = u32::try_from(i64::from(start) + offset).map_err(|_| "an address below its variable")?;
                self.row_of(Init::Frame(offset), 64)
            }
            Symbol::Function(number) => {
                let name = self.function_names[number];
                self.constant(function_address(name), 64)
            }
            Symbol::Register(row, _) if offset == 0 => row,
            Symbol::Register(row, _) => {
                let to = self.temporary(Ty::Unsigned(bits.min(64) as u8));
                let addend = self.constant(low(offset as u64, bits), bits);
                self.emit_pure(if bits > 32 { "add.s64" } else { "add.s32" }, &[to], &[row, addend])?;
                to
            }
        })
    }

    /// Returns the address in brackets, in the space of its symbol.
    pub(super) fn address(&mut self, operand: &Operand, space: Space) -> Result<Address, Refusal> {
        let Operand::Address(parts) = operand else { return Err("no address".into()) };
        let [inner] = parts.as_slice() else { return Err("an address of several parts".into()) };
        if let Operand::Number(number) = inner {
            let base = self.constant_number(number, Ty::Unsigned(64))?;
            return Ok(Address { space, base: self.constant(base, 64), offset: 0 });
        }
        let (symbol, offset) = self.based(inner)?;
        Ok(match symbol {
            Symbol::Register(base, _) => Address { space, base, offset },
            Symbol::Frame { .. } => {
                Address { space: Space::Local, base: self.address_of(symbol, 0, Ty::Unsigned(64))?, offset }
            }
            Symbol::Shared(start) => {
                // In a generic access to a shared variable, the name means the variable, not an offset.
                let base = if start == DYNAMIC { DYNAMIC } else { start };
                Address { space: Space::Shared, base: self.constant(base, 64), offset }
            }
            Symbol::Constant(start) => {
                let is_parameter = layout::in_window(start, layout::PARAMETERS);
                let space = if is_parameter { Space::Generic } else { space };
                Address { space, base: self.constant(start, 64), offset }
            }
            Symbol::Function(_) => return Err("the address of a function".into()),
        })
    }

    /// Emits a selection between two rows by a predicate.
    pub(super) fn emit_select(&mut self, to: Row, yes: Row, no: Row, by: Row) {
        self.emit(Op::Select { to, yes, no, by });
    }
}
