//! The text of inline assembly: its operands, and its access to shared memory.
//!
//! The text contains `$N` for its operands. In the instruction, LLVM puts a descriptor word before each operand
//! ("InlineAsm.h": three bits for the kind, thirteen for the number of registers that follow).

use std::ops::Range;

use super::{Function, Inst, Operand, Value};

/// Returns the text of an inline-assembly instruction, without the prefix that LLVM prints.
pub fn assembly_text(function: &Function, inst: Inst) -> Option<&str> {
    match function.operands(inst).first()?.value {
        Value::Symbol(text) if function.opcodes().name(function.opcode(inst)).starts_with("INLINEASM") => {
            Some(function.symbol(text).trim_start_matches(ASSEMBLY_SIGN))
        }
        _ => None,
    }
}

/// Returns the text of an inline-assembly instruction if an edit can change it. Edits can change LLVM's inline
/// assembly, which has LLVM's prefix, but not a PTX scope.
pub fn changeable_text(function: &Function, inst: Inst) -> Option<&str> {
    let is_of_llvm = |symbol| function.symbol(symbol).starts_with(ASSEMBLY_SIGN);
    match function.operands(inst).first()?.value {
        Value::Symbol(symbol) if is_of_llvm(symbol) => assembly_text(function, inst),
        _ => None,
    }
}

/// The prefix that LLVM prints before an assembly text.
pub(in crate::function) const ASSEMBLY_SIGN: char = '&';

/// Whether inline assembly may access shared memory, judged by its text.
pub fn may_access_shared(text: &str) -> bool {
    text.contains(".shared") || text.contains("matrix")
}

/// Returns the operand number of a word of the form `$N`.
pub fn operand(word: &str) -> Option<u32> {
    word.strip_prefix('$')?.parse().ok()
}

/// Returns the operands that a text uses, in the order of the text, with repetitions.
pub fn operands(text: &str) -> impl Iterator<Item = u32> + '_ {
    text.split('$').skip(1).filter_map(|word| {
        let word = word.trim_start_matches('{');
        let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        word[..digits].parse().ok()
    })
}

/// Returns the index of operand `number` of the text among the instruction's operands. `None` unless this operand of
/// the text is exactly one register or immediate.
pub fn operand_of(operands: &[Operand], number: u32) -> Option<usize> {
    // The first two operands are the text and the flags for its effects.
    let mut at = 2;
    for _ in 0..number {
        at += 1 + described(operands, at)?;
    }
    (described(operands, at)? == 1).then_some(at + 1)
}

/// Returns the number of operands that the word at an index describes.
fn described(operands: &[Operand], at: usize) -> Option<usize> {
    match operands.get(at)?.value {
        Value::Immediate(word) => Some((word as u64 >> 3 & 0x1fff) as usize),
        _ => None,
    }
}

/// Parses the address between brackets: an operand and an optional number, as in `[ $2 + 16 ]`.
pub fn sum(inside: &str) -> Option<(u32, i64)> {
    let (base, offset) = inside.split_once('+').unwrap_or((inside, "0"));
    Some((operand(base.trim())?, offset.trim().parse().ok()?))
}

/// Whether the instruction takes an address of the form register plus offset. Other instructions need the address in a
/// single register.
pub fn takes_offset(opcode: &str) -> bool {
    ["atom.", "cp.async.c", "ld", "red.", "st", "prefetch."].iter().any(|prefix| opcode.starts_with(prefix))
}

/// The access to shared memory that an assembly text performs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    /// The operand that is the base address.
    pub operand: u32,
    /// The number that is added to the base.
    pub offset: i64,
    /// The byte range of the base and the offset in the text.
    place: Range<usize>,
}

impl SharedAccess {
    /// Returns the text with another offset.
    pub fn with_offset(&self, text: &str, offset: i64) -> String {
        let sum = if offset == 0 { format!("${}", self.operand) } else { format!("${}+{offset}", self.operand) };
        [&text[..self.place.start], &sum, &text[self.place.end..]].concat()
    }
}

/// Parses a text that is one access to shared memory at an operand plus an offset. `None` if the text has several
/// instructions or a predicate, or uses the operand elsewhere. In copies to shared memory, the shared address comes
/// first. O(text).
pub fn shared_access(text: &str) -> Option<SharedAccess> {
    let is_empty =
        |statement: &&str| statement.trim_matches(|c: char| c.is_ascii_whitespace() || "{}".contains(c)).is_empty();
    let mut statements = text.split([';', '\n']).filter(|statement| !is_empty(statement));
    let statement = statements.next().filter(|_| statements.next().is_none())?;
    let opcode = statement.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '{');
    let opcode = opcode.split_ascii_whitespace().next()?;
    let is_shared = opcode.contains(".shared") && !opcode.contains(".shared::cluster");
    if !takes_offset(opcode) || !(is_shared || opcode.starts_with("ldmatrix.")) {
        return None;
    }
    // The address is in brackets, and only `statement` has any.
    let start = text.find('[')? + 1;
    let place = start..start + text[start..].find(']')?;
    let (operand, offset) = sum(&text[place.clone()])?;
    (operands(text).filter(|&named| named == operand).count() == 1).then_some(SharedAccess { operand, offset, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single access to shared memory is found with its offset, inside or outside of a scope. No access is found if
    /// the text has a predicate, another memory space, a second use of the operand, several instructions, or an
    /// instruction that needs the address in a single register.
    #[test]
    fn accesses_of_shared_memory() {
        let of = |text| shared_access(text).map(|access| (access.operand, access.offset));
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x2.b16 {$0, $1}, [$2];"), Some((2, 0)));
        assert_eq!(of("{\n\tst.shared.v2.b32 [ $0 + 16 ], { $1, $3 };\n}\n"), Some((0, 16)));
        assert_eq!(of("{ld.volatile.shared.u32 $0, [$1+-4];}"), Some((1, -4)));
        assert_eq!(of("cp.async.cg.shared.global [$0], [$1], 16;"), Some((0, 0)));
        for other in [
            "@$3 ld.shared.b32 $0, [$1];",
            "ld.global.b32 $0, [$1];",
            "ld.shared::cluster.b32 $0, [$1];",
            "st.shared.b32 [$0], $0;",
            "ld.shared.b32 $0, [$1]; add.u32 $0, $0, 1;",
            "mbarrier.init.shared.b64 [$0], 1;",
            "cp.async.bulk.shared::cta.global [$0], [$1], 16, [$2];",
            "stmatrix.sync.aligned.m8n8.x1.b16 [$0], {$1};",
            "ld.shared.b32 $0, [$1+$2];",
            "ld.shared.b32 $0, [$1",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    /// A new offset replaces the old one and changes nothing else in the text.
    #[test]
    fn offsets() {
        let with = |text: &str, offset| shared_access(text).expect("an access").with_offset(text, offset);
        assert_eq!(with("ldmatrix.x1.b16 {$0}, [ $2 + 16 ];", 4096), "ldmatrix.x1.b16 {$0}, [$2+4096];");
        assert_eq!(with("{ st.shared.b32 [$10], $1; }", -8), "{ st.shared.b32 [$10+-8], $1; }");
        assert_eq!(with("ld.shared.b32 $0, [$1+4];", 0), "ld.shared.b32 $0, [$1];");
    }
}
