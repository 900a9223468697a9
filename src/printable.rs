//! Text from elsewhere as a terminal may show it.
//!
//! A message may quote what a file holds, or what LLVM or ptxas says of it. A terminal obeys control characters in such
//! text, and shows what directional marks surround in another order than it stands.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A quotation is cut behind so many characters.
const LONGEST: usize = 4000;

/// The text with an escape, as in Rust's source, for each character that a terminal acts on. Line breaks and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_acted_on) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_acted_on(character) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "{}", character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Bytes as text: printable, and with an escape (`\xff`) for each byte that is no part of a character.
pub fn printable_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text += &printable(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// The text on one line, printable and not longer than a message should be: a diagnostic is one line, so that tools can
/// find it.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.join(" | ");
    match line.char_indices().nth(LONGEST) {
        None => printable(&line).into_owned(),
        Some((end, _)) => format!("{}… ({} bytes more)", printable(&line[..end]), line.len() - end),
    }
}

/// Whether a terminal acts on a character instead of showing it: control characters but for line breaks and tabs, and
/// those that change the direction or the lines of the text around them.
fn is_acted_on(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_harmless(text: &str) -> bool {
        text.chars().all(|character| matches!(character, '\n' | '\t') || !character.is_control())
    }

    /// What a terminal acts on is written as an escape; what it shows stays as it is, at no cost.
    #[test]
    fn escapes() {
        let shown = "kernel '_Z1k'\t≥ 24: größer …\n";
        assert!(matches!(printable(shown), Cow::Borrowed(text) if text == shown));
        assert_eq!(
            printable("\u{1b}[31m\rred\u{7}\u{9b}2J\0\u{202e}"),
            "\\u{1b}[31m\\rred\\u{7}\\u{9b}2J\\u{0}\\u{202e}"
        );
        assert_eq!(printable_bytes(b"a\xffb\x1b\xc3\xbc\xe2\x82"), "a\\xffb\\u{1b}ü\\xe2\\x82");
    }

    /// A long text is cut, and says so; a short one is not.
    #[test]
    fn long_texts_are_cut() {
        let long = "ü".repeat(LONGEST + 7);
        let line = one_line(&long);
        assert!(line.ends_with("ü… (14 bytes more)") && line.chars().count() < LONGEST + 30, "{}", line.len());
        assert_eq!(one_line(&long[..2 * LONGEST]).chars().count(), LONGEST);
        assert_eq!(one_line(" a\r\n\n b\x1b "), "a | b\\u{1b}");
    }

    /// Nothing that comes out has a control character, and what has none goes in and out unchanged.
    #[test]
    fn nothing_acts_on_the_terminal() {
        arbtest::arbtest(|u| {
            let bytes: Vec<u8> = u.arbitrary()?;
            // Random bytes alone are seldom text, and controls are few among characters.
            let text: String = (0..u.int_in_range(0..=50)?)
                .map(|_| if u.ratio(1, 4)? { Ok(char::from(u.int_in_range(0..=0x9f)?)) } else { u.arbitrary() })
                .collect::<Result<_, _>>()?;
            assert!(is_harmless(&printable_bytes(&bytes)), "{bytes:?}");
            let printed = printable(&text);
            assert!(is_harmless(&printed), "{text:?}");
            assert_eq!(printable(&printed), printed, "{text:?}");
            let line = one_line(&text);
            assert!(is_harmless(&line) && !line.contains('\n'), "{text:?}");
            Ok(())
        });
    }
}
