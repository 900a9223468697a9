//! The operands of one instruction, as operands of the view.

use super::context::Context;
use super::draft::DraftInst;
use super::names::NameMeaning;
use crate::function::ptx_opcode::Form;
use crate::function::{Operand as ViewOperand, OperandFlags, RegClass, Value};
use crate::index::EntityIndex;
use crate::ptx::parts::{Name, Number, Operand};
use crate::ptx::token::Token;

/// Returns a number as a value of the view: an integer, or the bits of a floating-point number. `None` for other forms.
pub(super) fn number_value(text: &str, is_negative: bool) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    if let Some(bits) = lower.strip_prefix("0f").or_else(|| lower.strip_prefix("0d")) {
        return u64::from_str_radix(bits, 16).ok().filter(|_| !is_negative).map(Value::Float);
    }
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let magnitude = if let Some(digits) = digits.strip_prefix("0x") {
        u64::from_str_radix(digits, 16)
    } else if let Some(digits) = digits.strip_prefix("0b") {
        u64::from_str_radix(digits, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    let value = magnitude.ok()? as i64;
    Some(Value::Immediate(if is_negative { value.wrapping_neg() } else { value }))
}

/// A builder of an instruction's operands.
pub(super) struct Flattener<'c, 'f, 'a> {
    pub(super) context: &'c mut Context<'f, 'a>,
    pub(super) inst: &'c mut DraftInst,
    pub(super) form: Form,
    /// Whether a register occurs in an expression that is not read as an operand.
    pub(super) is_strange: bool,
}

