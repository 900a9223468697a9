//! Directives with values, source lines, and sections of debug information.

use super::reader::Reader;
use super::writer::Writer;
use crate::ptx::token::{Token, TokenKind};

/// A directive with its values: `.maxntid 128, 1, 1`, `.file 1 "a.cu", 3, 4`, `.pragma "nounroll"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// The directive.
    pub word: Token,
    /// The values, each with whether a comma precedes it.
    pub values: Vec<(bool, Token)>,
    /// Whether a semicolon follows.
    pub has_semicolon: bool,
}

/// A source line: `.loc 1 2 3, function_name $L + 4, inlined_at 1 5 6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loc {
    /// `.loc`.
    pub word: Token,
    /// File, line and column.
    pub place: [Token; 3],
    /// The clauses after commas.
    pub clauses: Vec<LocClause>,
}

/// A clause about the function that a source line is inlined from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocClause {
    /// `function_name LABEL + N`.
    Function {
        /// `function_name`.
        word: Token,
        /// A label in the string section.
        label: Token,
        /// The offset from the label.
        offset: Option<Token>,
    },
    /// `inlined_at FILE LINE COLUMN`.
    InlinedAt {
        /// `inlined_at`.
        word: Token,
        /// File, line and column.
        place: [Token; 3],
    },
}

/// A section of debug information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// `.section`.
    pub word: Token,
    /// The name.
    pub name: Token,
    /// The contents of the braces: the first token, and the closing brace.
    pub inside: (Token, Token),
}

/// Reads a directive and its values, without its semicolon. No current directive has a list in parentheses. Such a list
/// would be read as separate words, numbers and characters.
pub(super) fn read_values(reader: &mut Reader<'_, '_>) -> Option<Values> {
    let word = reader.of_kind(TokenKind::DotWord)?;
    let (mut values, mut depth) = (Vec::new(), 0usize);
    loop {
        let has_comma = !values.is_empty() && reader.eat(b',');
        let is_value = match reader.peek_kind() {
            Some(TokenKind::Word | TokenKind::Number | TokenKind::String) => true,
            Some(TokenKind::DotWord) => depth > 0,
            _ if reader.is(b'(') => {
                depth += 1;
                true
            }
            _ if reader.is(b')') => {
                depth = depth.checked_sub(1)?;
                true
            }
            _ => false,
        };
        if !is_value {
            return (!has_comma && depth == 0).then_some(Values { word, values, has_semicolon: false });
        }
        values.push((has_comma, reader.next()?));
    }
}

pub(super) fn write_values(writer: &mut Writer<'_, '_>, directive: &Values) {
    writer.token(directive.word);
    for &(has_comma, value) in &directive.values {
        if has_comma {
            writer.punctuation(b',');
        }
        writer.token(value);
    }
    if directive.has_semicolon {
        writer.punctuation(b';');
    }
}

fn place(reader: &mut Reader<'_, '_>) -> Option<[Token; 3]> {
    let mut number = || reader.of_kind(TokenKind::Number);
    Some([number()?, number()?, number()?])
}

impl Loc {
    pub(super) fn read(mut reader: Reader<'_, '_>) -> Option<Self> {
        let word = reader.one_of(&[".loc"])?;
        let place_of_line = place(&mut reader)?;
        let mut clauses = Vec::new();
        while reader.eat(b',') {
            let word = reader.of_kind(TokenKind::Word)?;
            clauses.push(match reader.text.of(word) {
                b"function_name" => {
                    let label = reader.of_kind(TokenKind::Word)?;
                    let offset = if reader.eat(b'+') { Some(reader.of_kind(TokenKind::Number)?) } else { None };
                    LocClause::Function { word, label, offset }
                }
                b"inlined_at" => LocClause::InlinedAt { word, place: place(&mut reader)? },
                _ => return None,
            });
        }
        reader.finish()?;
        Some(Self { word, place: place_of_line, clauses })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_, '_>) {
        writer.token(self.word);
        self.place.iter().for_each(|&number| writer.token(number));
        for clause in &self.clauses {
            writer.punctuation(b',');
            match clause {
                LocClause::Function { word, label, offset } => {
                    writer.token(*word);
                    writer.token(*label);
                    if let Some(offset) = *offset {
                        writer.punctuation(b'+');
                        writer.token(offset);
                    }
                }
                LocClause::InlinedAt { word, place } => {
                    writer.token(*word);
                    place.iter().for_each(|&number| writer.token(number));
                }
            }
        }
    }
}

impl Section {
    pub(super) fn read(mut reader: Reader<'_, '_>) -> Option<Self> {
        let word = reader.one_of(&[".section"])?;
        let name = reader.next()?;
        reader.expect(b'{')?;
        let first = reader.peek()?;
        let before = reader.before(b'}')?;
        let mut inside = before;
        let mut depth = 0usize;
        while inside.peek().is_some() {
            if inside.is(b'{') {
                depth += 1;
            } else if inside.is(b'}') {
                depth = depth.checked_sub(1)?;
            }
            inside.next();
        }
        reader.move_to(&inside);
        let close = reader.peek()?;
        reader.expect(b'}')?;
        reader.finish()?;
        (depth == 0).then_some(Self { word, name, inside: (first, close) })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_, '_>) {
        writer.token(self.word);
        writer.token(self.name);
        writer.punctuation(b'{');
        writer.verbatim(self.inside.0, self.inside.1);
        writer.punctuation(b'}');
    }
}
