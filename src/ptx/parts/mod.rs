//! The parts of statements, read from their tokens on demand and written again.
//!
//! A statement whose parts cannot be read is *opaque*: it is kept unchanged.

mod declaration;
mod directive;
mod function;
mod instruction;
mod operand;
mod reader;
mod writer;

pub use declaration::{Declaration, Declarator, Specifier};
pub use directive::{Loc, LocClause, Section, Values};
pub use function::{CallPrototype, FunctionHead};
pub use instruction::{Guard, Instruction};
pub use operand::{Name, Number, Operand};

use super::statement::{Statement, StatementKind, Statements};
use super::text::Text;
use super::token::{Token, TokenKind};
use directive::{read_values, write_values};
use reader::Reader;
use writer::Writer;

/// The most tokens of an instruction whose parts are read. Real instructions have fewer tokens.
const MOST_TOKENS: usize = 1 << 16;

/// The parts of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// An instruction.
    Instruction(Instruction),
    /// The name of a label.
    Label(Token),
    /// `{` or `}`.
    Brace(u8),
    /// A source line statement.
    Loc(Loc),
    /// A directive and its values.
    Values(Values),
    /// A declaration.
    Declaration(Declaration),
    /// The head of a function.
    Function(FunctionHead),
    /// A section of debug information.
    Section(Section),
    /// A call prototype.
    CallPrototype(CallPrototype),
    /// A number of semicolons.
    Empty(usize),
    /// A line that is kept whole.
    Line(Token),
    /// The end of the file.
    End,
}

impl Parts {
    /// Reads the parts of a statement. `None` if it is opaque. O(tokens of the statement).
    pub fn read(text: &Text<'_>, statements: &Statements, statement: Statement) -> Option<Self> {
        let (first, end) = (statements.first(statement), statements.end(text, statement));
        let mut reader = Reader::new(text, first, end);
        let kind = statements.kind(statement);
        if reader.left() > MOST_TOKENS && kind == StatementKind::Instruction {
            return None;
        }
        Some(match kind {
            StatementKind::Instruction => Self::Instruction(Instruction::read(reader)?),
            StatementKind::Label => {
                let name = reader.of_kind(TokenKind::Word)?;
                reader.expect(b':')?;
                Self::Label(name)
            }
            StatementKind::Open => Self::Brace(b'{'),
            StatementKind::Close => Self::Brace(b'}'),
            StatementKind::Loc => Self::Loc(Loc::read(reader)?),
            StatementKind::Header | StatementKind::Pragma | StatementKind::Targets | StatementKind::Directive => {
                let values = read_values(&mut reader)?;
                let has_semicolon = reader.eat(b';');
                reader.finish()?;
                Self::Values(Values { has_semicolon, ..values })
            }
            StatementKind::Variable => Self::Declaration(Declaration::read(reader)?),
            StatementKind::Function => {
                Self::Function(FunctionHead::read(reader, text.is(text.skip_trivia(end), b'{'))?)
            }
            StatementKind::Section => Self::Section(Section::read(reader)?),
            StatementKind::CallPrototype => Self::CallPrototype(CallPrototype::read(reader)?),
            StatementKind::Empty => {
                let mut count = 0;
                while reader.eat(b';') {
                    count += 1;
                }
                Self::Empty(count)
            }
            StatementKind::Line => Self::Line(reader.next()?),
            StatementKind::End => Self::End,
            StatementKind::Unknown => return None,
        })
    }

    /// Writes a statement from its parts. White space and comments come from the file.
    pub fn write(&self, text: &Text<'_>, statements: &Statements, statement: Statement) -> Vec<u8> {
        let (first, end) = (statements.first(statement), statements.end(text, statement));
        let mut writer = Writer::new(text, first);
        match self {
            Self::Instruction(instruction) => instruction.write(&mut writer),
            Self::Label(name) => {
                writer.token(*name);
                writer.punctuation(b':');
            }
            Self::Brace(brace) => writer.punctuation(*brace),
            Self::Loc(loc) => loc.write(&mut writer),
            Self::Values(values) => write_values(&mut writer, values),
            Self::Declaration(declaration) => declaration.write(&mut writer),
            Self::Function(head) => head.write(&mut writer),
            Self::Section(section) => section.write(&mut writer),
            Self::CallPrototype(prototype) => prototype.write(&mut writer),
            Self::Empty(count) => (0..*count).for_each(|_| writer.punctuation(b';')),
            Self::Line(line) => writer.token(*line),
            // Only white space and comments follow the last statement.
            Self::End => return text.bytes()[text.start(first)..text.start(end)].to_vec(),
        }
        writer.finish()
    }
}
