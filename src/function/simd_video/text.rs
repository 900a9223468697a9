//! Replaces SIMD video instructions in an assembly text.

use super::operation::Operation;
use super::sequence::{NAME, Sequence};

/// Returns the text with its SIMD video instructions replaced. `None` if the text stays unchanged. Operands may be
/// `$N`, as in LLVM's inline assembly, or PTX's names. A text with comments is not changed, because an apparent
/// instruction may be part of a comment. O(bytes).
pub fn expanded(text: &str) -> Option<String> {
    if ["//", "/*", NAME].iter().any(|word| text.contains(word)) {
        return None;
    }
    let mut out = String::new();
    let mut is_changed = false;
    let mut rest = text;
    while let Some(end) = rest.find(';') {
        let start = rest[..end].find(|c: char| !c.is_ascii_whitespace() && !"{}".contains(c)).unwrap_or(end);
        out.push_str(&rest[..start]);
        match of_statement(&rest[start..end]) {
            Some(scope) => {
                out.push_str(&scope);
                is_changed = true;
            }
            None => out.push_str(&rest[start..=end]),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// Returns the scope that replaces a statement, which is given without its semicolon. `None` for a statement under a
/// predicate.
fn of_statement(statement: &str) -> Option<String> {
    let (mnemonic, operands) = statement.split_once(|c: char| c.is_ascii_whitespace())?;
    let operation = Operation::of(mnemonic)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let [result, a, b, _addend] = operands[..] else { return None };
    operands.iter().all(|operand| is_register(operand)).then(|| Sequence::text(operation, result, a, b))
}

/// Whether an operand is a whole register. A selector of parts would follow a dot.
fn is_register(operand: &str) -> bool {
    let name = operand.strip_prefix(['$', '%', '_']).unwrap_or(operand);
    let is_name = operand.starts_with(['$', '%', '_']) || name.starts_with(|c: char| c.is_ascii_alphabetic());
    is_name && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text around a replaced instruction stays unchanged.
    #[test]
    fn around_an_instruction() {
        let text = expanded("{\n\tadd.u32 $0, $1, 1;\n\tvmax4.u32.u32.u32 $0,$1,$2,$3; }\n").expect("it changes");
        let rest = text.strip_prefix("{\n\tadd.u32 $0, $1, 1;\n\t{ .reg .b32 nvptx_ra_part0, ").expect("the beginning");
        assert!(rest.ends_with(" mov.b32 $0, nvptx_ra_part5; } }\n"), "{text}");
        assert_eq!(expanded(&text), None, "done once");
        let two =
            expanded("vadd4.u32.u32.u32.sat a, b, c, d;vsub2.s32.s32.s32.sat %r1,%r1,%r1,%r2;").expect("it changes");
        assert_eq!(two.matches(".reg").count(), 2);
    }

    /// A text without instructions on whole registers stays unchanged, and so does a text with comments.
    #[test]
    fn what_stays() {
        for text in [
            "vmax4.u32.u32.u32 $0.b3, $1, $2, $3;",
            "vmax4.u32.u32.u32 $0, $1.b7654, $2, $3;",
            "vmax4.u32.u32.u32 ${0:x}, $1, $2, $3;",
            "vmax4.u32.u32.u32 $0, $1, 5, $3;",
            "vmax4.u32.u32.u32 $0, $1, -5, $3;",
            "vmax4.u32.u32.u32 $0, $1, $2;",
            "vmax4.u32.u32.u32 $0, $1, $2, $3",
            "@p vmax4.u32.u32.u32 $0, $1, $2, $3;",
            "vmax4.u32.u32.u32.add $0, $1, $2, $3;",
            "vmax4.s32.u32.u32 $0, $1, $2, $3;",
            "vmax4.u32 $0, $1, $2, $3;",
            "vabsdiff4.u32.u32.u32 $0, $1, $2, $3;",
            "vavrg4.s32.s32.s32 $0, $1, $2, $3;",
            "vset4.u32.u32.ltu $0, $1, $2, $3;",
            "mov.b32 $0, $1; // see; vset4.u32.u32.eq a, b, c,\nret;",
            "/* vset4; */ vset4.u32.u32.eq $0, $1, $2, $3;",
            "vsub.s32.s32.s32.sat $0, $1, $2;",
            "",
        ] {
            assert_eq!(expanded(text), None, "{text}");
        }
    }
}
