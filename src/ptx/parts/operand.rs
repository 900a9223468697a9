//! The operands of instructions.

use super::reader::Reader;
use super::writer::Writer;
use crate::ptx::token::{Token, TokenKind};

/// The deepest nesting of operands: a vector in an address in the argument list of a call.
const DEEPEST: u32 = 8;

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register, label, variable, `_`, or a named number.
    Name(Name),
    /// A number.
    Number(Number),
    /// `!p`.
    Not(Name),
    /// `-%r1`: a negated register.
    Negative(Name),
    /// `symbol + 4` or `%r1 - 8`.
    Sum {
        /// The base.
        base: Name,
        /// `+` or `-`.
        sign: u8,
        /// The offset.
        offset: Number,
    },
    /// `p | q`, or `d | p`.
    Pair(Box<[Operand; 2]>),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `[a]`, or for a texture or tensor `[a, {x, y}]`.
    Address(Vec<Operand>),
    /// `(a, b)`: the arguments or results of a call.
    List(Vec<Operand>),
    /// `a[4]`.
    Element {
        /// The array.
        array: Name,
        /// The index.
        index: Number,
    },
    /// Any other constant expression: a range of tokens, with white space.
    Expression {
        /// The first token.
        first: Token,
        /// The token after the last one.
        end: Token,
    },
}

impl Operand {
    /// Adds the words of its registers, variables and labels, except in constant expressions.
    pub fn add_words(&self, out: &mut Vec<Token>) {
        match self {
            Self::Name(name) | Self::Not(name) | Self::Negative(name) => out.push(name.word),
            Self::Sum { base, .. } => out.push(base.word),
            Self::Element { array, .. } => out.push(array.word),
            Self::Pair(pair) => pair.iter().for_each(|one| one.add_words(out)),
            Self::Vector(list) | Self::Address(list) | Self::List(list) => {
                list.iter().for_each(|one| one.add_words(out));
            }
            Self::Number(_) | Self::Expression { .. } => {}
        }
    }
}

/// A word and the part after its dot: `%r1`, `%tid.x`, `%r2.b0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The word.
    pub word: Token,
    /// The selected part.
    pub part: Option<Token>,
}

/// A number with its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Whether a `-` precedes it.
    pub is_negative: bool,
    /// The digits.
    pub digits: Token,
}

/// Reads operands separated by commas, up to a token that cannot follow.
pub(super) fn operands(reader: &mut Reader<'_, '_>, depth: u32) -> Option<Vec<Operand>> {
    let mut operands = vec![operand(reader, depth)?];
    while reader.eat(b',') {
        operands.push(operand(reader, depth)?);
    }
    Some(operands)
}

fn operand(reader: &mut Reader<'_, '_>, depth: u32) -> Option<Operand> {
    let first = single(reader, depth)?;
    if !reader.eat(b'|') {
        return Some(first);
    }
    Some(Operand::Pair(Box::new([first, single(reader, depth)?])))
}

fn single(reader: &mut Reader<'_, '_>, depth: u32) -> Option<Operand> {
    if depth > DEEPEST {
        return None;
    }
    let before = *reader;
    let found = bracketed(reader, depth).or_else(|| {
        *reader = before;
        simple(reader)
    });
    // The following token shows whether the operand was read completely.
    match found {
        Some(found) if ends(reader) => Some(found),
        _ => {
            *reader = before;
            expression(reader)
        }
    }
}

/// Whether the next token can follow an operand.
fn ends(reader: &Reader<'_, '_>) -> bool {
    reader.peek().is_none() || b",|]})".iter().any(|&character| reader.is(character))
}

fn bracketed(reader: &mut Reader<'_, '_>, depth: u32) -> Option<Operand> {
    let (close, make): (u8, fn(Vec<Operand>) -> Operand) = match reader.text.of(reader.peek()?) {
        b"{" => (b'}', Operand::Vector),
        b"[" => (b']', Operand::Address),
        b"(" => (b')', Operand::List),
        _ => return None,
    };
    reader.next();
    let inside = if reader.is(close) { Vec::new() } else { operands(reader, depth + 1)? };
    reader.expect(close)?;
    Some(make(inside))
}

