//! Function heads, and call prototypes.

use super::declaration::{Declaration, Specifier};
use super::directive::{Values, read_values, write_values};
use super::reader::Reader;
use super::writer::Writer;
use crate::ptx::token::{Token, TokenKind};

/// The head of a function: `.visible .entry k(.param .b32 n) .maxntid 128`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionHead {
    /// `.visible` and similar words.
    pub linkage: Vec<Token>,
    /// `.entry` or `.func`.
    pub word: Token,
    /// `.attribute(…)` and other words before the name.
    pub specifiers: Vec<Specifier>,
    /// The results, in parentheses.
    pub returns: Option<Vec<Declaration>>,
    /// The name.
    pub name: Token,
    /// The parameters, in parentheses.
    pub parameters: Option<Vec<Declaration>>,
    /// Directives after the parameters, with their values. The semicolon of a `.pragma` does not end the head.
    pub directives: Vec<Values>,
    /// Whether the function has no body.
    pub is_prototype: bool,
}

impl FunctionHead {
    pub(super) fn read(mut reader: Reader<'_, '_>, has_body: bool) -> Option<Self> {
        let mut linkage = Vec::new();
        while let Some(word) = reader.one_of(&[".visible", ".extern", ".weak", ".common"]) {
            linkage.push(word);
        }
        let word = reader.one_of(&[".entry", ".func"])?;
        let mut specifiers = Vec::new();
        while reader.peek_kind() == Some(TokenKind::DotWord) {
            specifiers.push(Specifier::read(&mut reader)?);
        }
        let (returns, name, parameters, directives) = signature(&mut reader, has_body)?;
        if !has_body {
            reader.expect(b';')?;
        }
        reader.finish()?;
        Some(Self { linkage, word, specifiers, returns, name, parameters, directives, is_prototype: !has_body })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_, '_>) {
        self.linkage.iter().for_each(|&word| writer.token(word));
        writer.token(self.word);
        self.specifiers.iter().for_each(|specifier| specifier.write(writer));
        write_parameters(writer, &self.returns);
        writer.token(self.name);
        write_parameters(writer, &self.parameters);
        self.directives.iter().for_each(|directive| write_values(writer, directive));
        if self.is_prototype {
            writer.punctuation(b';');
        }
    }
}

/// A call prototype: `.callprototype (.param .b32 _) _ (.param .b64 _);`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPrototype {
    /// `.callprototype`.
    pub word: Token,
    /// The results, in parentheses.
    pub returns: Option<Vec<Declaration>>,
    /// `_`.
    pub name: Token,
    /// The parameters, in parentheses.
    pub parameters: Option<Vec<Declaration>>,
    /// `.noreturn` and similar directives, with their values.
    pub directives: Vec<Values>,
}

impl CallPrototype {
    pub(super) fn read(mut reader: Reader<'_, '_>) -> Option<Self> {
        let word = reader.one_of(&[".callprototype"])?;
        let (returns, name, parameters, directives) = signature(&mut reader, false)?;
        reader.expect(b';')?;
        reader.finish()?;
        Some(Self { word, returns, name, parameters, directives })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_, '_>) {
        writer.token(self.word);
        write_parameters(writer, &self.returns);
        writer.token(self.name);
        write_parameters(writer, &self.parameters);
        self.directives.iter().for_each(|directive| write_values(writer, directive));
        writer.punctuation(b';');
    }
}

/// The results, the name, the parameters, and the directives of a function.
type Signature = (Option<Vec<Declaration>>, Token, Option<Vec<Declaration>>, Vec<Values>);

/// Reads the signature of a statement. The last semicolon is not part of it, unless a body follows.
fn signature(reader: &mut Reader<'_, '_>, has_body: bool) -> Option<Signature> {
    let returns = parameters(reader)?;
    let name = reader.of_kind(TokenKind::Word)?;
    let parameters = parameters(reader)?;
    let mut directives = Vec::new();
    while reader.peek_kind() == Some(TokenKind::DotWord) {
        let values = read_values(reader)?;
        let mut behind = *reader;
        let has_semicolon = behind.eat(b';') && (has_body || behind.peek().is_some());
        if has_semicolon {
            reader.move_to(&behind);
        }
        directives.push(Values { has_semicolon, ..values });
    }
    Some((returns, name, parameters, directives))
}

/// Reads parameters in parentheses. `Some(None)` if there are no parentheses.
#[allow(clippy::option_option, reason = "the outer one says that the text is no list of parameters")]
fn parameters(reader: &mut Reader<'_, '_>) -> Option<Option<Vec<Declaration>>> {
    if !reader.eat(b'(') {
        return Some(None);
    }
    let mut parameters = Vec::new();
    while !reader.is(b')') {
        if !parameters.is_empty() {
            reader.expect(b',')?;
        }
        parameters.push(Declaration::parameter(reader)?);
    }
    reader.next();
    Some(Some(parameters))
}

fn write_parameters(writer: &mut Writer<'_, '_>, parameters: &Option<Vec<Declaration>>) {
    if let Some(parameters) = parameters {
        writer.punctuation(b'(');
        writer.list(parameters, |writer, parameter| parameter.write_parameter(writer));
        writer.punctuation(b')');
    }
}
