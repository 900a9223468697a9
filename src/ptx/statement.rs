//! Statements: sequences of tokens that cover the file.
//!
//! The division reads few tokens of a statement: the first tokens, and the `;` or brace at the end. White space and
//! comments before a statement belong to it. Nesting is only counted, so its depth costs nothing.

use super::text::Text;
use super::token::{Token, TokenKind};
use crate::define_index;
use crate::error::Error;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A statement, by number.
    Statement, "s"
}

/// The kind of a statement, by its first tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StatementKind {
    /// `mov.u32 %r1, %r2;`, with its predicate.
    Instruction,
    /// `$L:`.
    Label,
    /// `{`.
    Open,
    /// `}`.
    Close,
    /// `.loc …`, without a `;`.
    Loc,
    /// `.version`, `.target`, `.address_size` or `.file`, without a `;`.
    Header,
    /// The declaration of a variable or register: `.reg`, `.param`, `.global`, ….
    Variable,
    /// The head of a function, up to the brace of its body, or with its `;`.
    Function,
    /// `.section NAME { … }`.
    Section,
    /// `.callprototype`, after its label.
    CallPrototype,
    /// `.branchtargets` or `.calltargets`, after their label.
    Targets,
    /// `.pragma "…";`.
    Pragma,
    /// Any other directive.
    Directive,
    /// Only semicolons.
    Empty,
    /// A line for a preprocessor, or an old form of debug information.
    Line,
    /// A statement with an unknown beginning.
    Unknown,
    /// White space and comments after the last statement.
    End,
}

/// The statements of a file.
#[derive(Clone, Debug)]
pub struct Statements {
    starts: IndexVec<Statement, u32>,
    kinds: IndexVec<Statement, StatementKind>,
}

impl Statements {
    /// Divides a file into statements. O(tokens).
    ///
    /// # Errors
    /// A statement without an end, or braces that do not match.
    pub(super) fn new(text: &Text<'_>) -> Result<Self, Error> {
        let mut cutter = Cutter { text, at: text.skip_trivia(Token(0)), open: 0, outermost: None };
        let mut statements = Self { starts: IndexVec::new(), kinds: IndexVec::new() };
        let mut start = Token(0);
        while cutter.at.index() < text.num_tokens() {
            let kind = cutter.statement()?;
            statements.starts.push(start.0);
            statements.kinds.push(kind);
            start = cutter.at;
            cutter.at = text.skip_trivia(start);
        }
        if let Some(open) = cutter.outermost {
            return Err(text.error_at(text.start(open), "this brace is never closed"));
        }
        statements.starts.push(start.0);
        statements.kinds.push(StatementKind::End);
        Ok(statements)
    }

    /// Returns all statements, including the [end](StatementKind::End).
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Statement> + ExactSizeIterator + use<> {
        self.starts.ids()
    }

    /// Returns the kind of a statement.
    #[inline]
    pub fn kind(&self, statement: Statement) -> StatementKind {
        self.kinds[statement]
    }

    /// Returns the first token of a statement, which may be white space.
    #[inline]
    pub fn first(&self, statement: Statement) -> Token {
        Token(self.starts[statement])
    }

    /// Returns the token after the last one of a statement.
    #[inline]
    pub fn end(&self, text: &Text<'_>, statement: Statement) -> Token {
        self.starts.get(Statement(statement.0 + 1)).map_or(Token(text.num_tokens() as u32), |&start| Token(start))
    }
}

/// Words that begin statements at the top of a file, except `.pragma`.
const STARTS: [&[u8]; 24] = [
    b".version",
    b".target",
    b".address_size",
    b".file",
    b".loc",
    b".section",
    b".entry",
    b".func",
    b".visible",
    b".extern",
    b".weak",
    b".common",
    b".reg",
    b".param",
    b".global",
    b".const",
    b".shared",
    b".local",
    b".sreg",
    b".tex",
    b".surf",
    b".sampler",
    b".alias",
    b".callprototype",
];

struct Cutter<'t, 'a> {
    text: &'t Text<'a>,
    /// The first token of the next statement, without white space.
    at: Token,
    open: usize,
    /// The outermost open brace.
    outermost: Option<Token>,
}