fn simple(reader: &mut Reader<'_, '_>) -> Option<Operand> {
    if reader.eat(b'!') {
        return Some(Operand::Not(name(reader)?));
    }
    match reader.peek_kind()? {
        TokenKind::Number => return Some(Operand::Number(number(reader)?)),
        TokenKind::Punctuation if reader.is(b'-') => {
            let before = *reader;
            if let Some(number) = number(reader) {
                return Some(Operand::Number(number));
            }
            *reader = before;
            reader.next();
            return Some(Operand::Negative(name(reader)?));
        }
        _ => {}
    }
    let base = name(reader)?;
    let sign = if reader.is(b'+') { b'+' } else { b'-' };
    if reader.eat(sign) {
        return Some(Operand::Sum { base, sign, offset: number(reader)? });
    }
    if reader.eat(b'[') {
        let index = number(reader)?;
        reader.expect(b']')?;
        return Some(Operand::Element { array: base, index });
    }
    Some(Operand::Name(base))
}

pub(super) fn name(reader: &mut Reader<'_, '_>) -> Option<Name> {
    let word = reader.of_kind(TokenKind::Word)?;
    Some(Name { word, part: reader.of_kind(TokenKind::DotWord) })
}

fn number(reader: &mut Reader<'_, '_>) -> Option<Number> {
    let is_negative = reader.eat(b'-');
    Some(Number { is_negative, digits: reader.of_kind(TokenKind::Number)? })
}

/// Reads a constant expression: names, numbers and operators, with matching parentheses.
fn expression(reader: &mut Reader<'_, '_>) -> Option<Operand> {
    let first = reader.peek()?;
    let mut end = first;
    let mut depth = 0u32;
    while let Some(token) = reader.peek() {
        match reader.text.kind(token) {
            TokenKind::Word | TokenKind::DotWord | TokenKind::Number => {}
            TokenKind::Punctuation => match reader.text.of(token)[0] {
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'&' | b'^' | b'~' | b'!' | b'?' | b':' | b'=' => {}
                b'|' | b',' if depth > 0 => {}
                _ => break,
            },
            _ => return None,
        }
        reader.next();
        end = Token(token.0 + 1);
    }
    (depth == 0 && end.0 > first.0).then_some(Operand::Expression { first, end })
}

pub(super) fn write_operand(writer: &mut Writer<'_, '_>, operand: &Operand) {
    match operand {
        Operand::Name(name) => write_name(writer, name),
        Operand::Number(number) => write_number(writer, number),
        Operand::Not(name) | Operand::Negative(name) => {
            writer.punctuation(if matches!(operand, Operand::Not(_)) { b'!' } else { b'-' });
            write_name(writer, name);
        }
        Operand::Sum { base, sign, offset } => {
            write_name(writer, base);
            writer.punctuation(*sign);
            write_number(writer, offset);
        }
        Operand::Pair(pair) => {
            write_operand(writer, &pair[0]);
            writer.punctuation(b'|');
            write_operand(writer, &pair[1]);
        }
        Operand::Vector(operands) => write_bracketed(writer, b"{}", operands),
        Operand::Address(operands) => write_bracketed(writer, b"[]", operands),
        Operand::List(operands) => write_bracketed(writer, b"()", operands),
        Operand::Element { array, index } => {
            write_name(writer, array);
            writer.punctuation(b'[');
            write_number(writer, index);
            writer.punctuation(b']');
        }
        Operand::Expression { first, end } => writer.verbatim(*first, *end),
    }
}

fn write_bracketed(writer: &mut Writer<'_, '_>, brackets: &[u8; 2], operands: &[Operand]) {
    writer.punctuation(brackets[0]);
    writer.list(operands, write_operand);
    writer.punctuation(brackets[1]);
}

pub(super) fn write_name(writer: &mut Writer<'_, '_>, name: &Name) {
    writer.token(name.word);
    name.part.into_iter().for_each(|part| writer.token(part));
}

fn write_number(writer: &mut Writer<'_, '_>, number: &Number) {
    if number.is_negative {
        writer.punctuation(b'-');
    }
    writer.token(number.digits);
}
