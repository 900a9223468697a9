//! Declarations of variables, registers and parameters.

use super::reader::Reader;
use super::writer::Writer;
use crate::ptx::text::Text;
use crate::ptx::token::{Token, TokenKind};

/// Linkage words before `.global`.
const LINKAGE: [&str; 4] = [".visible", ".extern", ".weak", ".common"];

/// A declaration: `.visible .global .align 4 .b32 a[4] = {1, 2}, b;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// `.visible` and similar words.
    pub linkage: Vec<Token>,
    /// `.reg`, `.param`, `.global` and similar words.
    pub space: Token,
    /// Type, alignment and attributes.
    pub specifiers: Vec<Specifier>,
    /// The declared names.
    pub declarators: Vec<Declarator>,
}

/// A word of a declaration before its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Specifier {
    /// `.b32`, `.v4`, `.ptr`, `.global`.
    Word(Token),
    /// `.align 16`.
    Valued(Token, Token),
    /// `.attribute(.managed)`.
    Attribute {
        /// `.attribute`.
        word: Token,
        /// The contents of the parentheses: the first token, and the closing parenthesis.
        inside: (Token, Token),
    },
}

/// A declared name with its count, dimensions and initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declarator {
    /// The name. `None` for an unnamed parameter.
    pub name: Option<Token>,
    /// `<10>`: ten registers, whose names are the name with a number.
    pub count: Option<Token>,
    /// The dimensions of an array: the first token in the brackets, and the closing bracket.
    pub dimensions: Vec<(Token, Token)>,
    /// The initial value: its first token, and the token after it.
    pub initial: Option<(Token, Token)>,
}

impl Declaration {
    /// Reads a declaration that is a whole statement.
    pub(super) fn read(mut reader: Reader<'_, '_>) -> Option<Self> {
        let mut declaration = Self::head(&mut reader)?;
        loop {
            declaration.declarators.push(Declarator::read(&mut reader, true)?);
            if !reader.eat(b',') {
                break;
            }
        }
        reader.expect(b';')?;
        reader.finish()?;
        Some(declaration)
    }

    /// Reads a parameter of a function.
    pub(super) fn parameter(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let mut declaration = Self::head(reader)?;
        declaration.declarators.push(Declarator::read(reader, false)?);
        Some(declaration)
    }

    fn head(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let mut linkage = Vec::new();
        while let Some(word) = reader.one_of(&LINKAGE) {
            linkage.push(word);
        }
        let space = reader.of_kind(TokenKind::DotWord)?;
        let mut specifiers = Vec::new();
        while reader.peek_kind() == Some(TokenKind::DotWord) {
            specifiers.push(Specifier::read(reader)?);
        }
        Some(Self { linkage, space, specifiers, declarators: Vec::new() })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_, '_>) {
        self.write_parameter(writer);
        writer.punctuation(b';');
    }

    pub(super) fn write_parameter(&self, writer: &mut Writer<'_, '_>) {
        self.linkage.iter().for_each(|&word| writer.token(word));
        writer.token(self.space);
        self.specifiers.iter().for_each(|specifier| specifier.write(writer));
        writer.list(&self.declarators, |writer, declarator| declarator.write(writer));
    }

    /// Returns the word of the type: `.b32`.
    pub fn type_name<'a>(&self, text: &Text<'a>) -> &'a str {
        let is_type = |word: &&str| {
            let bits = word.get(2..).unwrap_or_default();
            *word == ".pred"
                || (".bufse".contains(&word[1..2]) && bits.starts_with(|first: char| first.is_ascii_digit()))
        };
        self.words(text).rfind(is_type).unwrap_or_default()
    }

    /// Returns the requested alignment. For a pointer, it is the alignment of the memory that it points to.
    pub fn alignment<'a>(&self, text: &Text<'a>) -> Option<&'a str> {
        self.specifiers.iter().find_map(|specifier| match specifier {
            Specifier::Valued(word, value) if text.of(*word) == b".align" => Some(text.str(*value)),
            _ => None,
        })
    }

    /// Returns the specifiers that are single words, without a value.
    pub fn words<'s, 'a>(&'s self, text: &'s Text<'a>) -> impl DoubleEndedIterator<Item = &'a str> + 's {
        self.specifiers.iter().filter_map(|specifier| match specifier {
            Specifier::Word(word) => Some(text.str(*word)),
            _ => None,
        })
    }
}

impl Specifier {
    pub(super) fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let word = reader.of_kind(TokenKind::DotWord)?;
        if reader.text.of(word) == b".attribute" {
            reader.expect(b'(')?;
            return Some(Self::Attribute { word, inside: balanced(reader, b"()")? });
        }
        if reader.text.of(word) == b".align" {
            return Some(Self::Valued(word, reader.of_kind(TokenKind::Number)?));
        }
        Some(Self::Word(word))
    }

    pub(super) fn write(&self, writer: &mut Writer<'_, '_>) {
        match *self {
            Self::Word(word) => writer.token(word),
            Self::Valued(word, value) => {
                writer.token(word);
                writer.token(value);
            }
            Self::Attribute { word, inside } => {
                writer.token(word);
                writer.punctuation(b'(');
                writer.verbatim(inside.0, inside.1);
                writer.punctuation(b')');
            }
        }
    }
}

impl Declarator {
    fn read(reader: &mut Reader<'_, '_>, is_named: bool) -> Option<Self> {
        let name = reader.of_kind(TokenKind::Word);
        if is_named && name.is_none() {
            return None;
        }
        let mut count = None;
        if reader.eat(b'<') {
            count = Some(reader.of_kind(TokenKind::Number)?);
            reader.expect(b'>')?;
        }
        let mut dimensions = Vec::new();
        while reader.eat(b'[') {
            dimensions.push(balanced(reader, b"[]")?);
        }
        let initial = if reader.eat(b'=') { Some(initial(reader)?) } else { None };
        Some(Self { name, count, dimensions, initial })
    }

    fn write(&self, writer: &mut Writer<'_, '_>) {
        self.name.into_iter().for_each(|name| writer.token(name));
        if let Some(count) = self.count {
            writer.punctuation(b'<');
            writer.token(count);
            writer.punctuation(b'>');
        }
        for &(first, end) in &self.dimensions {
            writer.punctuation(b'[');
            writer.verbatim(first, end);
            writer.punctuation(b']');
        }
        if let Some((first, end)) = self.initial {
            writer.punctuation(b'=');
            writer.verbatim(first, end);
        }
    }
}

/// Reads the tokens up to the closing bracket, and the bracket.
pub(super) fn balanced(reader: &mut Reader<'_, '_>, brackets: &[u8; 2]) -> Option<(Token, Token)> {
    let first = reader.peek()?;
    let mut depth = 0usize;
    loop {
        if reader.is(brackets[1]) {
            if depth == 0 {
                let end = reader.next()?;
                return Some((first, end));
            }
            depth -= 1;
        } else if reader.is(brackets[0]) {
            depth += 1;
        }
        reader.next()?;
    }
}

/// Reads an initial value: up to a comma or semicolon outside all brackets.
fn initial(reader: &mut Reader<'_, '_>) -> Option<(Token, Token)> {
    let first = reader.peek()?;
    let mut end = first;
    let mut depth = 0usize;
    while let Some(token) = reader.peek() {
        let text = reader.text;
        if text.kind(token) == TokenKind::Punctuation {
            match text.of(token)[0] {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.checked_sub(1)?,
                b',' | b';' if depth == 0 => break,
                _ => {}
            }
        }
        reader.next();
        end = Token(token.0 + 1);
    }
    (end.0 > first.0).then_some((first, end))
}
