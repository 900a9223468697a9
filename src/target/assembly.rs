//! The text of inline assembly, as far as its vectors of registers go.
//!
//! LLVM keeps the text with `$N` for its operands, and puts a word in front of each operand that says what
//! it is ("InlineAsm.h": three bits for the kind, thirteen for how many registers follow).

use super::tuple_kind::TupleKind;
use crate::function::{Function, Inst, Operand, Value};

/// The text of an instruction that is inline assembly.
pub fn assembly_text(function: &Function, inst: Inst) -> Option<&str> {
    match function.operands(inst).first()?.value {
        Value::Symbol(text) if function.opcodes().name(function.opcode(inst)).starts_with("INLINEASM") => {
            Some(function.symbol(text))
        }
        _ => None,
    }
}

/// One instruction of the text.
pub(super) struct Statement {
    /// The numbers of the operands in each pair of braces that has nothing but operands.
    pub(super) vectors: Vec<Vec<u32>>,
    /// What kind of row its vectors are.
    pub(super) kind: TupleKind,
}

/// The instructions of a text that have vectors. O(text).
pub(super) fn statements(text: &str) -> impl Iterator<Item = Statement> + '_ {
    text.split([';', '\n']).filter(|statement| !statement.contains(".param")).filter_map(|statement| {
        let vectors: Vec<Vec<u32>> = statement.split('{').skip(1).filter_map(vector).collect();
        (!vectors.is_empty()).then(|| Statement { vectors, kind: kind(statement) })
    })
}

/// The operands of a vector; `text` begins behind its brace.
fn vector(text: &str) -> Option<Vec<u32>> {
    let inside = text.split('}').next().filter(|inside| inside.len() < text.len())?;
    inside.split(',').map(|word| operand(word.trim())).collect()
}

/// The number of the operand that a word is.
pub(super) fn operand(word: &str) -> Option<u32> {
    word.strip_prefix('$')?.parse().ok()
}

fn kind(statement: &str) -> TupleKind {
    let has = |name| statement.contains(name);
    if has("wgmma.") {
        TupleKind::Warpgroup
    } else if has("tcgen05.") {
        TupleKind::TensorMemory
    } else if has("mma.") || has("matrix.") {
        TupleKind::Matrix
    } else if has("tex.") || has("tld4.") {
        TupleKind::Texture
    } else {
        TupleKind::Memory
    }
}

/// Where operand `number` of the text stands among the instruction's, where it is one register or immediate.
pub(super) fn operand_of(operands: &[Operand], number: u32) -> Option<usize> {
    // The text and what is known of its effects come first.
    let mut at = 2;
    for _ in 0..number {
        at += 1 + described(operands, at)?;
    }
    (described(operands, at)? == 1).then_some(at + 1)
}

/// How many operands the word at a place describes.
fn described(operands: &[Operand], at: usize) -> Option<usize> {
    match operands.get(at)?.value {
        Value::Immediate(word) => Some((word as u64 >> 3 & 0x1fff) as usize),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(Vec<Vec<u32>>, TupleKind)> {
        statements(text).map(|statement| (statement.vectors, statement.kind)).collect()
    }

    /// Braces with operands alone are vectors, of whichever instruction they stand in; a scope in braces is none, and a
    /// vector of parameters is none.
    #[test]
    fn vectors() {
        let text = "{ .reg .b32 t;\n mov.u32 $0, 0x0;\n @$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ]; }";
        assert_eq!(all(text), [(vec![vec![0, 1, 2, 3]], TupleKind::Memory)]);
        let text = "wgmma.mma_async.sync {$0,$1}, {$4,$5}, $6, 0, 1; mma.sync {$0}, {t, $1}; st.param.v2 {$0,$1};";
        assert_eq!(
            all(text),
            [(vec![vec![0, 1], vec![4, 5]], TupleKind::Warpgroup), (vec![vec![0]], TupleKind::Matrix)]
        );
        assert_eq!(all("ldmatrix.sync.x2 {$0,$1}, [$2]; add $0, $1"), [(vec![vec![0, 1]], TupleKind::Matrix)]);
    }
}