impl Cutter<'_, '_> {
    /// Advances past the next statement.
    fn statement(&mut self) -> Result<StatementKind, Error> {
        let (text, first) = (self.text, self.at);
        match text.kind(first) {
            TokenKind::Line => {
                self.at.0 += 1;
                Ok(StatementKind::Line)
            }
            TokenKind::Punctuation => self.punctuation(),
            TokenKind::DotWord => self.directive(),
            TokenKind::Word if text.is(self.after(first), b':') => {
                self.at = Token(self.after(first).0 + 1);
                Ok(StatementKind::Label)
            }
            kind => {
                self.skip_to_semicolon()?;
                Ok(if kind == TokenKind::Word { StatementKind::Instruction } else { StatementKind::Unknown })
            }
        }
    }

    /// Returns the token after `token`, without white space.
    fn after(&self, token: Token) -> Token {
        self.text.skip_trivia(Token(token.0 + 1))
    }

    fn punctuation(&mut self) -> Result<StatementKind, Error> {
        let (text, first) = (self.text, self.at);
        match text.of(first) {
            b"{" => {
                self.outermost.get_or_insert(first);
                self.open += 1;
                self.at.0 += 1;
                Ok(StatementKind::Open)
            }
            b"}" => {
                let problem = "this brace has no opening brace";
                self.open = self.open.checked_sub(1).ok_or_else(|| text.error_at(text.start(first), problem))?;
                if self.open == 0 {
                    self.outermost = None;
                }
                self.at.0 += 1;
                Ok(StatementKind::Close)
            }
            b";" => {
                while text.is(self.at, b';') {
                    self.at.0 += 1;
                }
                Ok(StatementKind::Empty)
            }
            b"@" => self.skip_to_semicolon().map(|()| StatementKind::Instruction),
            _ => self.skip_to_semicolon().map(|()| StatementKind::Unknown),
        }
    }

    fn directive(&mut self) -> Result<StatementKind, Error> {
        let kind = match self.text.of(self.at) {
            b".version" | b".target" | b".address_size" | b".file" => return self.header(),
            b".loc" => return self.loc(),
            b".section" => return self.section(),
            b".entry" | b".func" => return self.function(),
            b".visible" | b".extern" | b".weak" | b".common" => return self.linkage(),
            b".reg" | b".param" | b".global" | b".const" | b".shared" | b".local" | b".sreg" | b".tex" | b".surf"
            | b".sampler" => StatementKind::Variable,
            b".callprototype" => StatementKind::CallPrototype,
            b".branchtargets" | b".calltargets" => StatementKind::Targets,
            b".pragma" => StatementKind::Pragma,
            _ => StatementKind::Directive,
        };
        self.skip_to_semicolon().map(|()| kind)
    }

    /// Reads a function or a variable after `.visible` and similar words.
    fn linkage(&mut self) -> Result<StatementKind, Error> {
        let mut at = self.at;
        while at.index() < self.text.num_tokens() {
            match self.text.of(at) {
                b".entry" | b".func" => return self.function(),
                b".visible" | b".extern" | b".weak" | b".common" => at = self.after(at),
                _ => break,
            }
        }
        self.skip_to_semicolon().map(|()| StatementKind::Variable)
    }

    /// Advances past a header directive with its values, which are separated by commas.
    fn header(&mut self) -> Result<StatementKind, Error> {
        let text = self.text;
        let is_file = text.of(self.at) == b".file";
        let mut end = Token(self.at.0 + 1);
        let mut next = text.skip_trivia(end);
        let is_value = |token: Token| {
            token.index() < text.num_tokens()
                && matches!(text.kind(token), TokenKind::Word | TokenKind::Number | TokenKind::String)
        };
        // `.file 1 "name", time, size` has two values before the first comma. Other directives have one.
        for _ in 0..1 + usize::from(is_file) {
            if !is_value(next) {
                return Err(text.error_at(text.start(self.at), "this directive lacks a value"));
            }
            end = Token(next.0 + 1);
            next = text.skip_trivia(end);
        }
        while text.is(next, b',') && is_value(self.after(next)) {
            end = Token(self.after(next).0 + 1);
            next = text.skip_trivia(end);
        }
        self.at = end;
        Ok(StatementKind::Header)
    }

