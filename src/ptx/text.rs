//! The contents of a PTX file and their tokens.

use super::token::{self, Token, TokenKind};
use crate::error::{Error, ErrorKind};
use crate::index::EntityIndex;
use crate::printable::one_line;

/// The contents of a file and the tokens that cover them.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    name: &'a str,
    bytes: &'a [u8],
    starts: Vec<u32>,
    kinds: Vec<TokenKind>,
}

impl<'a> Text<'a> {
    /// Reads the tokens of a file. `name` is the name of the file, for messages. O(bytes).
    ///
    /// # Errors
    /// A string or comment without an end, or a file of more than 4 GiB.
    pub(super) fn new(name: &'a str, bytes: &'a [u8]) -> Result<Self, Error> {
        if u32::try_from(bytes.len()).is_err() {
            let problem = format!("{name}: the file is longer than 4 GiB");
            return Err(Error::new(ErrorKind::View, problem, "split the file into several files"));
        }
        let mut text = Self { name, bytes, starts: Vec::new(), kinds: Vec::new() };
        // Real files have a token every three bytes. The vectors grow for a denser file.
        text.starts.reserve(bytes.len() / 3);
        text.kinds.reserve(bytes.len() / 3);
        let (mut at, mut after_word) = (0, false);
        while at < bytes.len() {
            let found = token::next(bytes, at, after_word);
            let (end, kind) = found.map_err(|(begin, problem)| text.error_at(begin, problem))?;
            text.starts.push(at as u32);
            text.kinds.push(kind);
            after_word = matches!(kind, TokenKind::Word | TokenKind::DotWord);
            at = end;
        }
        text.starts.shrink_to_fit();
        text.kinds.shrink_to_fit();
        Ok(text)
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the number of tokens.
    pub fn num_tokens(&self) -> usize {
        self.starts.len()
    }

    /// Returns the kind of a token.
    #[inline]
    pub fn kind(&self, token: Token) -> TokenKind {
        self.kinds[token.index()]
    }

    /// Returns the first byte of a token. The token after the last one begins at the end of the file.
    #[inline]
    pub fn start(&self, token: Token) -> usize {
        self.starts.get(token.index()).map_or(self.bytes.len(), |&start| start as usize)
    }

    /// Returns the bytes of a token.
    #[inline]
    pub fn of(&self, token: Token) -> &'a [u8] {
        &self.bytes[self.start(token)..self.start(Token(token.0 + 1))]
    }

    /// Returns a token as a string. Empty if the token is not UTF-8. Names and numbers are ASCII.
    pub fn str(&self, token: Token) -> &'a str {
        std::str::from_utf8(self.of(token)).unwrap_or_default()
    }

    /// Whether a token is a given punctuation character.
    #[inline]
    pub fn is(&self, token: Token, character: u8) -> bool {
        token.index() < self.num_tokens()
            && self.kind(token) == TokenKind::Punctuation
            && self.bytes[self.start(token)] == character
    }

    /// Returns the first token from `token` on that is not white space or a comment, or the token after the last one.
    #[inline]
    pub fn skip_trivia(&self, mut token: Token) -> Token {
        while token.index() < self.num_tokens() && self.kind(token) == TokenKind::Trivia {
            token.0 += 1;
        }
        token
    }

    /// Returns line and column of a byte, both counted from 1.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.bytes[..at.min(self.bytes.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        (line, column)
    }

    /// Returns an error at a byte of the file.
    pub(super) fn error_at(&self, at: usize, problem: &str) -> Error {
        let (line, column) = self.place(at);
        let problem = format!("{}:{line}:{column}: {problem}", one_line(self.name));
        Error::new(ErrorKind::View, problem, "check that the file is complete PTX; ptxas may print more details")
    }
}
