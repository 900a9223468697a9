//! Reads the words, numbers and strings of one line.

use std::borrow::Cow;
use std::str::FromStr;

use super::ParseError;
use super::words::{begins_word, continues_word};

/// The most characters of an invalid word that an error repeats.
const EXCERPT: usize = 40;

/// Returns the beginning of an invalid text in printable form.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT).flat_map(char::escape_debug).collect()
}

/// A position in a line.
pub(super) struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor at the beginning of the line with that number.
    pub(super) fn new(text: &'a str, line: usize) -> Self {
        let mut cursor = Self { rest: text, line };
        cursor.skip(0);
        cursor
    }

    /// Returns the number of the line, from 1.
    pub(super) fn number_of_line(&self) -> usize {
        self.line
    }

    /// Returns the error that `reason` describes, at this line.
    pub(super) fn error(&self, reason: impl Into<String>) -> ParseError {
        ParseError { line: self.line, reason: reason.into() }
    }

    /// Returns the error that `what` is expected here.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        if self.at_end() {
            return self.error(format!("the line ends where {what} is expected"));
        }
        let end = self.rest.find(|c: char| c.is_whitespace()).unwrap_or(self.rest.len());
        self.error(format!("found `{}` where {what} is expected", excerpt(&self.rest[..end])))
    }

    /// Advances by `count` bytes, and over the blanks after them.
    fn skip(&mut self, count: usize) {
        let blanks = self.rest.as_bytes()[count..].iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
        self.rest = &self.rest[count + blanks..];
    }

    /// Returns the next byte; 0 at the end.
    pub(super) fn peek(&self) -> u8 {
        self.rest.bytes().next().unwrap_or(0)
    }

    /// Whether only a comment remains, or nothing.
    pub(super) fn at_end(&self) -> bool {
        matches!(self.rest.bytes().next(), None | Some(b';' | b'#'))
    }

    /// Requires the end of the line.
    pub(super) fn end(&self) -> Result<(), ParseError> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// Consumes `token` if it is next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest.starts_with(token);
        if found {
            self.skip(token.len());
        }
        found
    }

    /// Consumes the word `word` if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.peek_word() == Some(word) && self.eat(word)
    }

    /// Requires and consumes `token`.
    pub(super) fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Returns the next word without consuming it.
    pub(super) fn peek_word(&self) -> Option<&'a str> {
        let bytes = self.rest.as_bytes();
        if !bytes.first().copied().is_some_and(begins_word) {
            return None;
        }
        let end = bytes.iter().position(|&byte| !continues_word(byte)).unwrap_or(bytes.len());
        Some(&self.rest[..end])
    }

    /// Consumes the next word.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let word = self.peek_word()?;
        self.skip(word.len());
        Some(word)
    }

    /// Consumes the text up to the next blank, comma, comment or colon.
    pub(super) fn token(&mut self) -> &'a str {
        let is_end = |byte: u8| matches!(byte, b' ' | b'\t' | b',' | b';' | b'#' | b':' | b'=');
        let end = self.rest.bytes().position(is_end).unwrap_or(self.rest.len());
        let token = &self.rest[..end];
        self.skip(end);
        token
    }

    /// Consumes a number of type `T`.
    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T, ParseError> {
        let before = Self { rest: self.rest, line: self.line };
        self.token().parse().map_err(|_| before.expected(what))
    }

    /// Consumes `prefix` and the number after it.
    pub(super) fn id(&mut self, prefix: &str, what: &str) -> Result<u32, ParseError> {
        self.prefixed(prefix, what, |digits| digits.parse().ok())
    }

    /// Consumes a hexadecimal number with the prefix `0x`.
    pub(super) fn hexadecimal(&mut self, what: &str) -> Result<u64, ParseError> {
        self.prefixed("0x", what, |digits| u64::from_str_radix(digits, 16).ok())
    }

    fn prefixed<T>(&mut self, prefix: &str, what: &str, read: fn(&str) -> Option<T>) -> Result<T, ParseError> {
        let before = Self { rest: self.rest, line: self.line };
        // The standard library's number parsers would accept a sign.
        let digits = self.token().strip_prefix(prefix).filter(|rest| !rest.starts_with('+'));
        digits.and_then(read).ok_or_else(|| before.expected(what))
    }

    /// Consumes a string in quotes.
    pub(super) fn string(&mut self, what: &str) -> Result<Cow<'a, str>, ParseError> {
        let Some(body) = self.rest.strip_prefix('"') else { return Err(self.expected(what)) };
        let mut unescaped = String::new();
        let mut from = 0;
        let mut characters = body.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    let tail = &body[from..at];
                    self.skip(at + 2);
                    return Ok(if from == 0 { Cow::Borrowed(tail) } else { Cow::Owned(unescaped + tail) });
                }
                '\\' => {
                    unescaped.push_str(&body[from..at]);
                    unescaped.push(self.escape(&mut characters)?);
                    from = characters.offset();
                }
                _ => {}
            }
        }
        Err(self.error("a string is not closed: `\"` is missing"))
    }

    /// Returns the character for an escape sequence.
    fn escape(&self, characters: &mut std::str::CharIndices<'_>) -> Result<char, ParseError> {
        match characters.next().map(|(_, character)| character) {
            Some(plain @ ('"' | '\\')) => Ok(plain),
            Some('n') => Ok('\n'),
            Some('u') => {
                let rest = characters.as_str();
                let digits = rest.strip_prefix('{').and_then(|rest| rest.split('}').next()).unwrap_or_default();
                let is_hexadecimal = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
                let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal);
                let is_closed = rest.as_bytes().get(digits.len() + 1) == Some(&b'}');
                let character = number.and_then(char::from_u32).filter(|_| is_closed);
                // The digits and both braces are ASCII, so there are as many characters as bytes.
                characters.nth(digits.len() + 1);
                character
                    .ok_or_else(|| self.error("a wrong escape: `\\u{…}` takes the hexadecimal number of a character"))
            }
            _ => Err(self.error("a wrong escape: `\\\"`, `\\\\`, `\\n` and `\\u{…}` are known")),
        }
    }
}