    /// Reads `.loc FILE LINE COLUMN`, then `, function_name LABEL [+ N]` and `, inlined_at FILE LINE COLUMN`.
    fn loc(&mut self) -> Result<StatementKind, Error> {
        let text = self.text;
        let first = self.at;
        let mut end = Token(first.0 + 1);
        let numbers = |end: &mut Token, count: usize| {
            for _ in 0..count {
                let next = text.skip_trivia(*end);
                if next.index() >= text.num_tokens() || text.kind(next) != TokenKind::Number {
                    return Err(text.error_at(text.start(first), "this .loc lacks a number"));
                }
                *end = Token(next.0 + 1);
            }
            Ok(())
        };
        numbers(&mut end, 3)?;
        loop {
            let comma = text.skip_trivia(end);
            if !text.is(comma, b',') {
                break;
            }
            let word = self.after(comma);
            if word.index() >= text.num_tokens() {
                break;
            }
            match text.of(word) {
                b"function_name" => {
                    end = Token(self.after(word).0 + 1);
                    let plus = text.skip_trivia(end);
                    if text.is(plus, b'+') {
                        end = plus;
                        end.0 += 1;
                        numbers(&mut end, 1)?;
                    }
                }
                b"inlined_at" => {
                    end = Token(word.0 + 1);
                    numbers(&mut end, 3)?;
                }
                _ => break,
            }
        }
        self.at = Token(end.0.min(text.num_tokens() as u32));
        Ok(StatementKind::Loc)
    }

    fn section(&mut self) -> Result<StatementKind, Error> {
        let (text, first) = (self.text, self.at);
        let mut depth = 0usize;
        let mut at = first;
        while at.index() < text.num_tokens() {
            if text.is(at, b'{') {
                depth += 1;
            } else if text.is(at, b'}') {
                depth = match depth.checked_sub(1) {
                    Some(0) => {
                        self.at = Token(at.0 + 1);
                        return Ok(StatementKind::Section);
                    }
                    Some(depth) => depth,
                    None => break,
                };
            }
            at.0 += 1;
        }
        Err(text.error_at(text.start(first), "this section does not end"))
    }

    /// Reads the head of a function, up to its brace or after its semicolon. A `.pragma` inside has its own semicolon.
    fn function(&mut self) -> Result<StatementKind, Error> {
        let (text, first) = (self.text, self.at);
        let mut at = first;
        while at.index() < text.num_tokens() {
            if text.is(at, b'{') {
                // White space before the brace belongs to the brace.
                while at.0 > first.0 && text.kind(Token(at.0 - 1)) == TokenKind::Trivia {
                    at.0 -= 1;
                }
                self.at = at;
                return Ok(StatementKind::Function);
            }
            if text.is(at, b';') {
                if let Some(brace) = self.brace_of_body(at) {
                    at = brace;
                    continue;
                }
                self.at = Token(at.0 + 1);
                return Ok(StatementKind::Function);
            }
            if text.is(at, b'}') {
                break;
            }
            at.0 += 1;
        }
        Err(text.error_at(text.start(first), "the head of this function does not end"))
    }

    /// Returns the brace of a function's body if only directives of its head are between `semicolon` and the brace. No
    /// top-level statement begins with a brace.
    fn brace_of_body(&self, semicolon: Token) -> Option<Token> {
        let text = self.text;
        let mut at = self.after(semicolon);
        while at.index() < text.num_tokens() {
            match text.kind(at) {
                TokenKind::DotWord if STARTS.contains(&text.of(at)) => return None,
                TokenKind::Punctuation if text.is(at, b'{') => return Some(at),
                TokenKind::Punctuation if !b",;()".contains(&text.bytes()[text.start(at)]) => return None,
                TokenKind::Line | TokenKind::Other => return None,
                _ => at.0 += 1,
            }
        }
        None
    }

    /// Advances past the next semicolon outside of braces.
    fn skip_to_semicolon(&mut self) -> Result<(), Error> {
        let (text, first) = (self.text, self.at);
        let mut depth = 0usize;
        let mut at = first;
        while at.index() < text.num_tokens() {
            if text.kind(at) == TokenKind::Punctuation {
                match text.bytes()[text.start(at)] {
                    b'{' => depth += 1,
                    b'}' => match depth.checked_sub(1) {
                        Some(outer) => depth = outer,
                        None => break,
                    },
                    b';' if depth == 0 => {
                        self.at = Token(at.0 + 1);
                        return Ok(());
                    }
                    _ => {}
                }
            }
            at.0 += 1;
        }
        Err(text.error_at(text.start(first), "this statement does not end with a semicolon"))
    }
}
