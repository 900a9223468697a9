//! The vectors of registers in the text of inline assembly.

use super::tuple_kind::TupleKind;
use crate::function::assembly::operand;

/// One instruction of the text.
pub(super) struct Statement {
    /// For each pair of braces that contains only operands, the numbers of the operands.
    pub(super) vectors: Vec<Vec<u32>>,
    /// The kind of register tuple of its vectors.
    pub(super) kind: TupleKind,
}

/// Returns the instructions of a text that have vectors. O(text).
pub(super) fn statements(text: &str) -> impl Iterator<Item = Statement> + '_ {
    text.split([';', '\n']).filter(|statement| !statement.contains(".param")).filter_map(|statement| {
        let vectors: Vec<Vec<u32>> = statement.split('{').skip(1).filter_map(vector).collect();
        (!vectors.is_empty()).then(|| Statement { vectors, kind: kind(statement) })
    })
}

/// Returns the operands of a vector. `text` begins after the opening brace. `None` if the braces contain anything else.
fn vector(text: &str) -> Option<Vec<u32>> {
    let inside = text.split('}').next().filter(|inside| inside.len() < text.len())?;
    inside.split(',').map(|word| operand(word.trim())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(Vec<Vec<u32>>, TupleKind)> {
        statements(text).map(|statement| (statement.vectors, statement.kind)).collect()
    }

    /// Braces with only operands are vectors, in any instruction. The braces of a scope, and braces with other
    /// elements, are not vectors.
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
