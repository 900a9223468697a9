//! Escapes for text from elsewhere that is shown on a terminal.
//!
//! A message may quote a file, LLVM or ptxas. A terminal obeys control characters in such text, and directional marks
//! change the order in which it shows the text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The most characters of a quotation. Longer text is cut.
const LONGEST: usize = 4000;

/// Escapes each character that a terminal acts on, as in Rust's source. Line breaks and tabs stay.
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

/// Returns bytes as printable text, with an escape (`\xff`) for each byte that is not valid UTF-8.
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

/// Returns the text on one line, printable and cut at the length limit of a message. A diagnostic is one line, so that
/// tools can find it.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.join(" | ");
    match line.char_indices().nth(LONGEST) {
        None => printable(&line).into_owned(),
        Some((end, _)) => format!("{}… ({} bytes more)", printable(&line[..end]), line.len() - end),
    }
}

/// Whether a terminal acts on a character instead of showing it: control characters except line breaks and tabs, and
/// characters that change the direction or the lines of the text around them.
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

    /// Characters that a terminal acts on are escaped. Other text stays unchanged and is not copied.
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

    /// A long text is cut, with a note. A short text is not cut.
    #[test]
    fn long_texts_are_cut() {
        let long = "ü".repeat(LONGEST + 7);
        let line = one_line(&long);
        assert!(line.ends_with("ü… (14 bytes more)") && line.chars().count() < LONGEST + 30, "{}", line.len());
        assert_eq!(one_line(&long[..2 * LONGEST]).chars().count(), LONGEST);
        assert_eq!(one_line(" a\r\n\n b\x1b "), "a | b\\u{1b}");
    }

    /// The result has no control characters, and text without control characters stays unchanged.
    #[test]
    fn nothing_acts_on_the_terminal() {
        arbtest::arbtest(|u| {
            let bytes: Vec<u8> = u.arbitrary()?;
            // Random bytes are seldom valid UTF-8, and random characters are seldom control characters. Therefore a
            // quarter of the characters come from the range of the control characters.
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
