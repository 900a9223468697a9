//! Tokens: spans that cover the file without a gap.
//!
//! White space and comments are tokens, too, so no byte is lost. A token is its first byte and its kind: five bytes.

use crate::define_index;

define_index! {
    /// A token, by number.
    Token, "t"
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    /// White space and comments, as many as follow each other.
    Trivia,
    /// A name or the first part of a mnemonic: `mov`, `%r1`, `$L__BB0_1`, `_`.
    Word,
    /// A word after a dot: `.u32`, `.entry`, `.shared::cta`.
    DotWord,
    /// A number: `17`, `0x1f`, `0f3F800000`, `8.7`.
    Number,
    /// A string in quotes.
    String,
    /// One punctuation character.
    Punctuation,
    /// A line that begins with `#` or `@@`, up to its end.
    Line,
    /// A byte without a meaning in PTX.
    Other,
}

/// The first byte of a string or comment without an end, and its kind.
pub(super) type OpenEnd = (usize, &'static str);

/// Returns the end and the kind of the token that begins at a byte.
///
/// # Errors
/// A string or comment without an end.
pub(super) fn next(bytes: &[u8], at: usize, after_word: bool) -> Result<(usize, TokenKind), OpenEnd> {
    let rest = &bytes[at..];
    let end = |length: usize, kind| Ok((at + length, kind));
    match rest[0] {
        byte if is_blank(byte) || starts_comment(rest) => Ok((trivia_end(bytes, at)?, TokenKind::Trivia)),
        byte if is_word_start(byte) => end(word_length(rest), TokenKind::Word),
        b'%' if rest.get(1).is_some_and(|&next| is_word_byte(next)) => {
            end(1 + word_length(&rest[1..]), TokenKind::Word)
        }
        b'.' if rest.get(1).is_some_and(|&next| is_word_start(next) || (after_word && is_word_byte(next))) => {
            end(dot_word_length(rest), TokenKind::DotWord)
        }
        b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => end(number_length(rest), TokenKind::Number),
        b'0'..=b'9' => end(number_length(rest), TokenKind::Number),
        b'"' => end(string_length(rest).ok_or((at, "a string does not end"))?, TokenKind::String),
        b'#' => end(line_length(rest), TokenKind::Line),
        b'@' if rest.get(1) == Some(&b'@') => end(line_length(rest), TokenKind::Line),
        byte if byte.is_ascii_punctuation() => end(1, TokenKind::Punctuation),
        _ => end(1, TokenKind::Other),
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c')
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

fn starts_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"//") || rest.starts_with(b"/*")
}

fn trivia_end(bytes: &[u8], mut at: usize) -> Result<usize, OpenEnd> {
    while at < bytes.len() {
        let rest = &bytes[at..];
        if is_blank(rest[0]) {
            at += 1;
        } else if rest.starts_with(b"//") {
            at += line_length(rest);
        } else if rest.starts_with(b"/*") {
            let end = rest[2..].windows(2).position(|pair| pair == b"*/").ok_or((at, "a comment does not end"))?;
            at += 2 + end + 2;
        } else {
            break;
        }
    }
    Ok(at)
}

fn word_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|&&byte| is_word_byte(byte)).count()
}

/// Returns the length of a dot, a word, and further words after `::`.
fn dot_word_length(rest: &[u8]) -> usize {
    let mut length = 1 + word_length(&rest[1..]);
    while rest[length..].starts_with(b"::") && rest.get(length + 2).is_some_and(|&byte| is_word_byte(byte)) {
        length += 2 + word_length(&rest[length + 2..]);
    }
    length
}

/// Returns the length of a number, with its suffix, fraction and exponent.
fn number_length(rest: &[u8]) -> usize {
    let mut length = word_length(rest);
    let is_decimal = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    if rest.get(length) == Some(&b'.') && is_decimal(&rest[..length]) {
        length += 1 + word_length(&rest[length + 1..]);
    }
    let has_exponent = length > 1 && matches!(rest[length - 1], b'e' | b'E') && !rest.starts_with(b"0x");
    let is_fraction = rest[..length - 1].iter().all(|&byte| byte.is_ascii_digit() || byte == b'.');
    if has_exponent && is_fraction && matches!(rest.get(length), Some(b'+' | b'-')) {
        length += 1 + word_length(&rest[length + 1..]);
    }
    length
}

fn string_length(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match rest.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(&str, TokenKind)> {
        let (mut at, mut after_word, mut tokens) = (0, false, Vec::new());
        while at < text.len() {
            let (end, kind) = next(text.as_bytes(), at, after_word).expect("a token");
            after_word = matches!(kind, TokenKind::Word | TokenKind::DotWord);
            tokens.push((&text[at..end], kind));
            at = end;
        }
        tokens.retain(|token| token.1 != TokenKind::Trivia);
        tokens
    }

    /// Numbers in every form are one token each.
    #[test]
    fn numbers() {
        for number in ["0", "17U", "0x1fU", "0b101", "0f3F800000", "0d3FF0000000000000", "8.7", "1.5e-3", "1e+9", ".5"]
        {
            assert_eq!(all(number), [(number, TokenKind::Number)]);
        }
        let sum: Vec<&str> = all("0x1e+4").into_iter().map(|token| token.0).collect();
        assert_eq!(sum, ["0x1e", "+", "4"]);
    }

    /// Modifiers may begin with a digit and contain `::`. A label's colon is not part of a word.
    #[test]
    fn words() {
        let words = |text: &'static str| all(text).into_iter().map(|token| token.0).collect::<Vec<_>>();
        assert_eq!(
            words("cp.async.bulk.2d.shared::cta.L2::128B"),
            ["cp", ".async", ".bulk", ".2d", ".shared::cta", ".L2::128B"]
        );
        assert_eq!(words("$L__1: mov.u32 %r1, %tid.x;"), ["$L__1", ":", "mov", ".u32", "%r1", ",", "%tid", ".x", ";"]);
        assert_eq!(words("a % b"), ["a", "%", "b"]);
        assert_eq!(words("@@DWARF .b8 1 // x\n.b8"), ["@@DWARF .b8 1 // x", ".b8"]);
    }

    /// A string or comment without an end is an error.
    #[test]
    fn open_ends() {
        assert!(next(b"\"abc", 0, false).is_err());
        assert!(next(b"\"abc\\", 0, false).is_err());
        assert!(next(b"/* abc", 0, false).is_err());
        assert!(next(b"/*/", 0, false).is_err());
    }
}