impl Flattener<'_, '_, '_> {
    /// Adds an operand. `is_def`: its registers are written.
    pub(super) fn operand(&mut self, operand: &Operand, is_def: bool) {
        match operand {
            Operand::Name(name) => self.name(name, is_def),
            Operand::Number(number) => {
                let value = self.number(number);
                self.inst.push(ViewOperand::plain(value));
                self.form.push('i');
            }
            Operand::Not(name) | Operand::Negative(name) => {
                let sign = if matches!(operand, Operand::Not(_)) { "!" } else { "-" };
                self.signed(name, sign);
            }
            Operand::Sum { .. } | Operand::Element { .. } => {
                let base = self.variable_part(operand);
                self.inst.push(ViewOperand::plain(base));
                self.form.push('s');
            }
            Operand::Pair(pair) => pair.iter().for_each(|operand| self.operand(operand, is_def)),
            Operand::Vector(operands) => {
                self.form.push_vector(operands.len());
                let outer = std::mem::take(&mut self.form);
                operands.iter().for_each(|operand| self.operand(operand, is_def));
                self.form = outer;
            }
            Operand::Address(operands) => self.address(operands),
            Operand::List(operands) => operands.iter().for_each(|operand| self.operand(operand, is_def)),
            Operand::Expression { first, end } => {
                let value = self.expression(*first, *end);
                self.inst.push(ViewOperand::plain(value));
                self.form.push('s');
            }
        }
    }

    /// Adds the operands of an address: a base and an offset, and whatever follows them.
    pub(super) fn address(&mut self, operands: &[Operand]) {
        let Some((base, others)) = operands.split_first() else { return };
        self.form.push('a');
        let outer = std::mem::take(&mut self.form);
        self.base_operands(base);
        self.form = outer;
        others.iter().for_each(|operand| self.operand(operand, false));
    }

    /// Adds the base of an address, and its offset.
    pub(super) fn base_operands(&mut self, base: &Operand) {
        match base {
            Operand::Sum { base: name, sign, offset } => {
                self.name(name, false);
                let value = self.number(&Number { is_negative: offset.is_negative != (*sign == b'-'), ..*offset });
                let first = name.part.unwrap_or(name.word).index() + 1;
                let tokens = (first..=offset.digits.index()).map(Token::new).collect();
                self.inst.push_written(ViewOperand::plain(value), tokens);
            }
            other => {
                self.operand(other, false);
                self.inst.push(ViewOperand::immediate(0));
            }
        }
    }

    pub(super) fn is_register(&mut self, name: &Name) -> bool {
        matches!(self.context.meant(name.word), NameMeaning::Register(_))
    }

    fn name(&mut self, name: &Name, is_def: bool) {
        let text = self.context.file.text();
        let word = text.str(name.word);
        if let NameMeaning::Register(reg) = self.context.meant(name.word) {
            let operand = if is_def { ViewOperand::write(reg) } else { ViewOperand::read(reg) };
            self.inst.push_named(operand, name.word);
            match name.part {
                None => self.form.push('r'),
                Some(part) => {
                    self.form.push('p');
                    let symbol = self.context.symbol(text.str(part).to_owned());
                    self.inst.push(ViewOperand::plain(Value::Symbol(symbol)));
                }
            }
        } else if word == "_" {
            let flags = if is_def { OperandFlags::DEF } else { OperandFlags::empty() };
            self.inst.push(ViewOperand { value: Value::NoReg, flags, tied: None });
            self.form.push('r');
        } else if let Some(slot) = self.context.slot(word) {
            self.inst.push(ViewOperand::plain(Value::Slot(slot)));
            self.form.push('s');
        } else {
            let part = name.part.map(|part| text.str(part)).unwrap_or_default();
            let symbol = self.context.named_symbol(&format!("{word}{part}"));
            self.inst.push(ViewOperand::plain(Value::Symbol(symbol)));
            self.form.push('s');
        }
    }

    fn signed(&mut self, name: &Name, sign: &str) {
        let outer = std::mem::take(&mut self.form);
        self.name(name, false);
        self.form = outer;
        self.form.push('n');
        let symbol = self.context.symbol(sign.to_owned());
        self.inst.push(ViewOperand::plain(Value::Symbol(symbol)));
    }

    pub(super) fn number(&mut self, number: &Number) -> Value {
        let text = self.context.file.text().str(number.digits);
        number_value(text, number.is_negative).unwrap_or_else(|| {
            let sign = if number.is_negative { "-" } else { "" };
            Value::Symbol(self.context.symbol(format!("{sign}{text}")))
        })
    }

    /// Returns a variable with an offset or index, as one symbol.
    fn variable_part(&mut self, operand: &Operand) -> Value {
        let text = self.context.file.text();
        let (name, behind) = match operand {
            Operand::Sum { base, sign, offset } => {
                let is_negative = offset.is_negative != (*sign == b'-');
                (base, format!("{}{}", if is_negative { '-' } else { '+' }, text.str(offset.digits)))
            }
            Operand::Element { array, index } => {
                (array, format!("[{}{}]", if index.is_negative { "-" } else { "" }, text.str(index.digits)))
            }
            _ => return Value::NoReg,
        };
        self.is_strange |= self.is_register(name);
        let word = text.str(name.word);
        let is_plain = self.context.parameters.contains(word);
        let symbol = self.context.symbol(format!("{}{word}{behind}", if is_plain { "" } else { "@" }));
        Value::Symbol(symbol)
    }

    fn expression(&mut self, first: Token, end: Token) -> Value {
        let text = self.context.file.text();
        let mut words = String::new();
        for token in (first.0..end.0).map(Token) {
            if text.kind(token) != crate::ptx::TokenKind::Trivia {
                self.is_strange |= matches!(self.context.meant(token), NameMeaning::Register(_));
                words.push_str(text.str(token));
            }
        }
        Value::Symbol(self.context.symbol(words))
    }

    /// Returns the class of an operand that is a whole register.
    pub(super) fn class_of(&mut self, operand: &Operand) -> Option<RegClass> {
        match operand {
            Operand::Name(Name { word, part: None }) => match self.context.meant(*word) {
                NameMeaning::Register(reg) => Some(self.context.names.class(reg)),
                _ => None,
            },
            _ => None,
        }
    }
}
