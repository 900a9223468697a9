//! A text of assembly with other instructions in place of SIMD video instructions.

use super::operation::Operation;
use super::sequence::{NAME, Sequence};

/// The text with sequences in place of its SIMD video instructions. `None` where it has none that changes. Operands may be
/// `$N`, as in LLVM's inline assembly, or PTX's names and numbers. O(bytes).
pub fn expanded(text: &str) -> Option<String> {
    if text.contains(NAME) {
        return None;
    }
    let mut out = String::new();
    let mut is_changed = false;
    let mut rest = text;
    while let Some(end) = rest.find(';') {
        let start = rest[..end].find(|c: char| !c.is_ascii_whitespace() && !"{}".contains(c)).unwrap_or(end);
        out.push_str(&rest[..start]);
        match sequence(&rest[start..end]) {
            Some(sequence) => {
                out.push_str(&sequence);
                is_changed = true;
            }
            None => out.push_str(&rest[start..=end]),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// The sequence for a statement, which stands without its semicolon. A statement under a predicate has none.
fn sequence(statement: &str) -> Option<String> {
    let (mnemonic, operands) = statement.split_once(|c: char| c.is_ascii_whitespace())?;
    let operation = Operation::of(mnemonic)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let [result, a, b, _addend] = operands[..] else { return None };
    // Parts of registers are selected behind a dot.
    let is_plain = |operand: &str| {
        let digits = operand.strip_prefix(['$', '%', '-']).unwrap_or(operand);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
    };
    operands.iter().all(|operand| is_plain(operand)).then(|| Sequence::text(operation, result, a, b))
}
